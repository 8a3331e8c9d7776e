# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of all members of a group, and shifts."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple
from mlir_sdy.shard.reading import has_flag, integer, reduction_kind
from mlir_sdy.shard.values import ReductionKind
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.lowering.reductions import reducing_operation
from pyshardy.shard.lowering.registry import lowers


@lowers("shard.all_gather", "shard.gather")
def lower_all_gather(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Gather on all devices; if the operation has a root, the other results are unused."""
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    return (
        builder.all_gather(value, integer(operation, "gather_axis"), refs, mesh) if axes else value
    )


@lowers("shard.all_reduce", "shard.reduce")
def lower_all_reduce(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Convert, then reduce on all devices; an average is a sum divided by the size of the group."""
    grid, axes, mesh, refs = builder.place(operation)
    element_type = element_type_of(operation.results[0].type)
    value = builder.convert(operation.operands[0], element_type)
    combine = reducing_operation(operation, element_type)
    value = builder.all_reduce(value, combine, refs, mesh)
    return _averaged(operation, value, grid.axes_size(axes), builder)


@lowers("shard.reduce_scatter")
def lower_reduce_scatter(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Convert, then reduce-scatter."""
    grid, axes, mesh, refs = builder.place(operation)
    element_type = element_type_of(operation.results[0].type)
    value = builder.convert(operation.operands[0], element_type)
    combine = reducing_operation(operation, element_type)
    if axes:
        dim = integer(operation, "scatter_dim")
        value = builder.reduce_scatter(value, dim, combine, refs, mesh)
    return _averaged(operation, value, grid.axes_size(axes), builder)


@lowers("shard.all_slice")
def lower_all_slice(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Slice the shard at the device's index in its group, without communication."""
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    if not axes:
        return value
    axes_per_dim: list[AxisTuple] = [()] * ir.RankedTensorType(value.type).rank
    axes_per_dim[integer(operation, "slice_axis")] = refs
    return builder.slice_shard(value, mesh, axes_per_dim)


@lowers("shard.all_to_all")
def lower_all_to_all(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Lower to an all-to-all."""
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    split, concat = integer(operation, "split_axis"), integer(operation, "concat_axis")
    return builder.all_to_all(value, split, concat, refs, mesh) if axes else value


@lowers("shard.shift")
def lower_shift(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Send the tensor to the device at distance `offset` along an axis."""
    grid, *_ = builder.place(operation)
    value = operation.operands[0]
    axis, offset = integer(operation, "shift_axis"), integer(operation, "offset")
    pairs = grid.shift_pairs(axis, offset, rotate=has_flag(operation, "rotate"))
    if len(pairs) == grid.size and all(source == target for source, target in pairs):
        return value
    return builder.permute(value, pairs)


def _averaged(
    operation: ir.Operation, value: ir.Value, count: int, builder: GridBuilder
) -> ir.Value:
    is_average = reduction_kind(operation) is ReductionKind.AVERAGE
    return builder.average(value, count) if is_average and count > 1 else value
