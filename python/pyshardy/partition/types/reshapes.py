# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two sides of a reshape, and whether their shards hold the same data."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    Shape,
    TensorSharding,
    add_or_merge,
    place_data_alike,
)
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.projection import split_axis

_MESH = "mesh"
"""A placeholder for the name of the one mesh."""

Group = tuple[range, range]
"""The dimensions before a reshape, and those after it."""


@dataclass(frozen=True, slots=True)
class Side:
    """The operand or the result of a reshape: its shape, and the axes of each dimension."""

    shape: Shape
    axes: AxesPerDim

    @property
    def sharding(self) -> TensorSharding:
        """Return the axes as a sharding."""
        return TensorSharding.from_axes(_MESH, self.axes)

    def padded_shape(self, mesh: Mesh) -> Shape:
        """Return the shape of all shards together."""
        return self.sharding.global_shape(self.sharding.local_shape(self.shape, mesh), mesh)


@functools.lru_cache(maxsize=4096)
def are_alike(source: Side, target: Side, mesh: Mesh) -> bool:
    """Whether all shards hold the same data on both sides, and padding in the same places."""
    return place_data_alike(
        source.sharding, source.shape, target.sharding, target.shape, mesh
    ) and pads_alike(
        source.shape, source.padded_shape(mesh), target.shape, target.padded_shape(mesh)
    )


@functools.lru_cache(maxsize=4096)
def images_on(side: Side, shape: Shape, mesh: Mesh) -> tuple[Side, ...]:
    """Return the images of a side on another shape on which shards hold the same data."""
    held: list[AxesPerDim] = [()]
    for group in reshape_groups(side.shape, shape):
        options = images(side.axes, side.shape, group, shape, mesh)
        held = [(*before, *option) for before in held for option in options]
    found = [Side(shape, axes) for axes in held]
    return tuple(each for each in found if are_alike(side, each, mesh))


@dataclass(frozen=True, slots=True)
class _Cut:
    """An axis that cuts blocks of `high` elements into blocks of `low` ones."""

    axis: AxisRef
    high: int
    low: int


def images(
    axes: AxesPerDim, shape: Shape, group: Group, other_shape: Shape, mesh: Mesh
) -> list[AxesPerDim]:
    """Return the axes that dimensions of a group may have on the other side of a reshape.

    An axis that divides its dimension evenly cuts each block of `high` elements of the group (see
    `reshape_groups`) into blocks of `low` elements. On the other side of the reshape, the axis
    shards the dimension that can be cut in the same way:

        (8, 6) sharded by [{"x"}, {"y"}], of 4 and 2    "x" cuts 48 into 12, "y" 6 into 3
        (4, 2, 2, 3) sharded by [{"x"}, {}, {"y"}, {}]

    1. If axes divide all dimensions of the group: those with the same cuts. Of an axis that has
       none, the leading sub-axis that has; the rest is left out.
    2. If only the first dimension above 1 is sharded: the same axes on the first one above 1 on the
       other side, whether they divide it or not.

    Args:
        axes: the axes of all dimensions on this side.
        shape: the shape on this side.
        group: the dimensions of this side, then of the other one.
        other_shape: the shape on the other side.
        mesh: the mesh of the axes.

    Example: (12,) by `{"x"}` of 4 on (6, 2) is `[{"x":(1)2}, {}]`, and `[{"x"}, {}]` where 2 of
    6 rows on each device are 12 of padded 16 elements.
    """
    dims, others = group
    found: list[AxesPerDim] = []
    cuts = _cuts(axes, shape, dims, mesh)
    if cuts is not None:
        found.append(_with_cuts(cuts, other_shape, others, mesh))
    large, other_large = large_dims(dims, shape), large_dims(others, other_shape)
    if large and other_large and not any(axes[dim] for dim in dims if dim != large[0]):
        found.append(tuple(axes[large[0]] if dim == other_large[0] else () for dim in others))
    return list(dict.fromkeys(found))


def shapes_between(
    source: AxesPerDim, source_shape: Shape, target: AxesPerDim, target_shape: Shape, mesh: Mesh
) -> Iterator[Shape]:
    """Yield shapes on which the shardings of both sides of a reshape may have an image.

    1. Dimensions end where they end on either side.
    2. Dimensions also end where axes that divide their dimension cut it.

    In a group where these ends don't divide one another, the dimensions are those of the sharded
    side; no shape is yielded if both sides are sharded.

    Example: (16,) and (4, 4) with `[{"x"}]` and `[{}, {"x"}]`, where `x` has 2 devices, have (4, 4)
    and (2, 2, 2, 2) between them.
    """
    found: dict[Shape, None] = {}
    groups = reshape_groups(source_shape, target_shape)
    for with_cuts in (False, True):
        parts: list[Shape] = []
        for group in groups:
            sides = (source, source_shape), (target, target_shape)
            part = _between(group, sides, mesh, with_cuts=with_cuts)
            if part is None:
                return
            parts.append(part)
        found[tuple(itertools.chain.from_iterable(parts))] = None
    yield from found


def _between(
    group: Group,
    sides: Sequence[tuple[AxesPerDim, Shape]],
    mesh: Mesh,
    *,
    with_cuts: bool,
) -> Shape | None:
    ends: set[int] = set()
    for dims, (axes, shape) in zip(group, sides, strict=True):
        ends |= {math.prod(shape[dim] for dim in range(start, dims.stop)) for start in dims}
        cuts = _cuts(axes, shape, dims, mesh) if with_cuts else None
        ends |= {cut.low for cut in cuts or ()}
    ordered = sorted({*ends, 1})
    pairs = list(itertools.pairwise(ordered))
    if all(high % low == 0 for low, high in pairs):
        return tuple(high // low for low, high in reversed(pairs))
    sharded = [
        dims for dims, (axes, _) in zip(group, sides, strict=True) if any(axes[dim] for dim in dims)
    ]
    if len(sharded) > 1:
        return None
    index = 0 if not sharded or sharded[0] is group[0] else 1
    return tuple(sides[index][1][dim] for dim in group[index])


def _cuts(axes: AxesPerDim, shape: Shape, dims: range, mesh: Mesh) -> list[_Cut] | None:
    """Return the cuts of the axes of some dimensions, major first; None if uneven."""
    cuts: list[_Cut] = []
    high = math.prod(shape[dim] for dim in dims)
    for dim in dims:
        if shape[dim] % mesh.axes_size(axes[dim]):
            return None
        behind, block = high // shape[dim], high
        for axis in axes[dim]:
            low = block // axis.size(mesh)
            cuts.append(_Cut(axis, block, low))
            block = low
        high = behind
    return cuts


def _with_cuts(cuts: Sequence[_Cut], shape: Shape, dims: range, mesh: Mesh) -> AxesPerDim:
    """Return the axes of dimensions for some cuts, as far as they can have them."""
    rest = list(cuts)
    high = math.prod(shape[dim] for dim in dims)
    placed: list[AxisTuple] = []
    for dim in dims:
        behind, block = high // shape[dim], high
        held: AxisTuple = ()
        while rest and rest[0].high == block and block > behind:
            cut = rest.pop(0)
            size = cut.axis.size(mesh)
            taken = math.gcd(size, block // behind)
            if taken == 1:
                break
            axis = cut.axis
            if taken < size:
                axis, more = split_axis(axis, taken, mesh)
                rest.insert(0, _Cut(more, block // taken, cut.low))
            held = add_or_merge(held, axis, mesh)
            block //= taken
        placed.append(held)
        # The following cuts of this dimension can't be expressed.
        rest = [cut for cut in rest if cut.high <= behind]
        high = behind
    return tuple(placed)


def reshape_groups(source: Shape, target: Shape) -> list[Group]:
    """Return the shortest runs of dimensions of both shapes with the same number of elements.

    `(12, 24, 5)` and `(8, 36, 5)` fall into the groups `(12, 24)` with `(8, 36)`, and `5` with `5`.
    """
    groups: list[Group] = []
    source_start = target_start = 0
    while source_start < len(source) or target_start < len(target):
        source_end = min(source_start + 1, len(source))
        target_end = min(target_start + 1, len(target))
        while True:
            left = math.prod(source[source_start:source_end])
            right = math.prod(target[target_start:target_end])
            if left < right and source_end < len(source):
                source_end += 1
            elif right < left and target_end < len(target):
                target_end += 1
            else:
                break
        groups.append((range(source_start, source_end), range(target_start, target_end)))
        source_start, target_start = source_end, target_end
    return groups


def passes_through(group: Group, source: Shape, target: Shape) -> bool:
    """Whether at most one dimension on either side of a group has a size above 1."""
    return all(
        len(large_dims(dims, shape)) <= 1
        for dims, shape in zip(group, (source, target), strict=True)
    )


def large_dims(dims: range, shape: Shape) -> list[int]:
    """Return the dimensions of a side of a group whose size is above 1."""
    return [dim for dim in dims if shape[dim] != 1]


def pads_alike(source: Shape, wide_source: Shape, target: Shape, wide_target: Shape) -> bool:
    """Whether a reshape between padded shapes leaves padding at the end of each dimension.

    In each group (see `reshape_groups`), only the first dimension above 1 on each side may be
    padded, and both sides have as many elements, the first of which are not padding.

    Examples: true for (6) padded to 8, and (3, 2) padded to (4, 2). False for (10) padded to 12,
      and (5, 2) padded to (8, 2): their numbers of elements differ.
    """
    for group in reshape_groups(source, target):
        counts: list[int] = []
        sides = zip(group, (source, target), (wide_source, wide_target), strict=True)
        for dims, shape, wide in sides:
            first = large_dims(dims, shape)[:1]
            if any(shape[dim] != wide[dim] for dim in dims if dim not in first):
                return False
            counts.append(math.prod(wide[dim] for dim in dims))
        if counts[0] != counts[1]:
            return False
    return True
