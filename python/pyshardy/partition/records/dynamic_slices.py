# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices and updates at dynamic indices, on shards.

A slice of a sharded dimension overlaps a shard partly, or not at all. A device takes a *window* of
its shard: as long as the slice, but at most as long as the shard. If the slice begins at `start`
of the shard, which may be before its beginning or after its end, the window has

    taken = min(length, size) elements from at = clamp(0, start, size - taken)

and its element 0 is element `at - start` of the slice.

Example: shards of 4 elements, and a slice of 3 that begins at 2 of the first shard, -2 of the
second one. The first device takes its elements 1 to 3, the second one 0 to 2. Element 0 of these
windows is element -1 or 2 of the slice, so that they have elements 0, 1 and element 2 of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule
from mlir_sdy.uses import replace_by
from pyshardy.cost.op_work import SizedOperation, Work, taking_work
from pyshardy.irtools.stablehlo_views import DynamicSliceView, GatherView
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.local.arithmetic import (
    Component,
    Indices,
    all_along,
    indices_into_shard,
    is_first,
    neutral,
    value_where,
)
from pyshardy.partition.op_facts.record import (
    ContentShape,
    Neutral,
    PartitionRecord,
    signature_of,
)
from pyshardy.partition.padding.indices import clamp_starts, clamp_vectors
from pyshardy.partition.partial.linear_operations import moving
from pyshardy.partition.partial.reductions import completion_by_sum, factors_of
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.padding_builder import PaddingBuilder
from pyshardy.rules.builder import NEED_REPLICATION, REDUCTION, RuleBuilder


def convert_gather(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a gather: a device gathers the slices in its shard, and zeros for others.

    1. Sizes of slices are those of the shards.
    2. Along a sharded dimension of the operand of which slices take one element, indices are
       clamped to the global operand, and then made relative to the start of the shard.
    3. If such a dimension has no indices, slices begin at 0, in the first shard.
    4. Slices in other shards are zeros: the all-reduce after the operation adds the results of all
       devices.
    """
    global_lengths = GatherView(operation).slice_sizes
    fit_gather(operation)
    numbers = GatherView(operation).dimension_numbers
    sharding = sharding_of(operation.operands[0])
    if sharding is None:
        return
    partial = {
        dim: axes
        for dim, axes in enumerate(sharding.dim_axes)
        if axes and global_lengths[dim] == 1 and dim not in numbers.operand_batching_dims
    }
    if not partial:
        return
    mesh = builder.mesh_of(sharding)
    sizes = shape_of(operation.operands[0].type)
    lengths = GatherView(operation).slice_sizes
    indexed: list[int] = list(numbers.start_index_map)
    mask: ir.Value | None = None
    if not partial.keys().isdisjoint(indexed):
        components = [
            _component(lengths[dim], sizes[dim], partial.get(dim, ()), mesh) for dim in indexed
        ]
        moved = indices_into_shard(
            Indices(operation.operands[1], numbers.index_vector_dim), components, mesh, builder
        )
        least = moved.bounds(builder, [0] * len(components))
        ends = [part.shard_size - 1 if part.axes else part.greatest for part in components]
        inside = builder.clamp(least, moved.value, moved.bounds(builder, ends))
        is_inside = builder.compare("EQ", inside, moved.value)
        operation.operands[1] = inside
        has_vectors = numbers.index_vector_dim < ir.RankedTensorType(is_inside.type).rank
        mask = all_along(builder, is_inside, numbers.index_vector_dim) if has_vectors else is_inside
    fixed = [axis for dim, axes in partial.items() if dim not in indexed for axis in axes]
    if fixed:
        holds_start = is_first(builder, mesh, fixed)
        if mask is not None:
            shape = ir.RankedTensorType(mask.type).shape
            holds_start = builder.binary("and", mask, builder.broadcast_in_dim(holds_start, shape))
        mask = holds_start
    assert mask is not None, "each of the dimensions is indexed or not"
    _mask_result(operation, mask, list(numbers.offset_dims), builder)


def _component(length: int, shard_size: int, axes: AxisTuple, mesh: Mesh) -> Component:
    return Component(axes, shard_size, 0, shard_size * mesh.axes_size(axes) - length)


def _mask_result(
    operation: ir.Operation, mask: ir.Value, window_dims: list[int], builder: LocalBuilder
) -> None:
    """Replace the slices of a gather by zeros where a mask, a flag for each slice, is false."""
    result = operation.results[0]
    shape = ir.RankedTensorType(result.type).shape
    batch_dims = [dim for dim in range(len(shape)) if dim not in window_dims]
    if not ir.RankedTensorType(mask.type).rank:
        batch_dims = []
    with ir.InsertionPoint.after(operation):
        mask = builder.broadcast_in_dim(mask, shape, batch_dims)
        masked = value_where(builder, mask, result, "stablehlo.add")
    result.replace_all_uses_except(masked, masked.owner.operation)


def fit_gather(operation: ir.Operation) -> None:
    """Set the sizes of slices to those of the result's offset dimensions."""
    view = GatherView(operation)
    numbers = view.dimension_numbers
    result = ir.RankedTensorType(operation.results[0].type).shape
    without_offset = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    offsets = iter(numbers.offset_dims)
    view.slice_sizes = tuple(
        size if dim in without_offset else result[next(offsets)]
        for dim, size in enumerate(view.slice_sizes)
    )


def no_neutral_values(_: ir.Operation) -> dict[int, Neutral]:
    """Return nothing: slices never include padding, as their indices are clamped."""
    return {}


# --- Sharding -----------------------------------------------------------------------------------


def _dynamic_slice_rule(operation: ir.Operation, _: OpShardingRule) -> OpShardingRule:
    """Return a rule by which devices take the elements of a slice in their shards, and add up.

    Example:
        stablehlo.dynamic_slice %a, %b, %c, sizes = [4, 2]
            : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
        // ([i, j], [], [])->([i, k]) {i=4, j=6, k=2} reduction={j} need_replication={k}
    """
    sizes, lengths = (
        shape_of(value.type) for value in (operation.operands[0], operation.results[0])
    )
    builder = RuleBuilder(signature_of(operation))
    for dim, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        if size == length:
            builder.factor(size, (dim,), (dim,))
        else:
            builder.factor(size, (dim,), kind=REDUCTION)
            builder.factor(length, (), (dim,), NEED_REPLICATION)
    return builder.build()


def _dynamic_update_slice_rule(operation: ir.Operation, _: OpShardingRule) -> OpShardingRule:
    """Return a rule by which each device writes the elements of the update in its shard.

    Example:
        stablehlo.dynamic_update_slice %a, %b, %c, %d
            : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
        // ([i, j], [i, k], [], [])->([i, j]) {i=4, j=6, k=2} need_replication={k}
    """
    sizes, update_sizes = (shape_of(value.type) for value in list(operation.operands)[:2])
    builder = RuleBuilder(signature_of(operation))
    for dim, (size, update_size) in enumerate(zip(sizes, update_sizes, strict=True)):
        if size == update_size:
            builder.point_factor(dim, size)
        else:
            builder.factor(size, (dim,), (dim,))
            builder.factor(update_size, (None, dim), kind=NEED_REPLICATION)
    return builder.build()


def _factors_of_smaller_updates(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of dimensions of the update that are smaller than those of the operand.

    The full update may go to one shard of the operand.
    """
    operand, update = (shape_of(operation.operands[at].type) for at in (0, 1))
    for dim, (size, part) in enumerate(zip(operand, update, strict=True)):
        if size != part:
            yield from factors_of(rule, 1, dim)


# --- Local forms --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Window:
    """The window of a sharded dimension that a device takes.

    Attributes:
        length: the length of the slice.
        taken: the length of the window.
        at: the start of the window in the shard.
        within: the start of the window in the slice.
    """

    length: int
    taken: int
    at: ir.Value
    within: ir.Value


def convert_dynamic_slice(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a dynamic slice: a device takes the elements in its shard, and zeros for others.

    The elements are put at their positions in a tensor of zeros. The all-reduce after the operation
    adds the tensors of all devices.
    """
    fit_dynamic_slice(operation)
    lengths = shape_of(operation.results[0].type)
    windows = _windows(operation, operation.results[0], 1, builder)
    if not windows:
        return
    taken = [windows[dim].taken if dim in windows else length for dim, length in enumerate(lengths)]
    value = builder.slice_within_bounds(operation.operands[0], list(operation.operands)[1:], taken)
    if any(window.length > 1 for window in windows.values()):
        zero = neutral(builder, "stablehlo.add", element_type_of(value.type))
        value = _shifted(builder, value, windows, "subtract", lengths, zero)
    for window in windows.values():
        if window.length == 1:
            is_there = builder.compare("EQ", window.within, builder.index(0))
            value = value_where(builder, is_there, value, "stablehlo.add")
    replace_by(operation, value)


def convert_dynamic_update_slice(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert an update of a slice: a device overwrites the elements in its shard.

    In the window of its shard, elements of the slice are replaced by those of the update. The
    window is then written back.
    """
    operand, update, *_ = operation.operands
    lengths = shape_of(update.type)
    windows = _windows(operation, update, 2, builder)
    if not windows:
        return
    taken = [windows[dim].taken if dim in windows else length for dim, length in enumerate(lengths)]
    old = builder.slice_within_bounds(operand, list(operation.operands)[2:], taken)
    new = update
    if any(window.length > 1 for window in windows.values()):
        anything = builder.splat(with_shape(update.type, ()), 0)  # it isn't selected
        new = _shifted(builder, update, windows, "add", taken, anything)
    for dim, window in windows.items():
        new = builder.select(_is_in_slice(builder, window, dim, taken), new, old)
    operation.operands[1] = new


def _windows(
    operation: ir.Operation, slice_: ir.Value, first: int, builder: LocalBuilder
) -> dict[int, _Window]:
    """Return the windows along the sharded dimensions of which slices take a part.

    If there are any, the starts of the slice, the operands from `first`, are replaced by those of
    the windows.
    """
    sharding, of_slice = sharding_of(operation.operands[0]), sharding_of(slice_)
    if sharding is None:
        return {}
    # A slice of a full dimension is sharded as the dimension.
    slice_axes = () if of_slice is None else of_slice.dim_axes
    sharded = {
        dim: axes
        for dim, axes in enumerate(sharding.dim_axes)
        if axes and not (slice_axes and slice_axes[dim])
    }
    if not sharded:
        return {}
    mesh = builder.mesh_of(sharding)
    sizes, lengths = shape_of(operation.operands[0].type), shape_of(slice_.type)
    windows: dict[int, _Window] = {}
    for dim, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        axes = sharded.get(dim, ())
        greatest = size * mesh.axes_size(axes) - length
        start = builder.index(0)
        if greatest > 0:
            indices = Indices(operation.operands[first + dim], 0)
            component = Component(axes, size, 0, greatest)
            start = indices_into_shard(indices, [component], mesh, builder, width=64).value
        if axes:
            taken = min(length, size)
            at = builder.clamp(builder.index(0), start, builder.index(size - taken))
            windows[dim] = _Window(length, taken, at, builder.binary("subtract", at, start))
            start = at
        operation.operands[first + dim] = start
    return windows


def _shifted(
    builder: LocalBuilder,
    value: ir.Value,
    windows: Mapping[int, _Window],
    direction: Literal["add", "subtract"],
    shape: Sequence[int],
    fill: ir.Value,
) -> ir.Value:
    """Build a value of another shape, moved by the starts of windows within the slice.

    Element p is element p + start, or p - start to subtract, or the scalar `fill`. It is a slice of
    the value padded on both sides with as many elements as the new dimension has.
    """
    margins = [
        size if dim in windows and windows[dim].length > 1 else 0 for dim, size in enumerate(shape)
    ]
    padded = builder.pad(value, fill, margins, margins)
    starts = [
        builder.binary(direction, builder.index(margin), windows[dim].within)
        if margin
        else builder.index(0)
        for dim, margin in enumerate(margins)
    ]
    return builder.slice_within_bounds(padded, starts, shape)


def _is_in_slice(
    builder: LocalBuilder, window: _Window, dim: int, shape: Sequence[int]
) -> ir.Value:
    """Build flags for the elements of a window in the slice; a single flag for one element."""
    if window.taken == 1 == window.length:
        return builder.compare("EQ", window.within, builder.index(0))
    integers = ir.RankedTensorType.get(list(shape), ir.IntegerType.get_signless(64))
    position = builder.iota(integers, dim)
    within = builder.broadcast_in_dim(window.within, shape)
    position = builder.binary("add", position, within)
    cut = builder.clamp(builder.index(0), position, builder.index(window.length - 1))
    return builder.compare("EQ", cut, position)


def fit_dynamic_slice(operation: ir.Operation) -> None:
    """Set the sizes of a dynamic slice to those of its result."""
    sizes = shape_of(operation.results[0].type)
    DynamicSliceView(operation).slice_sizes = sizes


# --- Padding ------------------------------------------------------------------------------------


def _clamp_slice(
    operation: ir.Operation, content_shape: ContentShape, builder: PaddingBuilder
) -> None:
    """Clamp the starts of a slice, which must not end in padding."""
    clamp_starts(operation, 1, operation.results[0], content_shape, builder)


def _clamp_update(
    operation: ir.Operation, content_shape: ContentShape, builder: PaddingBuilder
) -> None:
    """Clamp the starts of an update, which must not end in padding."""
    clamp_starts(operation, 2, operation.operands[1], content_shape, builder)


def _work_of_update(sized: SizedOperation) -> Work:
    """Return the memory traffic of the elements that are overwritten."""
    return Work(0.0, 2.0 * sized.operands[1].nbytes)


# --- Record -------------------------------------------------------------------------------------


RECORDS = {
    "stablehlo.gather": PartitionRecord(
        completion=completion_by_sum,
        linearity=moving(0),
        local_form=convert_gather,
        fit_sizes=fit_gather,
        neutral_values=no_neutral_values,
        clamp_indices=clamp_vectors,
        work=taking_work,
    ),
    "stablehlo.dynamic_slice": PartitionRecord(
        rule_on_shards=_dynamic_slice_rule,
        completion=completion_by_sum,
        linearity=moving(0),
        local_form=convert_dynamic_slice,
        fit_sizes=fit_dynamic_slice,
        neutral_values=no_neutral_values,
        clamp_indices=_clamp_slice,
        work=taking_work,
    ),
    "stablehlo.dynamic_update_slice": PartitionRecord(
        rule_on_shards=_dynamic_update_slice_rule,
        blocked_factors=_factors_of_smaller_updates,
        linearity=moving(0, 1),
        local_form=convert_dynamic_update_slice,
        clamp_indices=_clamp_update,
        work=_work_of_update,
    ),
}
