# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that declare the meshes of a topology, and move shardings to them."""

from __future__ import annotations

from collections.abc import Callable

from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.mpmd.reading import (
    FRAGMENT,
    body_of,
    mesh_name_of,
    mesh_type,
    operations_of,
    returned_values,
)
from mlir_sdy.mpmd.values import NamedMesh, Topology
from mlir_sdy.sdy import MeshOp
from mlir_sdy.symbols import mesh_operation, meshes_of
from mlir_sdy.values import (
    argument_shardings,
    map_shardings,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.mpmd.rewriting.functions import entry_points
from pyshardy.mpmd.rewriting.marks import topology
from pyshardy.pipeline import register_pass

_EMPTY = "empty_mesh"


# In JAX all meshes of a program have one shape, so the names of axes tell them apart: a sharding
# belongs to the mesh of the topology that has its axes. Here, a sharding that names a mesh of the
# topology is kept, too.


@register_pass("mpmd-generate-sdy-meshes-from-topology", release="0.10.2")
def generate_sdy_meshes_from_topology(module: ir.Module) -> None:
    """Declare the meshes of the topology, and move shardings to them.

    A sharding moves to the mesh that has its axes. A replicated sharding moves to the mesh
    `@empty_mesh` without axes, unless its mesh is a mesh of the topology, has no axes or is
    maximal. Other meshes than these are erased.

    Raises:
        PassError: no mesh of the topology has the axes of a sharding, or `@empty_mesh` has axes.
    """
    entries = entry_points(module)
    if not entries:
        return
    meshes = topology(entries[0])
    old = meshes_of(module)
    used: set[str] = set()

    def moved(sharding: TensorSharding) -> TensorSharding:
        name = sharding.mesh_or_ref
        mesh = old.get(name) if isinstance(name, str) else name
        if isinstance(name, str) and meshes.named(name) is not None:
            return sharding
        if mesh is not None and (mesh.is_maximal or not mesh.axes):
            if isinstance(name, str):
                used.add(name)
            return sharding
        target = _owner(sharding, meshes, entries[0])
        used.add(target)
        return sharding.with_mesh(target)

    map_shardings(module, moved)
    if _EMPTY in used and old.get(_EMPTY, Mesh(())).axes:
        place = mesh_operation(module.operation, _EMPTY)
        assert place is not None, "it is known"
        message = f"the mesh '@{_EMPTY}' must have no axes, as replicated values are moved to it"
        raise PassError(error(message, location_of(place.location)))
    for name, mesh in old.items():
        if mesh.axes and not mesh.is_maximal:
            operation = mesh_operation(module.operation, name)
            assert operation is not None, "it is known"
            operation.erase()
    declared = {_EMPTY: Mesh(())} if _EMPTY in used and _EMPTY not in old else {}
    declared |= {each.name: each.mesh for each in meshes.meshes}
    with ir.InsertionPoint.at_block_begin(module.body), module.operation.location:
        for name, mesh in declared.items():
            MeshOp(name, attribute_of(mesh))


def _owner(sharding: TensorSharding, meshes: Topology, function: ir.Operation) -> str:
    """Return the mesh of the topology that has the axes of a sharding."""
    axes = {axis.name for axis in sharding.all_axes()}
    if not axes:
        return _EMPTY
    for each in meshes.meshes:
        if axes <= {axis.name for axis in each.mesh.axes}:
            return each.name
    listed = ", ".join(f'"{name}"' for name in sorted(axes))
    message = (
        f"no mesh of the topology has the axes {listed} of the sharding {sharding}: "
        f"its meshes are {', '.join(map(str, meshes.meshes))}"
    )
    raise PassError(error(message, location_of(function.location)))


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
