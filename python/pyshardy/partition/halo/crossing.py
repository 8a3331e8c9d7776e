# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ways through a reshape: conversions between the shards of its operand and its result.

| way     | condition                                  | conversion                               |
|---------|--------------------------------------------|------------------------------------------|
| alike   | shards hold the same data on both sides    | each device reshapes its shard           |
| wide    | they would if dimensions were larger       | shards exchange the missing elements     |
| between | both shardings have an image on some shape | a reshard between two reshapes           |

Example of the last: with `x` of 2 devices, (4, 6) by `[{"x"}, {}]` becomes (24,) by `[{"x"}]`
without communication, but (4, 6) by `[{}, {"x"}]` only on (4, 2, 3), by an all-to-all from
`[{}, {"x"}, {}]` to `[{"x"}, {}, {}]`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.model import Mesh, Shape
from pyshardy.cost.collectives import Traffic, traffic_of
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import padded_size
from pyshardy.partition.halo.reshard import exchanging_reshard_traffic
from pyshardy.partition.halo.windowed import is_resizing_profitable, resizing_permutes
from pyshardy.partition.resharding.cost import Reshard
from pyshardy.partition.types.reshapes import (
    Side,
    are_alike,
    images_on,
    large_dims,
    reshape_groups,
    shapes_between,
)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A way from a side of a reshape to the other.

    Attributes:
        traffic: the communication.
        wide: the shapes that both sides are resized to, if any.
        between: the sides of a reshard, if there is one.
    """

    traffic: Traffic
    wide: tuple[Shape, Shape] | None = None
    between: tuple[Side, Side] | None = None


@lru_cache(maxsize=4096)  # layers of a model repeat
def cheapest_crossing(
    source: Side, target: Side, nbytes: int, mesh: Mesh, hardware: Hardware, *, exchanges: bool
) -> Crossing | None:
    """Return the cheapest way through a reshape; None if both sides have to be gathered.

    Args:
        source: the operand.
        target: the result.
        nbytes: the bytes of an element.
        mesh: the mesh of both.
        hardware: the devices and links.
        exchanges: whether shards may exchange data.
    """
    if are_alike(source, target, mesh):
        return Crossing(Traffic())
    ways: list[Crossing] = []
    if exchanges:
        wide = wide_shapes(source, target, mesh)
        if wide is not None:
            padding = resizing_permutes(source.shape, wide[0], nbytes, source.sharding, mesh)
            cutting = resizing_permutes(wide[1], target.shape, nbytes, target.sharding, mesh)
            traffic = traffic_of(padding, hardware) + traffic_of(cutting, hardware)
            ways.append(Crossing(traffic, wide=wide))
    for shape in shapes_between(source.axes, source.shape, target.axes, target.shape, mesh):
        for before in images_on(source, shape, mesh):
            for after in images_on(target, shape, mesh):
                reshard = Reshard(shape, nbytes, before.axes, after.axes, mesh)
                traffic = exchanging_reshard_traffic(reshard, hardware)
                ways.append(Crossing(traffic, between=(before, after)))
    return min(ways, key=lambda way: way.traffic, default=None)


def wide_shapes(source: Side, target: Side, mesh: Mesh) -> tuple[Shape, Shape] | None:
    """Return larger shapes between which shards hold the same data; None if there are none.

    1. In a group (see `reshape_groups`) where one dimension is split or several are merged, and
       that is sharded by the same axes on both sides, each time along the first dimension above 1
       only, these two dimensions may be enlarged: by the smallest amount for which the axes divide
       them, and both sides have as many elements.
    2. No dimension receives more for that than if it were gathered.
    3. With these shapes, all shards hold the same data before and after the reshape.

    Example: `(20,)` and `(10, 2)` sharded by an axis of size 4 are `(24,)` and `(12, 2)`.
    """
    wide = list(source.shape), list(target.shape)
    for group in reshape_groups(source.shape, target.shape):
        dim, other = _only_sharded(source, group[0]), _only_sharded(target, group[1])
        pairs = zip((source, target), group, strict=True)
        sizes = {len(large_dims(dims, side.shape)) for side, dims in pairs}
        if dim is None or other is None or min(sizes) > 1 or max(sizes) == 1:
            continue
        axes = source.axes[dim]
        if axes != target.axes[other]:
            continue
        num_shards = mesh.axes_size(axes)
        count = math.prod(source.shape[at] for at in group[0])
        rows = [count // source.shape[dim], count // target.shape[other]]
        unit = math.lcm(*rows) * num_shards
        wanted = padded_size(count, unit)
        wide[0][dim], wide[1][other] = wanted // rows[0], wanted // rows[1]
        grows = (source.shape[dim], wide[0][dim]), (wide[1][other], target.shape[other])
        if not all(
            size == new or is_resizing_profitable(size, new, num_shards) for size, new in grows
        ):
            return None
    new_source, new_target = map(tuple, wide)
    if not are_alike(Side(new_source, source.axes), Side(new_target, target.axes), mesh):
        return None
    return new_source, new_target


def _only_sharded(side: Side, dims: range) -> int | None:
    """Return the first dimension above 1 of a group, if no other dimension is sharded."""
    large = large_dims(dims, side.shape)
    is_only = large and not any(side.axes[dim] for dim in dims if dim != large[0])
    return large[0] if is_only else None
