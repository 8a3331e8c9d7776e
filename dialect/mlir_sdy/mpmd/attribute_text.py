# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parsing the text of the attributes and types of the mpmd dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_sdy.assembly.attribute_text import (
    list_of,
    non_empty_list,
    or_full,
    read_mesh,
    read_sharding,
)
from mlir_sdy.assembly.source import Cursor
from mlir_sdy.model.errors import ModelError
from mlir_sdy.mpmd.values import (
    MeshesWithOrigins,
    MeshReduction,
    MeshTensor,
    MeshWithOrigins,
    NamedMesh,
    Topology,
    UserOrigin,
    UserOrigins,
)


def read_reduction(cursor: Cursor) -> MeshReduction:
    """Read `<max>`."""
    cursor.token("<")
    cursor.skip_blank()
    start = cursor.position
    word = cursor.try_word()
    for kind in MeshReduction:
        if kind.name.lower() == word:
            cursor.token(">")
            return kind
    cursor.position = start
    raise cursor.unexpected(
        "one of " + ", ".join(f"'{kind.name.lower()}'" for kind in MeshReduction)
    )


def read_named_mesh(cursor: Cursor) -> NamedMesh:
    """Read `<"m1" : <["x"=2]>>`."""
    cursor.token("<")
    name = cursor.string("the name of a mesh")
    cursor.token(":")
    mesh = or_full("mesh", read_mesh)(cursor)
    cursor.token(">")
    return NamedMesh(name, mesh)


def read_topology(cursor: Cursor) -> Topology:
    """Read `<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>`."""
    cursor.skip_blank()
    start = cursor.position
    meshes = non_empty_list(cursor, "<", _named_mesh, ">", "mesh")
    try:
        return Topology(meshes)
    except ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


def read_short_origin(cursor: Cursor) -> UserOrigin:
    """Read `"f"(1)`."""
    name = cursor.string("the name of a computation")
    count = 0
    if cursor.try_token("("):
        count = cursor.integer("the transpose count")
        cursor.token(")")
    return UserOrigin(name, count)


def read_user_origin(cursor: Cursor) -> UserOrigin:
    """Read `<"f"(1)>`."""
    cursor.token("<")
    origin = read_short_origin(cursor)
    cursor.token(">")
    return origin


def read_user_origins(cursor: Cursor) -> UserOrigins:
    """Read `["f", "g"(1)]`."""
    return UserOrigins(list_of(cursor, "[", _either("user_origin", read_short_origin), "]"))


def read_mesh_with_origins(cursor: Cursor) -> MeshWithOrigins:
    """Read `<"m1"["a", "b"]>`."""
    cursor.token("<")
    mesh = _read_short_mesh(cursor)
    cursor.token(">")
    return mesh


def _read_short_mesh(cursor: Cursor) -> MeshWithOrigins:
    name = cursor.string("the name of a mesh")
    origins: tuple[str, ...] = ()
    if cursor.peek("["):
        origins = list_of(cursor, "[", lambda inner: inner.string("an origin"), "]")
    return MeshWithOrigins(name, origins)


def read_meshes_with_origins(cursor: Cursor) -> MeshesWithOrigins:
    """Read `<"m1"["a", "b"], "m2">`."""
    return MeshesWithOrigins(list_of(cursor, "<", _read_short_mesh, ">"))


def read_mesh_tensor(cursor: Cursor) -> MeshTensor:
    """Read `<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="device">`."""
    cursor.token("<")
    name = cursor.string("the name of a mesh")
    cursor.token(",")
    cursor.skip_blank()
    start = cursor.position
    tensor = cursor.type()
    if not tensor.startswith(("tensor<", "!")):
        raise cursor.source.error("expected a ranked tensor", start)
    sharding = kind = None
    has_comma = cursor.try_token(",")
    if has_comma and cursor.try_keyword("sharding"):
        cursor.token("=")
        sharding = or_full("sharding", read_sharding)(cursor)
        has_comma = cursor.try_token(",")
    if has_comma:
        cursor.keyword("memory_kind")
        cursor.token("=")
        kind = cursor.string("a memory kind")
    cursor.token(">")
    return MeshTensor(name, tensor, sharding, kind)


BODIES: dict[str, Callable[[Cursor], Any]] = {
    "mesh_tensor": read_mesh_tensor,
    "mesh_with_origins": read_mesh_with_origins,
    "meshes_with_origins": read_meshes_with_origins,
    "named_mesh": read_named_mesh,
    "reduction": read_reduction,
    "topology": read_topology,
    "user_origin": read_user_origin,
}
"""The reader of each body, by the name of the attribute or type."""

_NAMES = {
    MeshTensor: "!mpmd.mesh_tensor",
    MeshWithOrigins: "#mpmd.mesh_with_origins",
    MeshesWithOrigins: "#mpmd.meshes_with_origins",
    NamedMesh: "#mpmd.named_mesh",
    MeshReduction: "#mpmd.reduction",
    Topology: "#mpmd.topology",
    UserOrigin: "#mpmd.user_origin",
}

_FULL_FORMS = ("#mpmd.", "#mpmd<", "!mpmd.", "!mpmd<")


def read_full(cursor: Cursor) -> Any:
    """Read `#mpmd.NAME<...>`, `#mpmd<NAME<...>>` or the same with `!`."""
    sigil = cursor.text[cursor.position]
    cursor.token(f"{sigil}mpmd")
    is_inside = cursor.text.startswith("<", cursor.position)
    cursor.position += 1
    start = cursor.position
    mnemonic = cursor.try_word()
    read = BODIES.get(mnemonic or "")
    if read is None or (mnemonic == "mesh_tensor") != (sigil == "!"):
        what = "type" if sigil == "!" else "attribute"
        raise cursor.source.error(f"unknown {what} '{mnemonic}' in dialect 'mpmd'", start)
    value = read(cursor)
    if is_inside:
        cursor.token(">")
    return value


def full_text(value: Any) -> str:
    """Return the full form of an attribute or type."""
    return f"{_NAMES[type(value)]}{value}"


def _either(mnemonic: str, read: Callable[[Cursor], Any]) -> Callable[[Cursor], Any]:
    """Extend a reader of a short form to the full form and aliases."""

    def read_either(cursor: Cursor) -> Any:
        if not cursor.peek("#"):
            return read(cursor)
        start = cursor.position
        at = cursor
        while not at.text.startswith(_FULL_FORMS, at.position):
            at = at.alias()
        value = read_full(at)
        if _NAMES[type(value)] != f"#mpmd.{mnemonic}":
            raise cursor.source.error(f"expected a '{mnemonic}' attribute", start)
        return value

    return read_either


_named_mesh = _either("named_mesh", read_named_mesh)
