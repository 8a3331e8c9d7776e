# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-remat-fragment`."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    CALL_COUNTER,
    REMAT,
    body_of,
    integer_of,
    is_user_fragment,
    operations_of,
    origins_of,
)
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.merging import STAGE, fragment_users, merge, next_of_mesh
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("mpmd-remat-fragment", release="0.10.2")
def remat_fragment(
    module: ir.Module,
    *,
    merge_remat_fragments: Annotated[
        bool, Help("whether to merge the copies with the backward fragments")
    ] = False,
) -> None:
    """Compute forward fragments again right before the backward fragments that use them.

    So that their results need no memory in between. Both fragments have the same call counter and
    stage; a backward fragment that is the next one of its mesh uses the results as they are.
    """
    for function in mpmd_functions(module):
        for forward in operations_of(body_of(function))[:-1]:
            if _counts(forward) != {0} or has_discardable(forward, REMAT):
                continue
            following = next(next_of_mesh(forward), None)
            for backward in fragment_users(forward):
                if (
                    _counts(backward) != {1}
                    or backward == following
                    or not _match(forward, backward)
                ):
                    continue
                copy = forward.clone(ip=ir.InsertionPoint(backward)).operation
                for index, operand in enumerate(backward.operands):
                    if operand.owner == forward:
                        number = ir.OpResult(operand).result_number
                        backward.operands[index] = copy.results[number]
                if merge_remat_fragments:
                    copy = merge(copy, backward) or copy
                set_discardable(copy, REMAT, ir.UnitAttr.get(module.context))


def _counts(operation: ir.Operation) -> set[int]:
    if not is_user_fragment(operation):
        return set()
    return {origin.transpose_count for origin in origins_of(operation)}


def _match(forward: ir.Operation, backward: ir.Operation) -> bool:
    return all(
        integer_of(forward, name) == integer_of(backward, name) for name in (CALL_COUNTER, STAGE)
    )
