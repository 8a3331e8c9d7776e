# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the shards of a reshape's operand become those of its result, and what is sent.

| way     | condition                                  | what happens                             |
|---------|--------------------------------------------|------------------------------------------|
| alike   | shards hold the same data on both sides    | each device reshapes its shard           |
| wide    | they would if dimensions were larger       | shards exchange what they lack           |
| between | both shardings have an image on some shape | a reshard between two reshapes           |

Example of the last: with `x` of 2 devices, (4, 6) by `[{"x"}, {}]` becomes (24,) by `[{"x"}]`
without any of that, but (4, 6) by `[{}, {"x"}]` only on (4, 2, 3), by an all-to-all from
`[{}, {"x"}, {}]` to `[{"x"}, {}, {}]`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.model import Mesh
from pyshardy.partition.cost import Traffic
from pyshardy.partition.factor_axes import Shape
from pyshardy.partition.halo.reshard import exchanging_reshard_traffic
from pyshardy.partition.halo.windowed import resizing_pays, resizing_traffic
from pyshardy.partition.reshape_groups import reshape_groups
from pyshardy.partition.reshape_images import shapes_between
from pyshardy.partition.reshape_sides import Side, are_alike, images_on


@dataclass(frozen=True, slots=True)
class Crossing:
    """A way from the one side to the other.

    Attributes:
        traffic: what devices send.
        wide: the shapes that both sides are resized to, if they are.
        between: the sides of a reshard, if there is one.
    """

    traffic: Traffic
    wide: tuple[Shape, Shape] | None = None
    between: tuple[Side, Side] | None = None


@lru_cache(maxsize=4096)  # layers repeat
def cheapest_crossing(
    source: Side, target: Side, nbytes: int, mesh: Mesh, *, exchanges: bool
) -> Crossing | None:
    """The cheapest way through a reshape; None if both sides have to be gathered.

    Args:
        source: the operand.
        target: the result.
        nbytes: the bytes of an element.
        mesh: the mesh of both.
        exchanges: whether shards may exchange data.
    """
    if are_alike(source, target, mesh):
        return Crossing(Traffic())
    ways: list[Crossing] = []
    if exchanges:
        wide = wide_shapes(source, target, mesh)
        if wide is not None:
            traffic = resizing_traffic(source.shape, wide[0], nbytes, source.sharding, mesh)
            traffic += resizing_traffic(wide[1], target.shape, nbytes, target.sharding, mesh)
            ways.append(Crossing(traffic, wide=wide))
    for shape in shapes_between(source.axes, source.shape, target.axes, target.shape, mesh):
        for before in images_on(source, shape, mesh):
            for after in images_on(target, shape, mesh):
                traffic = exchanging_reshard_traffic(shape, nbytes, before.axes, after.axes, mesh)
                ways.append(Crossing(traffic, between=(before, after)))
    return min(ways, key=lambda way: way.traffic, default=None)


def wide_shapes(source: Side, target: Side, mesh: Mesh) -> tuple[Shape, Shape] | None:
    """Shapes between which shards hold the same data, at the beginning of whose dimensions it is.

    1. In a group (see `reshape_groups`) where one dimension is split into several, or several are
       merged, the one and the first of the several may be larger: as large as the first is padded
       to by its axes, and the one as many times that.
    2. Both are sharded by the same axes, and the other dimensions are not.
    3. No dimension receives more by that than if it were gathered.
    4. With these shapes all shards hold the same data before and afterwards; else it is None.

    Example: `(20,)` and `(10, 2)` sharded by an axis of size 4 are `(24,)` and `(12, 2)`.
    """
    wide = list(source.shape), list(target.shape)
    for group in reshape_groups(source.shape, target.shape):
        fewer, more = sorted(map(len, group))
        if fewer != 1 or more == 1:
            continue
        one_is_source = len(group[0]) == 1
        (one,), (first, *others) = group if one_is_source else reversed(group)
        of_one, of_several = (source, target) if one_is_source else (target, source)
        sizes, several = wide if one_is_source else reversed(wide)
        axes = of_one.axes[one]
        is_sharded_alike = axes == of_several.axes[first]
        if not is_sharded_alike or any(of_several.axes[dim] for dim in others):
            continue
        pieces = mesh.axes_size(axes)
        rows = -(-several[first] // pieces) * pieces
        wanted = rows * math.prod(several[dim] for dim in others)
        before, after = (sizes[one], wanted) if one_is_source else (wanted, sizes[one])
        if wanted != sizes[one] and not resizing_pays(before, after, pieces):
            return None
        several[first], sizes[one] = rows, wanted
    new_source, new_target = map(tuple, wide)
    if not are_alike(Side(new_source, source.axes), Side(new_target, target.axes), mesh):
        return None
    return new_source, new_target
