# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images of a sharding on the other side of a reshape, and on shapes between both sides.

An axis that divides its dimension evenly cuts each block of `high` elements of the group (see
`reshape_groups`) into blocks of `low` elements. On the other side of the reshape, the axis shards
the dimension that can be cut in the same way:

    (8, 6) sharded by [{"x"}, {"y"}], of 4 and 2    "x" cuts 48 into 12, "y" 6 into 3
    (4, 2, 2, 3) sharded by [{"x"}, {}, {"y"}, {}]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, add_or_merge
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.compatibility.reshape_groups import Group, large_dims, reshape_groups
from pyshardy.partition.resharding.steps import AxesPerDim
from pyshardy.propagation.projection import split_axis


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
