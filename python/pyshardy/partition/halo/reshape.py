# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes whose shards don't hold the same data before and after.

The factors of a reshape correspond to parts of its dimensions, but sharding such a part needs no
communication only if the shards on both sides hold the same data. Otherwise, if there is no cheaper
way, these dimensions are replicated around the operation:

    %1 = stablehlo.reshape %0 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    // %0 is sharded by [{}, {"x"}]: a shard holds halves of rows of 24, not of rows of 36

becomes

    %1 = sdy.reshard %0 <@mesh, [{}, {}]>
    %2 = stablehlo.reshape %1 : (tensor<12x24xf32>) -> tensor<8x36xf32>

Where axes don't divide a dimension that is split or merged, shards exchange the missing elements:

    %1 = stablehlo.reshape %0 : (tensor<20xf32>) -> tensor<10x2xf32>
    // both are sharded by {"x"} of size 4: shards of 5 elements, and of 3 rows of 2

becomes

    %1 = stablehlo.pad %0, %zero, high = [4] : (tensor<20xf32>, tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.reshape %1 : (tensor<24xf32>) -> tensor<12x2xf32>
    %3 = stablehlo.slice %2 [0:10, 0:2] : (tensor<12x2xf32>) -> tensor<10x2xf32>

Where axes shard parts of dimensions that are in other dimensions afterwards, the operand is
resharded on a shape between both:

    %1 = stablehlo.reshape %0 : (tensor<4x6xf32>) -> tensor<24xf32>
    // %0 is sharded by [{}, {"x"}], and %1 by [{"x"}]

becomes

    %1 = stablehlo.reshape %0 : (tensor<4x6xf32>) -> tensor<4x2x3xf32>      // [{}, {"x"}, {}]
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}, {}]>
    %3 = stablehlo.reshape %2 : (tensor<4x2x3xf32>) -> tensor<24xf32>

`cheapest_crossing` chooses the way.

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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, Shape, TensorSharding, mesh_of, place_data_alike
from mlir_sdy.values import get_sharding, look_through_barriers, set_result_shardings_of
from pyshardy.cost.collectives import Traffic, traffic_of
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import element_bytes, padded_size, shape_of
from pyshardy.partition.halo.reshard import exchanging_reshard_traffic
from pyshardy.partition.halo.windowed import is_resizing_profitable, resizing_permutes
from pyshardy.partition.resharding.cost import Reshard, reshard_traffic
from pyshardy.partition.types.padding_builder import PaddingBuilder
from pyshardy.partition.types.reshapes import (
    Side,
    are_alike,
    images_on,
    large_dims,
    passes_through,
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


def resolve_reshape(
    reshape: ir.Operation,
    meshes: Mapping[str, Mesh],
    cache: AttributeCache,
    hardware: Hardware,
    *,
    exchanges: bool,
) -> tuple[ir.Operation, ...]:
    """Insert the operations that move data around a reshape, if it needs communication.

    Args:
        reshape: the reshape.
        meshes: the meshes of the module by name.
        cache: makes attributes.
        hardware: the devices and links.
        exchanges: whether shards may exchange data.

    Returns:
        The pad and the slice around it, if shards have to exchange elements for them; empty if
        there are reshards, or if no data has to move.
    """
    source = get_sharding(look_through_barriers(reshape.operands[0]))
    target = get_sharding(reshape.results[0])
    given = source or target
    mesh = None if given is None else mesh_of(given, meshes)
    if given is None or mesh is None or mesh.is_maximal:
        return ()
    shapes = shape_of(reshape.operands[0].type), shape_of(reshape.results[0].type)
    if not all(size >= 0 for shape in shapes for size in shape):
        return ()
    source, target = (
        sharding or TensorSharding.fully_closed(len(shape), given.mesh_or_ref)
        for sharding, shape in zip((source, target), shapes, strict=True)
    )
    if place_data_alike(source, shapes[0], target, shapes[1], mesh):
        return ()
    new_source, new_target = _unsharded_sides(source, target, shapes, mesh)
    ends = (source, new_source), (target, new_target)
    crossing = _crossing(reshape, *ends, mesh, hardware, exchanges)
    if crossing is not None and crossing.wide is not None:
        return _widen(reshape, *crossing.wide, target, cache)
    if crossing is not None and crossing.between is not None:
        _reshard_between(reshape, crossing.between, target, cache)
        return ()
    _surround(reshape, *ends, cache)
    return ()


def _crossing(
    reshape: ir.Operation,
    source: tuple[TensorSharding, TensorSharding],
    target: tuple[TensorSharding, TensorSharding],
    mesh: Mesh,
    hardware: Hardware,
    exchanges: bool,
) -> Crossing | None:
    """Return the cheapest way through a reshape; None if replicated dimensions cost less."""
    ends = *source, *target
    is_plain = not any(each.unreduced_axes or each.replicated_axes for each in ends)
    shapes = shape_of(reshape.operands[0].type), shape_of(reshape.results[0].type)
    if not is_plain or any(size == 0 for shape in shapes for size in shape):
        return None
    if len({each.mesh_or_ref for each in ends}) > 1:
        return None
    nbytes = element_bytes(reshape.results[0].type)
    sides = Side(shapes[0], source[0].dim_axes), Side(shapes[1], target[0].dim_axes)
    crossing = cheapest_crossing(*sides, nbytes, mesh, hardware, exchanges=exchanges)
    gathered = Traffic()
    for shape, before, after in ((shapes[0], *source), (shapes[1], *reversed(target))):
        reshard = Reshard(shape, nbytes, before.dim_axes, after.dim_axes, mesh)
        gathered += reshard_traffic(reshard, hardware)
    return None if crossing is None or crossing.traffic > gathered else crossing


def _unsharded_sides(
    source: TensorSharding, target: TensorSharding, shapes: tuple[Shape, Shape], mesh: Mesh
) -> tuple[TensorSharding, TensorSharding]:
    """Return both shardings without the axes of split or merged dimensions, or without any."""
    groups = [group for group in reshape_groups(*shapes) if not passes_through(group, *shapes)]
    new_source = _unsharded(source, [dim for group in groups for dim in group[0]])
    new_target = _unsharded(target, [dim for group in groups for dim in group[1]])
    if place_data_alike(new_source, shapes[0], new_target, shapes[1], mesh):
        return new_source, new_target
    return _unsharded(source, range(source.rank)), _unsharded(target, range(target.rank))


def _widen(
    reshape: ir.Operation,
    source_shape: Shape,
    target_shape: Shape,
    target: TensorSharding,
    cache: AttributeCache,
) -> tuple[ir.Operation, ...]:
    """Reshape a padded operand, and slice the result."""
    value, result = look_through_barriers(reshape.operands[0]), reshape.results[0]
    padding = PaddingBuilder(cache)
    with reshape.location, ir.InsertionPoint(reshape):
        padded = padding.resized(value, source_shape)
        widened = padding.sharded(target).reshape(padded, target_shape)
        cut = padding.resized(widened, shape_of(result.type))
    result.replace_all_uses_with(cut)
    reshape.erase()
    resizing = (each.owner.operation for each in (padded, cut) if each not in (value, widened))
    return tuple(resizing)


def _reshard_between(
    reshape: ir.Operation,
    between: tuple[Side, Side],
    target: TensorSharding,
    cache: AttributeCache,
) -> None:
    """Reshape to a shape between both sides, reshard there, and reshape the result."""
    before, after = between
    value, result = reshape.operands[0], reshape.results[0]
    source = get_sharding(look_through_barriers(value))
    first, second = (
        TensorSharding.from_axes(target.mesh_or_ref, side.axes) for side in (before, after)
    )
    padding = PaddingBuilder(cache)
    with reshape.location, ir.InsertionPoint(reshape):
        is_there = source is not None and source.dim_axes == before.axes
        if not (is_there and shape_of(value.type) == before.shape):
            value = padding.sharded(first).reshape(value, before.shape)
        value = sdy.reshard(value, cache[second])
    if after.shape == shape_of(result.type) and after.axes == target.dim_axes:
        result.replace_all_uses_with(value)
        reshape.erase()
    else:
        reshape.operands[0] = value


def _unsharded(sharding: TensorSharding, dims: Sequence[int]) -> TensorSharding:
    replaced = {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
    return sharding.with_dims_replaced(replaced)


def _surround(
    reshape: ir.Operation,
    source: tuple[TensorSharding, TensorSharding],
    target: tuple[TensorSharding, TensorSharding],
    cache: AttributeCache,
) -> None:
    """Reshard the operand before and the result after a reshape, from old to new and back."""
    if source[0] != source[1]:
        reshape.operands[0] = sdy.reshard(
            reshape.operands[0],
            cache[source[1]],
            loc=reshape.location,
            ip=ir.InsertionPoint(reshape),
        )
    if target[0] != target[1]:
        set_result_shardings_of(reshape, {0: target[1]}, cache)
        back = sdy.reshard(
            reshape.results[0],
            cache[target[0]],
            loc=reshape.location,
            ip=ir.InsertionPoint.after(reshape),
        )
        reshape.results[0].replace_all_uses_except(back, back.owner.operation)
