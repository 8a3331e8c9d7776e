# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensor types: shapes, elements, bytes, and the sizes of shards with their padding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, Shape, TensorSharding, mesh_of
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


def is_bounded(value_type: ir.Type) -> bool:
    """Whether the dynamic sizes of a type have bounds: `tensor<?xf32, #stablehlo.bounds<8>>`."""
    encoding = value_type.encoding if isinstance(value_type, ir.RankedTensorType) else None
    return str(encoding).startswith("#stablehlo.bounds")


def bounds_of(value_type: ir.Type) -> list[int | None]:
    """Return the largest sizes of the dimensions of a tensor type, None for those without."""
    shape = shape_of(value_type)
    if not is_bounded(value_type):
        return [None] * len(shape)
    texts = str(_tensor(value_type).encoding).partition("<")[2].rstrip(">").split(", ")
    return [int(text) if text.isdecimal() else None for text in texts]


def with_shape(value_type: ir.Type, shape: Sequence[int]) -> ir.RankedTensorType:
    """Return a tensor type with other sizes; static ones have no bounds."""
    tensor = _tensor(value_type)
    encoding, location = tensor.encoding, ir.Location.unknown(value_type.context)
    if encoding is not None and is_bounded(tensor) and min(shape, default=0) >= 0:
        encoding = None
    return ir.RankedTensorType.get(list(shape), tensor.element_type, encoding, loc=location)


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


def bytes_of(element: ir.Type) -> int:
    """Return the bytes of an element type, at least one."""
    if isinstance(element, ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    is_number = isinstance(element, ir.IntegerType | ir.FloatType)
    return -(-element.width // 8) if is_number else 1


def tensor_bytes(value_type: ir.Type) -> int:
    """Return the bytes of a tensor type; 0 for dynamic shapes, and for types without elements."""
    shape = shape_of(value_type)
    is_static = min(shape, default=0) >= 0
    return element_bytes(value_type) * math.prod(shape) if is_static else 0


# --- Shards --------------------------------------------------------------------------------------


def size_of_shard(size: int, num_shards: int) -> int:
    """Return the size of a shard of a dimension, padding included: 3 for 7 elements in 3 shards."""
    return -(-size // num_shards)


def padded_size(size: int, num_shards: int) -> int:
    """Return the size of all shards of a dimension: 9 for 7 elements in 3 shards."""
    return -(-size // num_shards) * num_shards


def shard_shape(shape: Sequence[int], axes: Iterable[Sequence[AxisRef]], mesh: Mesh) -> list[int]:
    """Return the sizes of a shard, padding included.

    Args:
        shape: the global shape, or the sizes of the factors of an operation.
        axes: the axes of each dimension, or of each factor.
        mesh: the mesh.
    """
    return [
        -(-size // mesh.axes_size(refs)) if refs else size
        for size, refs in zip(shape, axes, strict=True)
    ]


def shard_elements(shape: Sequence[int], axes: Iterable[Sequence[AxisRef]], mesh: Mesh) -> int:
    """Return the number of elements of a shard, padding included; see `shard_shape`."""
    return math.prod(shard_shape(shape, axes, mesh))


def shard_bytes(value_type: ir.Type, axes: Iterable[Sequence[AxisRef]], mesh: Mesh) -> int:
    """Return the bytes of a shard of a tensor of static shape, padding included."""
    return element_bytes(value_type) * shard_elements(shape_of(value_type), axes, mesh)


def is_even(shape: Sequence[int], axes: Iterable[Sequence[AxisRef]], mesh: Mesh) -> bool:
    """Whether the axes of each dimension divide it, so that no shard has padding."""
    return all(
        not refs or size % mesh.axes_size(refs) == 0 for size, refs in zip(shape, axes, strict=True)
    )


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
    return _padded_shape(shape, sharding, mesh)


@lru_cache(maxsize=4096)  # layers of a model repeat
def _padded_shape(shape: Shape, sharding: TensorSharding, mesh: Mesh) -> Shape:
    return sharding.global_shape(sharding.local_shape(shape, mesh), mesh)


def padded_shape_of(value: ir.Value, meshes: Mapping[str, Mesh]) -> Shape:
    """Return the padded shape of a value that is not padded yet."""
    shape = shape_of(value.type)
    return padded_shape(shape, get_sharding(value), meshes) if shape else shape
