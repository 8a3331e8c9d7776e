# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshards between uneven shardings, whose shards have different sizes.

10 rows in two halves are 5 and 5, but in four shards 3, 3, 3 and 1: the first half holds rows 0 to
4, but the first two shards hold rows 0 to 5. Padded to 12 first, which is an exchange of that one
row, the halves hold 6 rows, and each is divided without communication:

    %1 = sdy.reshard %0 <@mesh, [{"x", "y"}]> : tensor<10xf32>     // %0 is sharded by [{"x"}]

becomes

    %1 = stablehlo.pad %0, %zero, high = [2] : (tensor<10xf32>, tensor<f32>) -> tensor<12xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x", "y"}]> : tensor<12xf32>
    %3 = stablehlo.slice %2 [0:10] : (tensor<12xf32>) -> tensor<10xf32>

In the opposite direction, the slice is the exchange.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, Shape, TensorSharding, mesh_of
from mlir_sdy.model.axis_prefix import is_strict_prefix
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, look_through_barriers
from pyshardy.cost.collectives import PlannedCollective, Traffic, traffic_of
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import padded_size, shape_of
from pyshardy.partition.halo.windowed import is_resizing_profitable, resizing_permutes
from pyshardy.partition.resharding.cost import (
    Reshard,
    reshard_collectives,
)
from pyshardy.partition.types.padding_builder import PaddingBuilder


def widen_reshard(
    reshard: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache
) -> tuple[ir.Operation, ...]:
    """Reshard a padded tensor instead, whose shards can be divided or joined as they are.

    Args:
        reshard: the reshard, which is replaced.
        meshes: the meshes of the module by name.
        cache: makes attributes.

    Returns:
        The pad and the slice around the new reshard, for which shards have to exchange elements;
        empty if the reshard stays, since no dimension needs padding (see `wide_shape`), or it is
        not profitable.
    """
    value = look_through_barriers(reshard.operands[0])
    source, target = get_sharding(value), get_sharding(reshard.results[0])
    if source is None or target is None or source.unreduced_axes or target.unreduced_axes:
        return ()
    mesh, shape = mesh_of(source, meshes), shape_of(value.type)
    is_static = all(size > 0 for size in shape)
    if mesh is None or mesh.is_maximal or mesh_of(target, meshes) != mesh or not is_static:
        return ()
    wide = wide_shape(shape, source, target, mesh)
    if wide == shape or not _is_profitable(shape, wide, source, target, mesh):
        return ()
    padding = PaddingBuilder(cache)
    with reshard.location, ir.InsertionPoint(reshard):
        padded = padding.resized(value, wide)
        cut = padding.resized(sdy.reshard(padded, cache[target]), shape)
    replace_by(reshard, cut)
    return padded.owner.operation, cut.owner.operation


def wide_shape(shape: Shape, source: TensorSharding, target: TensorSharding, mesh: Mesh) -> Shape:
    """Return the shape whose padded shards can be divided or joined without other moves.

    1. A dimension is enlarged if it is sharded before and afterwards, the axes of one sharding
       begin with those of the other, and both pad it to different sizes.
    2. Its size is then the one to which the longer list of axes pads it.

    Example: 10 rows from `{"x"}` to `{"x", "y"}` are 12 on a mesh `<["x"=2, "y"=2]>`.
    """
    columns = zip(shape, source.dim_axes, target.dim_axes, strict=True)
    return tuple(_wide_size(size, before, after, mesh) for size, before, after in columns)


def _wide_size(size: int, before: AxisTuple, after: AxisTuple, mesh: Mesh) -> int:
    if not before or not after:
        return size
    if not (is_strict_prefix(before, after) or is_strict_prefix(after, before)):
        return size
    less, more = sorted((mesh.axes_size(before), mesh.axes_size(after)))
    padded_to_less, padded_to_more = (padded_size(size, count) for count in (less, more))
    return size if padded_to_less == padded_to_more else padded_to_more


def exchanging_reshard_traffic(reshard: Reshard, hardware: Hardware) -> Traffic:
    """Return the communication time of a reshard with halo exchange; see `reshard_traffic`."""
    return traffic_of(exchanging_reshard_collectives(reshard), hardware)


def exchanging_reshard_collectives(reshard: Reshard) -> tuple[PlannedCollective, ...]:
    """Return the collectives of a reshard with halo exchange; see `reshard_collectives`."""
    shape, nbytes, mesh = reshard.shape, reshard.nbytes, reshard.mesh
    before, after = (
        TensorSharding.from_axes("mesh", axes) for axes in (reshard.source, reshard.target)
    )
    wide = wide_shape(shape, before, after, mesh)
    if wide == shape or not _is_profitable(shape, wide, before, after, mesh):
        return reshard_collectives(reshard)
    return (
        *resizing_permutes(shape, wide, nbytes, before, mesh),
        *reshard_collectives(replace(reshard, shape=wide)),
        *resizing_permutes(wide, shape, nbytes, after, mesh),
    )


def _is_profitable(
    shape: Shape, wide: Shape, source: TensorSharding, target: TensorSharding, mesh: Mesh
) -> bool:
    """Whether no dimension receives more than by a gather."""
    return all(
        is_resizing_profitable(size, padded, mesh.axes_size(before))
        and is_resizing_profitable(padded, size, mesh.axes_size(after))
        for size, padded, before, after in zip(
            shape, wide, source.dim_axes, target.dim_axes, strict=True
        )
        if size != padded
    )
