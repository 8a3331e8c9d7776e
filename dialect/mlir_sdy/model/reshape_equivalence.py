# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of the data placement of a tensor and of its reshape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.sharding import Shape, TensorSharding


@dataclass(frozen=True, slots=True)
class _Placed:
    """An axis of a dimension, and its position in the row-major data.

    Attributes:
        axis: the ref.
        stride: the distance in the data of two neighbors along the axis.
        prefix: the number of slices by more major sizes and axes.
        dim_size: the size of the dimension.
    """

    axis: AxisRef
    stride: int
    prefix: int
    dim_size: int


@lru_cache(maxsize=4096)  # layers repeat
def place_data_alike(
    first: TensorSharding,
    first_shape: Shape,
    second: TensorSharding,
    second_shape: Shape,
    mesh: Mesh,
    *,
    lenient: bool = False,
) -> bool:
    """Whether two shardings of tensors of equal size place the row-major data equally.

    1. Equal shardings of equal shapes do.
    2. Otherwise both must name the same mesh and replicate the same axes, and the sizes be static.
    3. Each axis of each dimension gets a *stride* and a *prefix*. With c the product of the
       sizes of the more minor dimensions, a dimension of size D that is split into T shards, and
       axes a1, ..., an: the stride of an is `c * ceil(D / T)` (lenient: `c * D / T`, exactly),
       and that of each axis before it is the next one's stride times its size. The prefix of ai
       is the product of the sizes of the more major dimensions and of a1, ..., a(i-1).
    4. Sort by stride, and merge neighbors that are adjacent parts of one axis if the more major
       one, y, continues the more minor one, x: `stride(y) = stride(x) * size(x)`; lenient:
       `prefix(x) = prefix(y)`, or y takes up all of its dimension and
       `prefix(x) = prefix(y) * size(y)`.
    5. They are equal if both lists then have the same axes with the same strides (lenient:
       prefixes); strict: and if their shards have equal numbers of elements. Shardy omits the last
       condition and treats `[{}, {"x"}]` of (2, 4) as equal to that of (4, 2) if `x` has 4 devices,
       of which two hold only padding of the latter.

    On `<["x"=2, "y"=2]>`, `[{"x"}, {"y"}]` of (2, 4) places the data like `[{"x", "y"}]` of (8,).

    Args:
        first: the sharding on the one side.
        first_shape: the shape on the one side.
        second: the sharding on the other side.
        second_shape: the shape on the other side.
        mesh: the mesh that the shardings refer to.
        lenient: whether to compare the positions of the axes instead of the sizes of shards.
    """
    if first == second and first_shape == second_shape:
        return True
    if first.mesh_or_ref != second.mesh_or_ref or first.replicated_axes != second.replicated_axes:
        return False
    if min((*first_shape, *second_shape), default=0) < 0:
        return False
    local_sizes = [
        math.prod(value.local_shape(shape, mesh))
        for value, shape in ((first, first_shape), (second, second_shape))
    ]
    if not lenient and local_sizes[0] != local_sizes[1]:
        return False
    # In the lenient form strides are fractions, which this factor scales to integers.
    scale = math.prod((*first.sharded_sizes(mesh), *second.sharded_sizes(mesh))) if lenient else 1
    one = _merged(_placed_axes(first, first_shape, mesh, lenient, scale), mesh, lenient)
    other = _merged(_placed_axes(second, second_shape, mesh, lenient, scale), mesh, lenient)
    return len(one) == len(other) and all(
        left.axis == right.axis
        and (left.prefix == right.prefix if lenient else left.stride == right.stride)
        for left, right in zip(one, other, strict=True)
    )


def _placed_axes(
    sharding: TensorSharding, shape: Shape, mesh: Mesh, lenient: bool, scale: int
) -> list[_Placed]:
    """Return the axes of all dimensions by ascending stride."""
    placed: list[_Placed] = []
    minor_size = 1
    for dim in reversed(range(sharding.rank)):
        size = shape[dim]
        axes = sharding.dim_shardings[dim].axes
        num_shards = mesh.axes_size(axes)
        # Of a lenient stride, `scale` holds the denominator; strict ones have a scale of 1.
        stride = minor_size * (size * scale // num_shards if lenient else -(-size // num_shards))
        prefix = math.prod(shape[:dim]) * num_shards
        for axis in reversed(axes):
            axis_size = axis.size(mesh)
            prefix //= axis_size
            placed.append(_Placed(axis, stride, prefix, size))
            stride *= axis_size
        minor_size *= size
    return sorted(placed, key=lambda entry: entry.stride)


def _merged(placed: list[_Placed], mesh: Mesh, lenient: bool) -> list[_Placed]:
    """Merge neighbors that are adjacent parts of one axis."""
    merged: list[_Placed] = []
    for major in placed:
        minor = merged[-1] if merged else None
        if minor is not None and _continues(minor, major, mesh, lenient):
            axis = major.axis.merge(minor.axis, mesh)
            prefix = min(minor.prefix, major.prefix)
            merged[-1] = _Placed(axis, minor.stride, prefix, major.dim_size)
        else:
            merged.append(major)
    return merged


def _continues(minor: _Placed, major: _Placed, mesh: Mesh, lenient: bool) -> bool:
    if not major.axis.can_merge(minor.axis):
        return False
    if not lenient:
        return major.stride == minor.stride * minor.axis.size(mesh)
    size = major.axis.size(mesh)
    return minor.prefix == major.prefix or (
        size == major.dim_size and minor.prefix == major.prefix * size
    )
