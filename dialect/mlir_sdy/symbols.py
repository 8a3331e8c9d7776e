# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Look-up of the meshes that shardings refer to."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from mlir_sdy import model
from mlir_sdy.ambient import Ambient
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir

_Meshes = dict[str, model.Mesh]

_known = Ambient[dict[ir.Operation, _Meshes] | None]("meshes", None)


def meshes_unchanged() -> AbstractContextManager[None]:
    """Read the meshes of each module once inside the block, which must not change them.

    To find them among many functions takes as long as to look at all of these, and would be done
    again for each function, or for each operation that a pattern matches.
    """
    return nullcontext() if _known.get() is not None else _known.bound({})


def enclosing_module(operation: ir.Operation | ir.OpView) -> ir.Operation | None:
    """The nearest `builtin.module` around `operation`, or `operation` itself if it is one."""
    return _enclosing(operation, "builtin.module")


def enclosing_function(operation: ir.Operation | ir.OpView) -> ir.Operation | None:
    """The function around `operation`, or `operation` itself if it is one."""
    return _enclosing(operation, "func.func")


def _enclosing(operation: ir.Operation | ir.OpView, name: str) -> ir.Operation | None:
    candidate: ir.Operation | None = operation.operation
    while candidate is not None and candidate.name != name:
        candidate = None if candidate.parent is None else candidate.parent.operation
    return candidate


def meshes_of(module: ir.Module | ir.Operation | ir.OpView) -> dict[str, model.Mesh]:
    """The meshes declared directly in `module`, by the names of their symbols.

    Shardings refer to the nearest module only; outer ones are not searched.
    """
    known = _known.get()
    if known is None:
        return _meshes_in(module)
    meshes = known.get(module.operation)
    if meshes is None:
        meshes = known[module.operation] = _meshes_in(module)
    return dict(meshes)


def _meshes_in(module: ir.Module | ir.Operation | ir.OpView) -> _Meshes:
    meshes: _Meshes = {}
    for view in module.operation.regions[0].blocks[0].operations:
        operation = view.operation
        if operation.name == "sdy.mesh":
            attributes = operation.attributes
            meshes[attributes["sym_name"].value] = value_of(attributes["mesh"])
    return meshes


class MeshesInScope:
    """Cached look-up of the meshes in scope of operations, for modules that don't change."""

    def __init__(self) -> None:
        self._meshes: dict[ir.Operation | None, dict[str, model.Mesh]] = {}

    def around(self, operation: ir.Operation | ir.OpView) -> dict[str, model.Mesh]:
        """The meshes of the nearest module around `operation`, by the names of their symbols."""
        module = enclosing_module(operation)
        meshes = self._meshes.get(module)
        if meshes is None:
            meshes = self._meshes[module] = {} if module is None else meshes_of(module)
        return meshes


def mesh_operation(operation: ir.Operation, name: str) -> ir.Operation | None:
    """The `sdy.mesh` of that name in the nearest module around `operation`, if there is one."""
    module = enclosing_module(operation)
    for view in () if module is None else module.regions[0].blocks[0].operations:
        mesh = view.operation
        if mesh.name == "sdy.mesh" and mesh.attributes["sym_name"].value == name:
            return mesh
    return None
