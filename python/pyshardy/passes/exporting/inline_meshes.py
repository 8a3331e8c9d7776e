# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-inline-meshes`: replace references to meshes by the meshes.

1. A sharding gets the mesh that it names, which is in the nearest enclosing module.
2. In `replica_groups` of StableHLO collectives, the name of a mesh is replaced by the mesh as a
   StableHLO attribute.
3. All meshes are erased, used or not.
"""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import map_shardings
from pyshardy.irtools.collectives import (
    COLLECTIVES_WITH_GROUPS,
    inline_mesh_of_groups,
    mesh_of_groups,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-inline-meshes", release="0.10.2")
def inline_meshes(module: ir.Module) -> None:
    """Replace mesh symbols by the meshes.

    Replaces the mesh symbol in each sharding, and in `replica_groups` that are given by axes, by
    the mesh itself, and erases all `sdy.mesh`. This reverts `sdy-lift-inlined-meshes`, except for
    the names of the meshes.

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    ```

    becomes

    ```mlir
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
    ```

    Raises:
        PassError: a mesh of that name doesn't exist. Other names may have been replaced by then.
    """
    # After an inner module, no names are left in it that could be resolved in the outer one.
    inner_modules = operations_named({"builtin.module"}, module, ir.WalkOrder.POST_ORDER)
    for each in (*inner_modules, module.operation):
        _inline_in(each)


def _inline_in(module: ir.Operation) -> None:
    meshes = meshes_of(module)
    unknown: set[str] = set()

    def mesh_for(reference: str | Mesh) -> str | Mesh:
        if isinstance(reference, str) and reference not in meshes:
            unknown.add(reference)
            return reference
        return meshes[reference] if isinstance(reference, str) else reference

    def inlined(sharding: TensorSharding) -> TensorSharding:
        return sharding.with_mesh(mesh_for(sharding.mesh_or_ref))

    map_shardings(module, inlined)
    for collective in operations_named(COLLECTIVES_WITH_GROUPS, module):
        reference = mesh_of_groups(collective)
        if isinstance(reference, str) and isinstance(mesh := mesh_for(reference), Mesh):
            inline_mesh_of_groups(collective, mesh)
    if unknown:
        message = f"unknown mesh: @{min(unknown)}; declare it by sdy.mesh in this module"
        raise PassError(error(message, location_of(module.location)))
    for view in list(module.regions[0].blocks[0].operations):
        if view.operation.name == "sdy.mesh":
            view.operation.erase()
