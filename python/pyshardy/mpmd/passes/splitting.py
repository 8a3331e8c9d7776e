# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that split fragments in two."""

from __future__ import annotations

from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    operations_of,
    origins_of,
    producer,
    returned_values,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.inference.mesh_sets import operands_with_free_values
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import DROPS_TRANSFERRED, KEEPS_TRANSFERRED
from pyshardy.mpmd.rewriting.regions import drop_unused, merge_equal_results
from pyshardy.mpmd.rewriting.splitting import split_fragment
from pyshardy.mpmd.rewriting.transfers import in_order_of_text
from pyshardy.pipeline import register_pass


@register_pass("mpmd-split-bwd-fragments", release="0.10.2")
def split_bwd_fragments(module: ir.Module) -> None:
    """Split backward fragments for schedules without a bubble.

    A fragment with transpose count 1 becomes two: the first one computes the results that are
    transferred, the gradients to send, and is marked `split_keep_transferred`. The second one,
    right after it, has all other operations, and is marked `split_drop_transferred`. What it needs
    of the first one, or of its arguments, is passed as further results; canonicalization and
    `mpmd-fragment-dce` drop what isn't needed. A fragment stays as it is if none of its results
    are transferred, or if all operations are needed for these. What is passed keeps the sharding
    that it has in the fragment; arguments aren't passed if the fragment has shardings.
    """
    for function in mpmd_functions(module):
        for each in operations_named({FRAGMENT}, function):
            counts = {origin.transpose_count for origin in origins_of(each)}
            if counts == {1} and not any(
                has_discardable(each, mark) for mark in (KEEPS_TRANSFERRED, DROPS_TRANSFERRED)
            ):
                _split(each)


def _split(whole: ir.Operation) -> None:
    sent = [
        index
        for index, result in enumerate(whole.results)
        if any(use.owner.operation.name == TRANSFER for use in result.uses)
    ]
    returned = returned_values(whole)
    operations = operations_of(body_of(whole))[:-1]
    needed = {returned[index] for index in sent}
    kept: set[ir.Operation] = set()
    for operation in reversed(operations):
        if not needed.isdisjoint(operation.results):
            kept.add(operation)
            needed.update(operands_with_free_values(operation))
    if sent and (len(kept) < len(operations) or len(sent) < len(returned)):
        first, second = split_fragment(whole, kept, sent, range(len(whole.operands)))
        set_discardable(first, KEEPS_TRANSFERRED, ir.UnitAttr.get(first.context))
        set_discardable(second, DROPS_TRANSFERRED, ir.UnitAttr.get(first.context))


# No release of jaxlib has C++ Shardy's pass of this name, which no pipeline contains, to compare
# with.


@register_pass("mpmd-split-and-prioritize-transfer-independent-computations", release="0.12")
def split_and_prioritize_transfer_independent_computations(module: ir.Module) -> None:
    """Split fragments, to compute what depends on no transfer while values are transferred.

    A fragment that takes transferred values becomes two: the first one has the operations that
    don't depend on these, and comes before the transfers, or right after the last of its own
    operands. The second one has all other operations, stays in its place, and takes what it needs
    of the first one. A fragment stays as it is if each operation with operands depends on a
    transfer, or has effects.

        %1 = mpmd.transfer %a
        %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1, %w) { add(arg0, multiply(arg1, arg1)) }

    becomes

        %0 = mpmd.fragment<mesh="m1", origin=["f"]> (%w) { multiply(arg0, arg0) }
        %1 = mpmd.transfer %a
        %2 = mpmd.fragment<mesh="m1", origin=["f"]> (%1, %0) { add(arg0, arg1) }
    """
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            _split_off(fragment)


def _split_off(whole: ir.Operation) -> None:
    body = body_of(whole)
    transfers = [made for each in whole.operands if (made := producer(each, TRANSFER)) is not None]
    waiting: set[ir.Value] = {
        argument
        for argument, operand in zip(body.arguments, whole.operands, strict=True)
        if producer(operand, TRANSFER) is not None
    }
    independent: list[ir.Operation] = []
    for operation in operations_of(body)[:-1]:
        if has_effects(operation) or not waiting.isdisjoint(operands_with_free_values(operation)):
            waiting.update(operation.results)
        else:
            independent.append(operation)
    needed: set[ir.Value] = set()
    kept: set[ir.Operation] = set()
    for operation in reversed(independent):
        operands = operands_with_free_values(operation)
        if operands or not needed.isdisjoint(operation.results):
            kept.add(operation)
            needed.update(operands)
    if not (transfers and kept):
        return
    taken = [index for index, each in enumerate(body.arguments) if each in needed]
    made = {result for each in kept for result in each.results}
    sent = [index for index, each in enumerate(returned_values(whole)) if each in made]
    first, second = split_fragment(whole, kept, sent, taken)
    merge_equal_results(first)
    first = drop_unused(first)
    drop_unused(second)
    (transfer, *_) = in_order_of_text(transfers)
    before = [each.owner.operation for each in first.operands if isinstance(each, ir.OpResult)]
    *_, last = in_order_of_text([transfer, *before])
    if last == transfer:
        first.move_before(transfer)
    else:
        first.move_after(last)
