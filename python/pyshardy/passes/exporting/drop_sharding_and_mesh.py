# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-drop-sharding-and-mesh`: remove shardings and meshes from a local program.

Before:

    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})

After:

    func.func @f(%a: tensor<8xf32>)

Shardings in attributes of the dialect's operations are kept, and so are their meshes. In
`replica_groups`, the name of a mesh is replaced by the mesh as a StableHLO attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import named_operations_in
from mlir_sdy.values import (
    SHARDING,
    SHARDING_ENTRIES,
    argument_shardings,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
    sharding_attributes,
)
from pyshardy.irtools.analyses import OF_SHARDINGS, Changes
from pyshardy.irtools.collectives import (
    COLLECTIVES_WITH_GROUPS,
    inline_mesh_of_groups,
    mesh_of_groups,
)
from pyshardy.irtools.shardings import MODULE_SHARDING_METADATA, different_shardings
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.partition.types.planned_axes import FACTOR_AXES
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("sdy-drop-sharding-and-mesh", release="0.10.2")
def drop_sharding_and_mesh(
    module: ir.Module,
    *,
    keep_module_sharding_metadata: Annotated[bool, Help(release="0.12")] = False,
) -> Changes:
    """Remove shardings and meshes.

    Removes the attribute `sdy.sharding` from operations, function arguments and function results,
    and erases all `sdy.mesh` operations. Shardings that are attributes of sdy operations are not
    removed; the program should not contain such operations.

    Also removes `sdy.parameters_shardings` and `sdy.output_shardings`, which
    `sdy-convert-global-to-local` attaches to the module, unless
    `keep-module-sharding-metadata` is set.

    Options:
        keep_module_sharding_metadata: whether to keep sdy.parameters_shardings and
            sdy.output_shardings on the module.
    """
    if not keep_module_sharding_metadata:
        for name in MODULE_SHARDING_METADATA:
            remove_discardable(module.operation, name)
    declared = meshes_of(module)
    meshes: list[ir.Operation] = []
    kept: list[ir.Attribute] = []
    for operation, name in named_operations_in(module):
        remove_discardable(operation, SHARDING, FACTOR_AXES)
        if name in COLLECTIVES_WITH_GROUPS:
            _inline_mesh(operation, declared)
        elif name == "func.func":
            _drop_interface_shardings(operation)
        elif name == "sdy.mesh":
            meshes.append(operation)
        elif name in SHARDING_ENTRIES:
            kept += sharding_attributes(operation)
    used = {sharding.mesh_or_ref for sharding in different_shardings(kept)}
    for mesh in meshes:
        if symbol_name(mesh) not in used:
            mesh.erase()
    return Changes(stale=OF_SHARDINGS)


def _inline_mesh(collective: ir.Operation, declared: Mapping[str, Mesh]) -> None:
    name = mesh_of_groups(collective)
    if isinstance(name, str) and name in declared:
        inline_mesh_of_groups(collective, declared[name])


def _drop_interface_shardings(function: ir.Operation) -> None:
    for read, write in (
        (argument_shardings, set_argument_shardings),
        (result_shardings, set_result_shardings),
    ):
        given = read(function)
        present = [index for index, sharding in enumerate(given) if sharding is not None]
        if present:
            write(function, dict.fromkeys(present))
