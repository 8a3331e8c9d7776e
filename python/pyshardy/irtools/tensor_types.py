# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor types: shapes, elements, and shapes padded to multiples of the shards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, Shape, TensorSharding, mesh_of
from mlir_sdy.values import get_sharding


def shape_of(value_type: ir.Type) -> Shape:
    """Return the sizes of a type, negative if dynamic; none if it is not a ranked tensor."""
    return tuple(value_type.shape) if isinstance(value_type, ir.RankedTensorType) else ()


def element_type_of(value_type: ir.Type) -> ir.Type:
    """Return the element type of a tensor type."""
    return _tensor(value_type).element_type


def _tensor(value_type: ir.Type) -> ir.RankedTensorType:
    """Return a type as a tensor type; the bindings take ten microseconds for a conversion."""
    if isinstance(value_type, ir.RankedTensorType):
        return value_type
    return ir.RankedTensorType(value_type)


def with_shape(value_type: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """Return a tensor type with other sizes."""
    tensor = _tensor(value_type)
    location = ir.Location.unknown(value_type.context)
    return ir.RankedTensorType.get(list(shape), tensor.element_type, tensor.encoding, loc=location)


def with_element(value_type: ir.Type, element_type: ir.Type) -> ir.RankedTensorType:
    """Return a tensor type of the same sizes with other elements."""
    location = ir.Location.unknown(value_type.context)
    return ir.RankedTensorType.get(list(shape_of(value_type)), element_type, loc=location)


def element_bytes(value_type: ir.Type) -> int:
    """Return the bytes of an element of a tensor type, at least 1; 0 for types without elements.

    They are 2 for `tensor<4xbf16>`, and 8 for `tensor<4xcomplex<f32>>`.
    """
    is_tensor = isinstance(value_type, ir.RankedTensorType)
    return bytes_of(value_type.element_type) if is_tensor else 0


def tensor_bytes(value_type: ir.Type) -> int:
    """Return the bytes of a tensor type of static shape; 0 for other types."""
    return element_bytes(value_type) * math.prod(shape_of(value_type))


def bytes_of(element: ir.Type) -> int:
    """Return the bytes of an element type, at least one."""
    if isinstance(element, ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    is_number = isinstance(element, ir.IntegerType | ir.FloatType)
    return -(-element.width // 8) if is_number else 1


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
