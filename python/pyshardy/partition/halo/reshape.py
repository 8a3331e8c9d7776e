# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes whose shards don't hold the same data before and after.

The factors of a reshape say which parts of its dimensions correspond, but sharding such a part is
free of communication only if the shards on both sides hold the same data. Where they don't, the
dimensions in question are made whole around the operation:

    %1 = stablehlo.reshape %0 : (tensor<12x24xf32>) -> tensor<8x36xf32>
    // %0 is sharded by [{}, {"x"}]: a shard holds halves of rows of 24, not of rows of 36

becomes

    %1 = sdy.reshard %0 <@mesh, [{}, {}]>
    %2 = stablehlo.reshape %1 : (tensor<12x24xf32>) -> tensor<8x36xf32>

Where axes don't divide a dimension that is split or merged, shards exchange what they lack instead:

    %1 = stablehlo.reshape %0 : (tensor<20xf32>) -> tensor<10x2xf32>
    // both are sharded by {"x"} of size 4: pieces of 5 elements, and of 3 rows of 2

becomes

    %1 = stablehlo.pad %0, %zero, high = [4] : (tensor<20xf32>, tensor<f32>) -> tensor<24xf32>
    %2 = stablehlo.reshape %1 : (tensor<24xf32>) -> tensor<12x2xf32>
    %3 = stablehlo.slice %2 [0:10, 0:2] : (tensor<12x2xf32>) -> tensor<10x2xf32>
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, mesh_of, place_data_alike
from mlir_sdy.values import behind_barriers, get_sharding, set_result_shardings_of
from pyshardy.partition.agreement import shape_of
from pyshardy.partition.factor_axes import Shape
from pyshardy.partition.halo.windowed import resizing_pays
from pyshardy.partition.padding.builder import PaddingBuilder
from pyshardy.partition.padding.shapes import with_shape
from pyshardy.partition.reshape_groups import passes_through, reshape_groups


def resolve_reshape(
    reshape: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache, *, exchanges: bool
) -> tuple[ir.Operation, ...]:
    """Surround a reshape by what moves data, if it would need communication.

    Args:
        reshape: the reshape.
        meshes: the meshes of the module by name.
        cache: makes attributes.
        exchanges: whether shards may exchange data.

    Returns:
        The pad and the slice around it that move elements yet; nothing if there are reshards, or
        if no data has to move.
    """
    source = get_sharding(behind_barriers(reshape.operands[0]))
    target = get_sharding(reshape.results[0])
    given = source or target
    mesh = None if given is None else mesh_of(given, meshes)
    if given is None or mesh is None or mesh.is_maximal:
        return ()
    shapes = shape_of(reshape.operands[0]), shape_of(reshape.results[0])
    if not all(size >= 0 for shape in shapes for size in shape):
        return ()
    source, target = (
        sharding or TensorSharding.fully_closed(len(shape), given.mesh_or_ref)
        for sharding, shape in zip((source, target), shapes, strict=True)
    )
    if place_data_alike(source, shapes[0], target, shapes[1], mesh):
        return ()
    wide = wide_shapes(*shapes, source, target, mesh) if exchanges else None
    if wide is not None:
        return _widen(reshape, *wide, target, cache)
    groups = [group for group in reshape_groups(*shapes) if not passes_through(group, *shapes)]
    new_source = _whole(source, [dim for group in groups for dim in group[0]])
    new_target = _whole(target, [dim for group in groups for dim in group[1]])
    if not place_data_alike(new_source, shapes[0], new_target, shapes[1], mesh):
        new_source = _whole(source, range(source.rank))
        new_target = _whole(target, range(target.rank))
    _surround(reshape, (source, new_source), (target, new_target), cache)
    return ()


def wide_shapes(
    source_shape: Shape,
    target_shape: Shape,
    source: TensorSharding,
    target: TensorSharding,
    mesh: Mesh,
) -> tuple[Shape, Shape] | None:
    """Shapes between which shards hold the same data, at the beginning of whose dimensions it is.

    1. In a group (see `reshape_groups`) where one dimension is split into several, or several are
       merged, the one and the first of the several may be larger: as large as the first is padded
       to by its axes, and the one as many times that.
    2. Both are sharded by the same axes, and the other dimensions are not.
    3. No dimension receives more by that than if it were gathered.
    4. With these shapes all shards hold the same data before and afterwards; else it is None.

    Example: `(20,)` and `(10, 2)` sharded by an axis of size 4 are `(24,)` and `(12, 2)`.
    """
    wide = list(source_shape), list(target_shape)
    for group in reshape_groups(source_shape, target_shape):
        fewer, more = sorted(map(len, group))
        if fewer != 1 or more == 1:
            continue
        one_is_source = len(group[0]) == 1
        (one,), (first, *others) = group if one_is_source else reversed(group)
        of_one, of_several = (source, target) if one_is_source else (target, source)
        sizes, several = wide if one_is_source else reversed(wide)
        axes = of_one.dim_axes[one]
        is_sharded_alike = axes == of_several.dim_axes[first]
        if not is_sharded_alike or any(of_several.dim_axes[dim] for dim in others):
            continue
        pieces = mesh.axes_size(axes)
        rows = -(-several[first] // pieces) * pieces
        wanted = rows * math.prod(several[dim] for dim in others)
        before, after = (sizes[one], wanted) if one_is_source else (wanted, sizes[one])
        if wanted != sizes[one] and not resizing_pays(before, after, pieces):
            return None
        several[first], sizes[one] = rows, wanted
    new_source, new_target = map(tuple, wide)
    if not place_data_alike(source, new_source, target, new_target, mesh):
        return None
    return new_source, new_target


def _widen(
    reshape: ir.Operation,
    source_shape: Shape,
    target_shape: Shape,
    target: TensorSharding,
    cache: AttributeCache,
) -> tuple[ir.Operation, ...]:
    """Reshape a padded operand, and cut the result."""
    value, result = behind_barriers(reshape.operands[0]), reshape.results[0]
    padding = PaddingBuilder(cache)
    with reshape.location, ir.InsertionPoint(reshape):
        padded = padding.resized(value, source_shape)
        widened = padding.create(
            reshape.name, (padded,), with_shape(result.type, target_shape), {}, target
        )
        cut = padding.resized(widened, shape_of(result))
    result.replace_all_uses_with(cut)
    reshape.erase()
    resizing = (each.owner.operation for each in (padded, cut) if each not in (value, widened))
    return tuple(resizing)


def _whole(sharding: TensorSharding, dims: Sequence[int]) -> TensorSharding:
    replaced = {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
    return sharding.with_dims_replaced(replaced)


def _surround(
    reshape: ir.Operation,
    source: tuple[TensorSharding, TensorSharding],
    target: tuple[TensorSharding, TensorSharding],
    cache: AttributeCache,
) -> None:
    """Reshard the operand before and the result behind a reshape, from old to new and back."""
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
