# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-move-shardings-to-meshes`."""

from __future__ import annotations

from collections.abc import Callable

from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import TensorSharding
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    body_of,
    mesh_name_of,
    mesh_type,
    operations_of,
    returned_values,
)
from mlir_sdy.mpmd.values import NamedMesh
from mlir_sdy.sdy import MeshOp
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    argument_shardings,
    map_shardings,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.mpmd.rewriting.functions import entry_points
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.pipeline import register_pass


@register_pass("mpmd-move-shardings-to-meshes", release="pyshardy")
def move_shardings_to_meshes(module: ir.Module) -> None:
    """Move the shardings of each fragment to its mesh, if the meshes of a topology differ.

    A front end traces a program for the first mesh. If meshes have different shapes, each becomes a
    mesh of the module, and the axes of a sharding are those of the mesh that its value is on. The
    same holds for arguments and results of the entry point.

    Raises:
        PassError: a mesh lacks an axis of a sharding of a fragment or of a value on it.
    """
    for function in entry_points(module):
        meshes = topology(function).meshes
        if len({each.mesh for each in meshes}) == 1:
            continue
        with ir.InsertionPoint.at_block_begin(module.body), module.operation.location:
            known = meshes_of(module)
            for each in meshes:
                if each.name not in known:
                    MeshOp(each.name, attribute_of(each.mesh))
        by_name = {each.name: each for each in meshes}
        for operation in operations_of(body_of(function)):
            if operation.name == FRAGMENT:
                map_shardings(operation, _mover(by_name[mesh_name_of(operation)], operation))
        for values, shardings, setter in (
            (body_of(function).arguments, argument_shardings, set_argument_shardings),
            (returned_values(function), result_shardings, set_result_shardings),
        ):
            homes = [mesh_type(value) for value in values]
            moved = {
                index: _mover(by_name[home.mesh_name], function)(sharding)
                for index, (home, sharding) in enumerate(
                    zip(homes, shardings(function), strict=True)
                )
                if home is not None and sharding is not None
            }
            setter(function, moved)


def _mover(mesh: NamedMesh, around: ir.Operation) -> Callable[[TensorSharding], TensorSharding]:
    """Return a function that moves shardings to a mesh."""
    axes = {axis.name for axis in mesh.mesh.axes}

    def moved(sharding: TensorSharding) -> TensorSharding:
        missing = sorted({axis.name for axis in sharding.all_axes()} - axes)
        if missing:
            message = (
                f"the sharding {sharding} is on mesh '{mesh.name}', which has no axis "
                f"'{missing[0]}', but {mesh.mesh}: leave the axis out, or assign the name to a "
                "mesh that has it"
            )
            raise PassError(error(message, location_of(around.location)))
        return sharding.with_mesh(mesh.name)

    return moved
