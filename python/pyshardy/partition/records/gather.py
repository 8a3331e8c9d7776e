# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gathers on shards."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh
from pyshardy.cost.op_work import taking_work
from pyshardy.irtools.stablehlo_views import GatherView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.local.arithmetic import all_along, is_first, value_where
from pyshardy.partition.local.indices import Component, Indices, indices_into_shard
from pyshardy.partition.op_facts.record import Neutral, PartitionRecord
from pyshardy.partition.padding.indices import clamp_vectors
from pyshardy.partition.partial.linear_operations import moving
from pyshardy.partition.partial.reductions import completion_by_sum
from pyshardy.partition.types.local_builder import LocalBuilder


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


RECORDS = {
    "stablehlo.gather": PartitionRecord(
        completion=completion_by_sum,
        linearity=moving(0),
        local_form=convert_gather,
        fit_sizes=fit_gather,
        neutral_values=no_neutral_values,
        clamp_indices=clamp_vectors,
        work=taking_work,
    )
}
