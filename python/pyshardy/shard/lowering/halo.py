# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Halo exchange."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import grid_of, integers, split_axes
from mlir_sdy.shard.values import DYNAMIC, Axes, Grid
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.lowering.registry import lowers


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
def lower_update_halo(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
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
