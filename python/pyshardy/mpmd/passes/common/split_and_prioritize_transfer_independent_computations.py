# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-split-and-prioritize-transfer-independent-computations`.

No release of jaxlib has C++ Shardy's pass of this name, which no pipeline contains, to compare
with.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    TRANSFER,
    body_of,
    operations_of,
    producer,
    returned_values,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.inference.mesh_sets import operands_with_free_values
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.regions import drop_unused, merge_equal_results
from pyshardy.mpmd.rewriting.splitting import split_fragment
from pyshardy.mpmd.rewriting.transfers import in_order_of_text
from pyshardy.pipeline import register_pass


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
            _split(fragment)


def _split(whole: ir.Operation) -> None:
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
