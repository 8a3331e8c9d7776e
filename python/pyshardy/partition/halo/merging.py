# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Merging of slices into the operations that use them.

    %1 = stablehlo.slice %0 [0:7] : (tensor<8xf32>) -> tensor<7xf32>
    %2 = stablehlo.slice %1 [1:7:2] : (tensor<7xf32>) -> tensor<3xf32>

becomes

    %2 = stablehlo.slice %0 [1:7:2] : (tensor<8xf32>) -> tensor<3xf32>
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import (
    FieldValues,
    PadView,
    SliceView,
    WindowsView,
    set_fields,
)
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.attributes import paddings, per_dim

_WINDOWS = "stablehlo.reduce_window"


@dataclass(frozen=True, slots=True)
class _Cut:
    """The elements that a slice with strides of 1 leaves out, for each dimension.

    Attributes:
        before: the number of elements at the beginning.
        behind: the number of elements at the end.
    """

    before: tuple[int, ...]
    behind: tuple[int, ...]


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
    """Return the operations that compute results, each after those of its operands."""
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
    merge = _MERGES.get(operation.name)
    if merge is None:
        return False
    count = len(operation.operands) // 2 if operation.name == _WINDOWS else 1
    covered = list(operation.operands)[:count]
    slices = [None if value in given else _slice_of(value) for value in covered]
    cuts = {None if each is None else _cut_of(each) for each in slices}
    cut = next(iter(cuts)) if len(cuts) == 1 else None
    attributes = None if cut is None else merge(operation, cut)
    if attributes is None:
        return False
    set_fields(operation, attributes)
    for index, each in enumerate(slices):
        assert each is not None, "there is a cut"
        operation.operands[index] = each.operands[0]
        if not any(each.results[0].uses):
            each.erase()
    return True


def _slice_of(value: ir.Value) -> ir.Operation | None:
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.slice":
        return None
    return owner.operation


def _cut_of(operation: ir.Operation) -> _Cut | None:
    view = SliceView(operation)
    if any(stride != 1 for stride in view.strides):
        return None
    sizes = shape_of(operation.operands[0].type)
    limits = zip(sizes, view.limit_indices, strict=True)
    return _Cut(view.start_indices, tuple(size - limit for size, limit in limits))


_Merge = Callable[[ir.Operation, _Cut], FieldValues | None]


def _merge_slice(operation: ir.Operation, cut: _Cut) -> FieldValues:
    return {
        bound: [at + before for at, before in zip(bound.of(operation), cut.before, strict=True)]
        for bound in (SliceView.start_indices, SliceView.limit_indices)
    }


def _merge_pad(operation: ir.Operation, cut: _Cut) -> FieldValues | None:
    columns = zip(*PadView(operation).amounts, cut.before, cut.behind, strict=True)
    merged = [
        _merged_padding((before, behind), between + 1, cuts)
        for before, behind, between, *cuts in columns
    ]
    edges = [each for each in merged if each is not None]
    if len(edges) < len(merged):
        return None
    return {
        PadView.edge_padding_low: [before for before, _ in edges],
        PadView.edge_padding_high: [behind for _, behind in edges],
    }


def _merge_windows(operation: ir.Operation, cut: _Cut) -> FieldValues | None:
    """Return the attributes for windows over an uncut operand; None if impossible."""
    rank = len(cut.before)
    view = WindowsView(operation)
    dilations = per_dim(view.base_dilations, rank)
    strides = per_dim(view.window_strides, rank)
    windows = per_dim(view.window_dimensions, rank)
    window_dilations = per_dim(view.window_dilations, rank)
    sizes = shape_of(operation.operands[0].type)
    edges: list[tuple[int, int]] = []
    for dim, padding in enumerate(paddings(view.padding, rank)):
        dilation = dilations[dim]
        merged = _merged_padding(padding, dilation, (cut.before[dim], cut.behind[dim]))
        if merged is None:
            return None
        length = (sizes[dim] - 1) * dilation + 1 + sum(padding)
        reach = (windows[dim] - 1) * window_dilations[dim] + 1
        unused = strides[dim] - 1 - (length - reach) % strides[dim]
        if length < reach + strides[dim]:
            unused = 0  # IREE takes a single window to be as large as the dimension
        edges.append((merged[0], max(merged[1], min(0, merged[1] + unused))))
    return {WindowsView.padding: edges}


def _merged_padding(
    padding: tuple[int, int], dilation: int, cuts: Sequence[int]
) -> tuple[int, int] | None:
    """Return the padding of the uncut dimension; None if it would be between elements."""
    if any(cut and amount > 0 for amount, cut in zip(padding, cuts, strict=True)):
        return None
    low, high = (amount - cut * dilation for amount, cut in zip(padding, cuts, strict=True))
    return low, high


_MERGES: dict[str, _Merge] = {
    "stablehlo.pad": _merge_pad,
    _WINDOWS: _merge_windows,
    "stablehlo.slice": _merge_slice,
}
