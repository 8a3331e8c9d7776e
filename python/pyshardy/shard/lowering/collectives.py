# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of all members of a group, also those with a root, shifts, and halo exchange."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple
from mlir_sdy.shard.reading import (
    grid_of,
    has_flag,
    index_list,
    integer,
    integers,
    reduction_kind,
    split_axes,
)
from mlir_sdy.shard.values import DYNAMIC, Axes, Grid, ReductionKind
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder, lowers, reducing_operation
from pyshardy.shard.lowering.device_values import Known


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


# --- Halo exchange -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Side:
    """One halo of a dimension.

    Attributes:
        dim: the dimension.
        source: the start of the elements to send, in the neighbor's tensor.
        target: the start of the halo.
        size: the size of the halo.
        pairs: the pairs of source and target devices.
    """

    dim: int
    source: int
    target: int
    size: int
    pairs: tuple[tuple[int, int], ...]


@lowers("shard.update_halo")
def _lower_update_halo(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Fill the halos with elements of the neighbors' cores.

    Dimensions are processed from the last to the first, each with the low side and then the high
    side.

    1. A message contains the later dimensions completely, since their halos are up to date, and the
       core of the earlier dimensions. Corners are therefore sent in two steps.
    2. A device without a neighbor keeps its halo.
    """
    name = grid_of(operation)
    grid = builder.grids[name]
    axes_of_dims = split_axes(operation)
    sizes = integers(operation, "static_halo_sizes")
    if DYNAMIC in sizes:
        raise cannot_lower(operation, "halo sizes must be constants")
    dims = [dim for dim, axes in enumerate(axes_of_dims) if axes]
    halos = dict(zip(dims, zip(sizes[::2], sizes[1::2], strict=True), strict=True))
    value = operation.operands[0]
    shape = list(shape_of(value.type))
    starts, extents = [0] * len(shape), list(shape)
    for dim, (low, high) in halos.items():
        starts[dim], extents[dim] = low, shape[dim] - low - high
    for dim in reversed(dims):
        low, high = halos[dim]
        for side in _sides(grid, axes_of_dims[dim], dim, shape[dim], low, high):
            value = _filled(value, side, starts, extents, grid.size, builder)
        starts[dim], extents[dim] = 0, shape[dim]
    return value


def _sides(grid: Grid, axes: Axes, dim: int, size: int, low: int, high: int) -> tuple[_Side, ...]:
    upwards = tuple(pair for group in grid.groups(axes) for pair in itertools.pairwise(group))
    downwards = tuple((later, earlier) for earlier, later in upwards)
    sides = (
        _Side(dim, size - high - low, 0, low, upwards),
        _Side(dim, low, size - high, high, downwards),
    )
    return tuple(side for side in sides if side.size and side.pairs)


def _filled(
    value: ir.Value,
    side: _Side,
    starts: list[int],
    extents: list[int],
    devices: int,
    builder: GridBuilder,
) -> ir.Value:
    """Return a tensor with one halo filled."""
    dim = side.dim

    def slab(start: int) -> ir.Value:
        part = value
        for other, (at, extent) in enumerate(zip(starts, extents, strict=True)):
            begin, size = (start, side.size) if other == dim else (at, extent)
            part = builder.slice_dim(part, other, begin, size)
        return part

    received = builder.permute(slab(side.source), side.pairs)
    gets = np.zeros(devices, np.bool_)
    gets[[target for _, target in side.pairs]] = True
    update = builder.select_on_devices(gets, received, slab(side.target))
    places = [side.target if other == dim else at for other, at in enumerate(starts)]
    indices = [builder.index(place) for place in places]
    return builder.dynamic_update_slice(value, update, indices)
