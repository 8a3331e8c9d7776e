# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion between the attributes and types of the mpmd dialect and their plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_sdy import attributes as of_sdy
from mlir_sdy.host import cext, current_context, ir
from mlir_sdy.mpmd.values import (
    PINNED_HOST,
    MeshesWithOrigins,
    MeshReduction,
    MeshTensor,
    MeshWithOrigins,
    NamedMesh,
    Topology,
    UserOrigin,
    UserOrigins,
)

MESH_TENSOR = "mpmd.mesh_tensor"


class MpmdAttributeCache(of_sdy.AttributeCache):
    """Attributes and types of both dialects by their plain values, each built once."""

    def __missing__(self, value: Any) -> Any:
        value_class: type[Any] = value.__class__
        encode = _ENCODERS.get(value_class)
        if encode is None:
            return super().__missing__(value)
        with self.context:
            attribute = self[value] = encode(self, value)
        return attribute


def attribute_of(value: Any, context: ir.Context | None = None) -> Any:
    """Build the attribute or type of a plain value."""
    context = current_context() if context is None else context
    return MpmdAttributeCache(context)[value]


class MpmdAttribute(ir.DynamicAttr):
    """An attribute of the dialect."""


class MeshTensorType(ir.DynamicType):
    """The type of a value on a mesh."""

    @property
    def mesh_name(self) -> str:
        """The name of the mesh."""
        return ir.StringAttr(self.params[0]).value

    @property
    def global_type(self) -> ir.RankedTensorType:
        """The type of the whole tensor."""
        return ir.RankedTensorType(ir.TypeAttr(self.params[1]).value)

    @property
    def sharding(self) -> of_sdy.TensorShardingAttr | None:
        """The sharding; None for a replicated tensor."""
        sharding = self.params[2].maybe_downcast()
        return None if isinstance(sharding, ir.UnitAttr) else sharding

    @property
    def memory_kind(self) -> str | None:
        """The kind of memory, if it is given."""
        kind = self.params[3].maybe_downcast()
        return None if isinstance(kind, ir.UnitAttr) else kind.value

    @property
    def is_on_host(self) -> bool:
        """Whether the value is in the memory of the host."""
        return self.memory_kind == PINNED_HOST

    def replaced(self, **parameters: Any) -> MeshTensorType:
        """Return the type with other parameters, by their names in `mesh_tensor`."""
        current: dict[str, Any] = {
            "mesh_name": self.mesh_name,
            "sharding": self.sharding,
            "memory_kind": self.memory_kind,
        }
        return mesh_tensor(self.global_type, **{**current, **parameters})


def mesh_tensor(
    global_type: ir.Type,
    mesh_name: str,
    sharding: ir.Attribute | None = None,
    memory_kind: str | None = None,
) -> MeshTensorType:
    """Return the type of a tensor on a mesh."""
    with global_type.context:
        parameters = [
            ir.StringAttr.get(mesh_name),
            ir.TypeAttr.get(global_type),
            ir.UnitAttr.get() if sharding is None else sharding,
            ir.UnitAttr.get() if memory_kind is None else ir.StringAttr.get(memory_kind),
        ]
        return MeshTensorType(ir.DynamicType.get(MESH_TENSOR, parameters))


def register_classes(context: ir.Context) -> None:
    """Register the classes, so that the bindings return them for attributes and types of the IR."""
    with context:
        for name in _NAMES:
            kind = ir.DynamicAttr.lookup_typeid(name)
            cext.register_type_caster(kind, replace=True)(MpmdAttribute)
        kind = ir.DynamicType.lookup_typeid(MESH_TENSOR)
        cext.register_type_caster(kind, replace=True)(MeshTensorType)


def value_of(attribute: Any) -> Any:
    """Return the plain value of an attribute or type of the dialect, or of an array of origins."""
    if isinstance(attribute, ir.ArrayAttr):
        return UserOrigins(tuple(map(value_of, attribute)))
    if isinstance(attribute, MeshTensorType):
        sharding = attribute.sharding
        return MeshTensor(
            attribute.mesh_name,
            str(attribute.global_type),
            None if sharding is None else of_sdy.value_of(sharding),
            attribute.memory_kind,
        )
    parameters: list[Any] = [each.maybe_downcast() for each in attribute.params]
    first, last = parameters[0], parameters[-1]
    match attribute.attr_name.partition(".")[2]:
        case "mesh_with_origins":
            return MeshWithOrigins(first.value, tuple([each.value for each in last]))
        case "meshes_with_origins":
            return MeshesWithOrigins(tuple(map(value_of, first)))
        case "named_mesh":
            return NamedMesh(first.value, of_sdy.value_of(last))
        case "reduction":
            return MeshReduction(first.value)
        case "topology":
            return Topology(tuple(map(value_of, first)))
        case _:
            return UserOrigin(first.value, last.value)


def _dynamic(name: str, *parameters: ir.Attribute) -> ir.Attribute:
    return ir.DynamicAttr.get(f"mpmd.{name}", list(parameters))


def _integer(value: int, bits: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(bits), value)


def _encode_mesh_tensor(cache: MpmdAttributeCache, value: MeshTensor) -> ir.Type:
    sharding = None if value.sharding is None else cache[value.sharding]
    return mesh_tensor(ir.Type.parse(value.tensor), value.mesh_name, sharding, value.memory_kind)


_ENCODERS: dict[type, Callable[[MpmdAttributeCache, Any], Any]] = {
    MeshTensor: _encode_mesh_tensor,
    MeshWithOrigins: lambda _, value: _dynamic(
        "mesh_with_origins",
        ir.StringAttr.get(value.mesh_name),
        ir.ArrayAttr.get(list(map(ir.StringAttr.get, value.origins))),
    ),
    MeshesWithOrigins: lambda cache, value: _dynamic(
        "meshes_with_origins", ir.ArrayAttr.get([cache[each] for each in value.meshes])
    ),
    NamedMesh: lambda cache, value: _dynamic(
        "named_mesh", ir.StringAttr.get(value.name), cache[value.mesh]
    ),
    MeshReduction: lambda _, value: _dynamic("reduction", _integer(int(value), 32)),
    Topology: lambda cache, value: _dynamic(
        "topology", ir.ArrayAttr.get([cache[each] for each in value.meshes])
    ),
    UserOrigin: lambda _, value: _dynamic(
        "user_origin", ir.StringAttr.get(value.name), _integer(value.transpose_count, 64)
    ),
    UserOrigins: lambda cache, value: ir.ArrayAttr.get([cache[each] for each in value.origins]),
}

_NAMES = tuple(
    f"mpmd.{name}"
    for name in (
        "mesh_with_origins",
        "meshes_with_origins",
        "named_mesh",
        "reduction",
        "topology",
        "user_origin",
    )
)
"""The names of the attributes."""


def text_of(each: ir.Type) -> str:
    """Return the text of a type as users write it."""
    return f"!{MESH_TENSOR}{value_of(each)}" if isinstance(each, MeshTensorType) else str(each)
