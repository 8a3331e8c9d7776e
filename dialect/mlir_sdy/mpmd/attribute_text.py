# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parsing the text of the attributes and types of the mpmd dialect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_sdy.assembly.attribute_text import (
    followed_by,
    list_of,
    non_empty_list,
    or_full,
    parameter,
    read_mesh,
    read_sharding,
)
from mlir_sdy.assembly.source import Cursor
from mlir_sdy.diagnostics import ParseError
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
    kinds = ", ".join(kind.name.lower() for kind in MeshReduction)
    raise followed_by(
        cursor.unexpected(f"::mlir::mpmd::ReductionType to be one of: {kinds}"),
        "failed to parse Mpmd_Reduction parameter 'reduction_type' which is to be a "
        "`::mlir::mpmd::ReductionType`",
    )


def read_named_mesh(cursor: Cursor) -> NamedMesh:
    """Read `<"m1" : <["x"=2]>>`."""
    cursor.token("<")
    name = _mesh_name(cursor)
    cursor.token(":")
    mesh = _mesh(cursor)
    cursor.token(">")
    return NamedMesh(name, mesh)


_mesh_name = parameter(
    lambda cursor: cursor.string("the name of a mesh"),
    "Mpmd_NamedMesh",
    "name",
    "::llvm::StringRef",
)
_mesh = parameter(or_full("mesh", read_mesh), "Mpmd_NamedMesh", "mesh", "sdy::MeshAttr")


def read_topology(cursor: Cursor) -> Topology:
    """Read `<<"m1" : <["x"=2]>>, <"m2" : <["x"=2]>>>`."""
    cursor.skip_blank()
    start = cursor.position
    meshes = _meshes(cursor)
    try:
        return Topology(meshes)
    except ModelError as reason:
        raise cursor.source.error(str(reason), start) from None


def read_short_origin(cursor: Cursor) -> UserOrigin:
    """Read `"f"(1)`."""
    try:
        return _read_origin(cursor, cursor.string("the name of a computation"))
    except ParseError as error:
        raise followed_by(error, "could not parse user origin.") from None


def _read_origin(cursor: Cursor, name: str) -> UserOrigin:
    if not cursor.try_token("("):
        return UserOrigin(name, 0)
    try:
        count = cursor.integer("the transpose count")
    except ParseError as error:
        raise followed_by(error, "could not parse transpose count value.") from None
    cursor.token(")")
    return UserOrigin(name, count)


def read_user_origin(cursor: Cursor) -> UserOrigin:
    """Read `<"f"(1)>`."""
    cursor.token("<")
    origin = _read_origin(cursor, _user_name(cursor))
    cursor.token(">")
    return origin


_user_name = parameter(
    lambda cursor: cursor.string("the name of a computation", "attribute value"),
    "Mpmd_UserOrigin",
    "userName",
    "::mlir::StringAttr",
)


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
    name = _mesh_with_origins_name(cursor)
    return MeshWithOrigins(name, _origins(cursor) if cursor.peek("[") else ())


_mesh_with_origins_name = parameter(
    lambda cursor: cursor.string("the name of a mesh"),
    "Mpmd_MeshWithOrigins",
    "mesh_name",
    "::llvm::StringRef",
)
_origin = parameter(
    lambda cursor: cursor.string("an origin"), "Mpmd_Origin", "origin_label", "::llvm::StringRef"
)
_origins = parameter(
    lambda cursor: list_of(cursor, "[", _origin, "]"),
    "Mpmd_MeshWithOrigins",
    "origins",
    "::llvm::ArrayRef<OriginAttr>",
)


def read_meshes_with_origins(cursor: Cursor) -> MeshesWithOrigins:
    """Read `<"m1"["a", "b"], "m2">`."""
    return MeshesWithOrigins(_meshes_with_origins(cursor))


_meshes_with_origins = parameter(
    lambda cursor: list_of(cursor, "<", _read_short_mesh, ">"),
    "Mpmd_MeshesWithOrigins",
    "value",
    "::llvm::ArrayRef<MeshWithOriginsAttr>",
)


def read_mesh_tensor(cursor: Cursor) -> MeshTensor:
    """Read `<"m1", tensor<4x8xf32>, sharding=<@mesh, [{"x"}, {}]>, memory_kind="device">`."""
    cursor.token("<")
    name = cursor.string("the name of a mesh", "attribute value")
    cursor.token(",")
    cursor.skip_blank()
    start = cursor.position
    tensor = cursor.type()
    if not tensor.startswith(("tensor<", "!")):
        raise cursor.source.error(
            f"invalid kind of type specified: expected builtin.tensor, but found '{tensor}'", start
        )
    sharding = kind = None
    has_comma = cursor.try_token(",")
    if has_comma and cursor.try_keyword("sharding"):
        cursor.token("=")
        sharding = or_full("sharding", read_sharding)(cursor)
        has_comma = cursor.try_token(",")
    if has_comma:
        cursor.keyword("memory_kind")
        cursor.token("=")
        kind = cursor.string("a memory kind", "attribute value")
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
        what = " type" if sigil == "!" else "attribute"  # with two blanks, as in C++ Shardy
        raise cursor.source.error(f"unknown {what} `{mnemonic}` in dialect `mpmd`", start)
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
_meshes = parameter(
    lambda cursor: non_empty_list(cursor, "<", _named_mesh, ">", "'<': at least one mesh"),
    "Mpmd_Topology",
    "meshes",
    "::llvm::ArrayRef<NamedMeshAttr>",
)
