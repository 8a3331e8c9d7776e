# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes for the shardings that a user gives from outside of a program."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of

DEFAULT_NAME = "mesh"
"""What a mesh is called that the user gives without a name."""


def declare_meshes(
    module: ir.Module, shardings: Iterable[TensorSharding], mesh: Mesh | None
) -> None:
    """Declare `mesh` by the names under which shardings refer to it, unless the module has them.

    Raises:
        UsageError: they name a mesh, and there is none.
    """
    declared = meshes_of(module).keys()
    for sharding in shardings:
        name = sharding.mesh_or_ref
        if not isinstance(name, str) or name in declared:
            continue
        if mesh is None:
            message = f"the sharding {sharding} refers to the mesh @{name}, which there isn't"
            raise UsageError(error(f"{message}; give 'mesh'"))
        with module.context, ir.Location.unknown():
            ir.Operation.create(
                "sdy.mesh",
                attributes={
                    "sym_name": ir.StringAttr.get(name),
                    "mesh": attribute_of(mesh, module.context),
                },
                ip=ir.InsertionPoint.at_block_begin(module.body),
            )
        declared = meshes_of(module).keys()
