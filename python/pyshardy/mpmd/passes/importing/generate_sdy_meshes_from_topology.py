# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-generate-sdy-meshes-from-topology`.

In JAX all meshes of a program have one shape, so the names of axes tell them apart: a sharding
belongs to the mesh of the topology that has its axes. Here, a sharding that names a mesh of the
topology is kept, too.
"""

from __future__ import annotations

from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.mpmd.values import Topology
from mlir_sdy.sdy import MeshOp
from mlir_sdy.symbols import mesh_operation, meshes_of
from mlir_sdy.values import map_shardings
from pyshardy.mpmd.rewriting.functions import entry_points
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.pipeline import register_pass

_EMPTY = "empty_mesh"


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
