# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merging of slices into the operations that use them.

    %1 = stablehlo.slice %0 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %2 = stablehlo.slice %1 [1:7:2] : (tensor<7xf32>) -> tensor<3xf32>

becomes

    %2 = stablehlo.slice %0 [1:7:2] : (tensor<8xf32>) -> tensor<3xf32>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import SliceView
from pyshardy.irtools.stablehlo_views.fields import set_fields
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.record import SlicedOff, record_of


def merge_slices(results: Iterable[ir.Value], given: Iterable[ir.Value]) -> None:
    """Let pads, slices and windows take the operands of preceding slices, where possible.

    Args:
        results: the computed values.
        given: the values that they are computed from, whose definitions are not inspected.
    """
    known = set(given)
    for operation in _between(known, results):
        while _merge(operation, known):  # once for each slice
            pass


def _between(given: set[ir.Value], results: Iterable[ir.Value]) -> list[ir.Operation]:
    """Return the operations that compute results, in an order in which operands come first."""
    found: dict[ir.Operation, None] = {}
    stack = [(value, False) for value in results]
    while stack:
        value, is_after_operands = stack.pop()
        if value in given or isinstance(value.owner, ir.Block):
            continue
        operation = value.owner.operation
        if is_after_operands:
            found[operation] = None
        elif operation not in found:
            stack.append((value, True))
            stack += [(operand, False) for operand in operation.operands]
    return list(found)


def _merge(operation: ir.Operation, given: set[ir.Value]) -> bool:
    """Replace slices among the operands by their own operands; return whether it is possible."""
    merge = record_of(operation.name).merge_slice
    if merge is None:
        return False
    covered = list(operation.operands)[: len(operation.results)]
    slices = [None if value in given else _slice_of(value) for value in covered]
    parts = {None if each is None else _sliced_off(each) for each in slices}
    sliced_off = next(iter(parts)) if len(parts) == 1 else None
    attributes = None if sliced_off is None else merge(operation, sliced_off)
    if attributes is None:
        return False
    set_fields(operation, attributes)
    for index, each in enumerate(slices):
        assert each is not None, "elements are sliced off"
        operation.operands[index] = each.operands[0]
        if not any(each.results[0].uses):
            each.erase()
    return True


def _slice_of(value: ir.Value) -> ir.Operation | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.slice":
        return None
    return owner.operation


def _sliced_off(operation: ir.Operation) -> SlicedOff | None:
    view = SliceView(operation)
    if any(stride != 1 for stride in view.strides):
        return None
    sizes = shape_of(operation.operands[0].type)
    limits = zip(sizes, view.limit_indices, strict=True)
    return SlicedOff(view.start_indices, tuple(size - limit for size, limit in limits))


def merged_padding(
    padding: tuple[int, int], dilation: int, sliced_off: Sequence[int]
) -> tuple[int, int] | None:
    """Return the padding of the operand of a slice; None if it would be between elements.

    Args:
        padding: the padding before and after the slice.
        dilation: the distance from one element to the next.
        sliced_off: the numbers of elements before and after the slice.
    """
    if any(count and amount > 0 for amount, count in zip(padding, sliced_off, strict=True)):
        return None
    low, high = (
        amount - count * dilation for amount, count in zip(padding, sliced_off, strict=True)
    )
    return low, high
