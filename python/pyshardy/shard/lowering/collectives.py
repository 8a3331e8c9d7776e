# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of all members of a group, also those with a root, and shifts."""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple
from mlir_sdy.shard.reading import has_flag, index_list, integer, reduction_kind
from mlir_sdy.shard.values import ReductionKind
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.lowering.device_values import Known
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


@lowers("shard.broadcast")
def _lower_broadcast(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Gather the tensors of all members along a new dimension, and select that of the root.

    StableHLO has a broadcast, but neither XLA on CPU nor IREE supports it.
    """
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    if not axes:
        return value
    shape = list(shape_of(value.type))
    everybody = builder.all_gather(builder.reshape(value, [1, *shape]), 0, refs, mesh)
    chosen = builder.piece(everybody, 0, _root_index(operation, builder), 1)
    return builder.reshape(chosen, shape)


@lowers("shard.scatter")
def _lower_scatter(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Build an all-to-all of all members' tensors, and select the part of the root."""
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    if not axes:
        return value
    dim = integer(operation, "scatter_dim")
    shards = builder.all_to_all(value, dim, dim, refs, mesh)
    size = ir.RankedTensorType(operation.results[0].type).shape[dim]
    return builder.piece(shards, dim, _root_index(operation, builder), size)


def _root_index(operation: ir.Operation, builder: GridBuilder) -> Known:
    """Return the index of the root in its group.

    A root that is only known at run time must not be out of range.
    """
    grid, axes, *_ = builder.place(operation)
    coordinates = index_list(operation, "root", 1)
    index: Known | None = None
    for axis, coordinate in zip(axes, coordinates, strict=True):
        known = builder.device_values.known(coordinate)
        if known is None:
            reason = "the root must be computed from constants and indices of devices, or taken "
            reason += "from an integer tensor of rank 0 by 'tensor.extract'"
            raise cannot_lower(operation, reason)
        size = grid.shape[axis]
        if isinstance(known, np.ndarray) and not ((known >= 0) & (known < size)).all():
            reason = f"a coordinate of the root is out of range along axis {axis}"
            raise cannot_lower(operation, reason)
        index = known if index is None else _appended(index, size, known, builder)
    assert index is not None, "a collective with a root has axes"
    return index


def _appended(index: Known, size: int, coordinate: Known, builder: GridBuilder) -> Known:
    """Return the index extended by an axis: `index * size + coordinate`."""
    if isinstance(index, np.ndarray) and isinstance(coordinate, np.ndarray):
        return index * size + coordinate
    scaled = builder.binary("multiply", builder.scalar(index), builder.index(size))
    return builder.binary("add", scaled, builder.scalar(coordinate))
