# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-absorb-inferred-fragments`."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    is_entry_point,
    is_user_fragment,
    mesh_name_of,
    operations_of,
)
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import closest_user, merge
from pyshardy.mpmd.rewriting.regions import erase_dead
from pyshardy.mpmd.rewriting.transfers import move_to_producer, move_to_user
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

NOT_ABSORBED = "inferred fragments that no fragment of the user can absorb"
"""The end of the warning of inferred fragments that are left in a function."""


@register_pass("mpmd-absorb-inferred-fragments", release="0.10.2")
def absorb_inferred_fragments(
    module: ir.Module,
    *,
    absorb_on_entry_point_function: Annotated[
        bool, Help("whether to merge in the entry point, too")
    ] = False,
) -> None:
    """Merge inferred fragments into the fragments around them.

    A root is a fragment of the user, or one that uses no other or that no other uses. An inferred
    fragment goes into the root that is its first user, or its last producer. Callees are changed
    only, unless the option is set.
    """
    for function in mpmd_functions(module):
        is_entry = is_entry_point(function)
        if is_entry and not absorb_on_entry_point_function:
            continue
        block = body_of(function)
        while _absorb_producers(block) or _absorb_consumers(block):
            pass
        erase_dead(block)
        inferred = [
            each
            for each in operations_of(block)
            if each.name == FRAGMENT and not is_user_fragment(each)
        ]
        if inferred and not is_entry:
            message = f"function '{symbol_name(function)}' has {len(inferred)} {NOT_ABSORBED}"
            emit(warning(message, location_of(inferred[0].location)))


def _absorb_producers(block: ir.Block) -> bool:
    for producer in reversed(operations_of(block)):
        if producer.name != FRAGMENT or is_user_fragment(producer):
            continue
        for result in producer.results:
            for use in list(result.uses):
                if use.owner.operation.name == TRANSFER:
                    move_to_user(use.owner.operation)
        for root in closest_user(producer):
            if _is_root(root) and merge(producer, root, into=root) is not None:
                return True
    return False


def _absorb_consumers(block: ir.Block) -> bool:
    for consumer in operations_of(block):
        if consumer.name != FRAGMENT or is_user_fragment(consumer):
            continue
        producers: list[ir.Operation] = []
        for operand in consumer.operands:
            owner = operand.owner
            if isinstance(owner, ir.Block):
                continue
            if owner.operation.name == TRANSFER:
                move_to_producer(owner.operation)
            producers.append(owner.operation)
        closest = None
        for each in producers:
            if closest is None or closest.is_before_in_block(each):
                closest = each
        if closest is None or closest.name != FRAGMENT or not _is_root(closest):
            continue
        are_on_one_mesh = mesh_name_of(closest) == mesh_name_of(consumer)
        if are_on_one_mesh and merge(closest, consumer, into=closest) is not None:
            return True
    return False


def _is_root(fragment: ir.Operation) -> bool:
    if is_user_fragment(fragment):
        return True
    uses_fragment = any(
        not isinstance(operand.owner, ir.Block) and operand.owner.operation.name == FRAGMENT
        for operand in fragment.operands
    )
    is_used_by_fragment = any(
        use.owner.operation.name == FRAGMENT for result in fragment.results for use in result.uses
    )
    return not (uses_fragment and is_used_by_fragment)
