# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shapes of tensors, and padded shapes: dimensions rounded up to multiples of their shards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.values import get_sharding, rank_of

Shape = tuple[int, ...]


def shape_of(value_type: ir.Type) -> Shape:
    """Return the sizes of a type, negative if dynamic; none if it is not a ranked tensor."""
    return tuple(ir.RankedTensorType(value_type).shape) if rank_of(value_type) else ()


def with_shape(value_type: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """Return a tensor type with other sizes."""
    tensor = ir.RankedTensorType(value_type)
    location = ir.Location.unknown(value_type.context)
    return ir.RankedTensorType.get(list(shape), tensor.element_type, tensor.encoding, loc=location)


def padded_shape(
    shape: Shape, sharding: TensorSharding | None, meshes: Mapping[str, Mesh]
) -> Shape:
    """Return the shape of all shards together, which are of equal size.

    Example: on a mesh `<["x"=4]>`, (7, 3) with `[{"x"}, {}]` is padded to (8, 3).
    """
    if sharding is None or sharding.is_fully_replicated:
        return shape
    mesh = mesh_of(sharding, meshes)
    if mesh is None or mesh.is_maximal:
        return shape
    return sharding.global_shape(sharding.local_shape(shape, mesh), mesh)


def padded_shape_of(value: ir.Value, meshes: Mapping[str, Mesh]) -> Shape:
    """Return the padded shape of a value that is not padded yet."""
    shape = shape_of(value.type)
    return padded_shape(shape, get_sharding(value), meshes) if shape else shape
