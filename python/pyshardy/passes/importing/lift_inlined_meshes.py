# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-lift-inlined-meshes`: replace inlined meshes by references, and merge equal meshes.

Meshes are inlined in shardings, and in the `replica_groups` of StableHLO collectives that are
given by axes.

1. Of equal mesh operations the first is kept, and its name replaces those of the others.
2. An inlined mesh without an operation gets one after the last mesh, or at the start of the
   module. It is called `mesh`, `empty_mesh` or `maximal_mesh_<device>`, with a number if the
   name is taken.
3. Each mesh operation gets the attribute `stablehlo.mesh`, unless it has one.
"""

from __future__ import annotations

from typing import Annotated

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, TensorSharding
from mlir_sdy.op_classes import view_as
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.collectives import (
    COLLECTIVES_WITH_GROUPS,
    mesh_of_groups,
    name_mesh_of_groups,
)
from pyshardy.irtools.functions import FreshNames
from pyshardy.irtools.shardings import change_shardings
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help

MESH_FOR_STABLEHLO = "stablehlo.mesh"
"""The attribute of a mesh with its definition for tools that support StableHLO only."""


@register_pass("sdy-lift-inlined-meshes", release="0.10.2")
def lift_inlined_meshes(
    module: ir.Module,
    *,
    use_single_device_mesh_names: Annotated[bool, Help(release="0.12")] = False,
) -> Changes:
    """Replace inlined meshes by symbols and merge equal meshes.

    Replaces each mesh that a sharding contains by the symbol of an `sdy.mesh`, and merges equal
    meshes.

    - The first of several equal mesh operations is kept; references to the others are renamed.
    - A mesh without an operation gets one, after the last existing mesh operation or at the start
      of the module. Its name is `mesh`, `empty_mesh` or `maximal_mesh_<device>`, followed by a
      number if the name is taken.

    ```mlir
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<mesh<["x"=2]>, [{"x"}]>})
    ```

    becomes

    ```mlir
    sdy.mesh @mesh = <["x"=2]>
    func.func @f(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    ```

    Options:
        use_single_device_mesh_names: whether to name the mesh of a single device
            `single_device_<device>` instead of `maximal_mesh_<device>`.
    """
    lifting = _Lifting(module, "single_device" if use_single_device_mesh_names else "maximal_mesh")
    changes = change_shardings(module, lifting.changes, lifting.lift)
    collectives = operations_named(COLLECTIVES_WITH_GROUPS, module)
    collectives.sort(key=lambda collective: COLLECTIVES_WITH_GROUPS.index(collective.name))
    for collective in collectives:
        lifting.lift_groups(collective)
    lifting.annotate()
    return Changes({"sdy.mesh"}) if lifting.changes_meshes else changes


class _Lifting:
    def __init__(self, module: ir.Module, single_device_prefix: str):
        self._module = module
        self._single_device_prefix = single_device_prefix
        self._cache = AttributeCache(module.context)
        self._operations: list[ir.Operation] = []
        self._names: dict[Mesh, str] = {}
        self._renamed: dict[str, str] = {}
        self._num_inserted = 0
        for view in list(module.body.operations):
            operation = view.operation
            if operation.name != "sdy.mesh":
                continue
            name = symbol_name(operation)
            mesh = value_of(view_as(sdy.MeshOp, operation).mesh)
            if mesh in self._names:
                self._renamed[name] = self._names[mesh]
                operation.erase()
            else:
                self._names[mesh] = name
                self._operations.append(operation)
        self._fresh = FreshNames(module)  # names of erased meshes are free

    @property
    def changes_meshes(self) -> bool:
        """Whether mesh operations were inserted or erased so far."""
        return bool(self._renamed) or self._num_inserted > 0

    def changes(self, sharding: TensorSharding) -> bool:
        """Whether the reference of a sharding to its mesh changes."""
        reference = sharding.mesh_or_ref
        return not isinstance(reference, str) or reference in self._renamed

    def lift(self, sharding: TensorSharding) -> TensorSharding:
        """Return the sharding with the name of its mesh."""
        return sharding.with_mesh(self._name_of(sharding.mesh_or_ref))

    def lift_groups(self, collective: ir.Operation) -> None:
        """Replace the mesh in a collective's groups by its name, if they have one."""
        reference = mesh_of_groups(collective)
        if reference is not None and (name := self._name_of(reference)) != reference:
            name_mesh_of_groups(collective, name)

    def _name_of(self, reference: str | Mesh) -> str:
        if isinstance(reference, str):
            return self._renamed.get(reference, reference)
        if reference not in self._names:
            self._names[reference] = self._create(reference)
        return self._names[reference]

    def _create(self, mesh: Mesh) -> str:
        name = self._fresh.name(self._base_name(mesh))
        if self._operations:
            place = ir.InsertionPoint.after(self._operations[-1])
        else:
            place = ir.InsertionPoint.at_block_begin(self._module.body)
        location = self._module.operation.location
        declared = sdy.mesh(name, self._cache[mesh], loc=location, ip=place)
        self._operations.append(declared.operation)
        self._num_inserted += 1
        return name

    def _base_name(self, mesh: Mesh) -> str:
        if mesh.is_maximal:
            return f"{self._single_device_prefix}_{mesh.maximal_id}"
        return "empty_mesh" if mesh.is_empty else "mesh"

    def annotate(self) -> None:
        """Add each mesh as an attribute of StableHLO."""
        for operation in self._operations:
            if not has_discardable(operation, MESH_FOR_STABLEHLO):
                mesh = value_of(view_as(sdy.MeshOp, operation).mesh)
                annotation = _annotation(mesh, self._module.context)
                set_discardable(operation, MESH_FOR_STABLEHLO, annotation)


def _annotation(mesh: Mesh, context: ir.Context) -> ir.DictAttr:
    i64 = ir.IntegerType.get_signless(64, context)
    axes = [
        ir.DictAttr.get(
            {
                "name": ir.StringAttr.get(axis.name, context),
                "size": ir.IntegerAttr.get(i64, axis.size),
            },
            context,
        )
        for axis in mesh.axes
    ]
    entries: dict[str, ir.Attribute] = {"axes": ir.ArrayAttr.get(axes, context)}
    if mesh.device_ids:
        ids = list(mesh.device_ids)
        entries["device_ids"] = ir.Attribute.parse(
            f"dense<{ids}> : tensor<{len(ids)}xi64>", context
        )
    return ir.DictAttr.get(entries, context)
