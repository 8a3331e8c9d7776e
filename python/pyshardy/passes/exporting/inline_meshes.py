# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-inline-meshes`: hold each mesh where it is used.

Before:

    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

After:

    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of, stablehlo
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import map_shardings
from pyshardy.passes.walks import operations_named

_REPLICA_GROUPS = "replica_groups"
_WITH_REPLICA_GROUPS = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather",
        "all_reduce",
        "all_to_all",
        "collective_broadcast",
        "reduce_scatter",
    )
)


def inline_meshes(module: ir.Module) -> None:
    """Replace names of meshes by the meshes, and erase these.

    1. A sharding gets the mesh that it names.
    2. `replica_groups` of StableHLO collectives that name a mesh get it as StableHLO writes it.
    3. All meshes go, used or not.

    Raises:
        PassError: a mesh of that name isn't there. Other names may have been replaced by then.
    """
    meshes = meshes_of(module)
    unknown: set[str] = set()

    def inlined(sharding: TensorSharding) -> TensorSharding:
        name = sharding.mesh_or_ref
        if not isinstance(name, str):
            return sharding
        if name not in meshes:
            unknown.add(name)
            return sharding
        return sharding.with_mesh(meshes[name])

    map_shardings(module, inlined)
    for collective in operations_named(_WITH_REPLICA_GROUPS, module):
        _inline_in_replica_groups(collective, meshes, unknown)
    if unknown:
        message = f"unknown mesh: @{min(unknown)}; declare it by sdy.mesh in this module"
        raise PassError(error(message, location_of(module.operation.location)))
    for view in list(module.body.operations):
        if view.operation.name == "sdy.mesh":
            view.operation.erase()


def _inline_in_replica_groups(
    collective: ir.Operation, meshes: Mapping[str, Mesh], unknown: set[str]
) -> None:
    groups = collective.attributes[_REPLICA_GROUPS]
    if not isinstance(groups, stablehlo.ReplicaGroupMeshAxesAttr):
        return
    name = groups.mesh
    if not isinstance(name, ir.FlatSymbolRefAttr):
        return
    if name.value not in meshes:
        unknown.add(name.value)
        return
    collective.attributes[_REPLICA_GROUPS] = stablehlo.ReplicaGroupMeshAxesAttr.get(
        _stablehlo_mesh(meshes[name.value], collective.context), groups.axes
    )


def _stablehlo_mesh(mesh: Mesh, context: ir.Context) -> ir.Attribute:
    """A mesh as an attribute of StableHLO."""
    axes = [stablehlo.MeshAxisAttr.get(axis.name, axis.size, context) for axis in mesh.axes]
    device_ids = None
    if mesh.device_ids:
        ids = list(mesh.device_ids)
        device_ids = ir.Attribute.parse(f"dense<{ids}> : tensor<{len(ids)}xi64>", context)
    return stablehlo.MeshAttr.get(ir.ArrayAttr.get(axes, context), device_ids, context)
