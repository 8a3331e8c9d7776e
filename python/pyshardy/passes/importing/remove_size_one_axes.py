# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-remove-size-one-axes`: remove axes of size 1 from shardings.

Before:

    sdy.mesh @mesh = <["a"=1, "b"=2]>
    %0 = stablehlo.abs %a
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"a"}p2, {"a", "b", ?}p1]>]>} : ...

After:

    sdy.mesh @mesh = <["a"=1, "b"=2]>
    %0 = stablehlo.abs %a
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"b", ?}p1]>]>} : ...

1. A closed dimension that is left without axes loses its priority, which it must not have. Open
   ones keep theirs.
2. Parts of an axis that become neighbors are merged.
3. Meshes and the `manual_axes` of manual computations are not changed.
4. Nothing is changed if no `sdy.mesh` of the module has such an axis.
5. Inner modules have meshes of their own, and are processed one by one.
"""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, DimensionSharding, Mesh, TensorSharding, add_or_merge
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import map_shardings
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-remove-size-one-axes", release="0.10.2")
def remove_size_one_axes(module: ir.Module) -> Changes:
    """Remove axes of size 1 from shardings.

    Removes every axis of size 1 from the dimension shardings, replicated axes and unreduced axes of
    all shardings. A closed dimension that has no axes left loses its priority.

    Meshes and the `manual_axes` of manual computations keep their axes. The pass does nothing if no
    `sdy.mesh` of the module has an axis of size 1.

    On a mesh `<["a"=1, "b"=2]>`, `[{"a"}p2, {"a", "b", ?}p1]` becomes `[{}, {"b", ?}p1]`.
    """
    modules = (module.operation, *operations_named({"builtin.module"}, module))
    return Changes.all_of([_remove_in(each) for each in modules])


def _remove_in(module: ir.Operation) -> Changes:
    meshes = meshes_of(module)
    if not any(axis.size == 1 for mesh in meshes.values() for axis in mesh.axes):
        return UNCHANGED

    def change(sharding: TensorSharding) -> TensorSharding:
        reference = sharding.mesh_or_ref
        mesh = meshes[reference] if isinstance(reference, str) else reference
        return _without_axes_of_size_one(sharding, mesh)

    map_shardings(module, change, leaving_out={"builtin.module"})
    return Changes(stale=OF_SHARDINGS)


def _without_axes_of_size_one(sharding: TensorSharding, mesh: Mesh) -> TensorSharding:
    def kept(axes: AxisTuple) -> AxisTuple:
        merged: AxisTuple = ()
        for axis in axes:
            if mesh.axis_size(axis.name) != 1:
                merged = add_or_merge(merged, axis, mesh)
        return merged

    def smaller(dim: DimensionSharding) -> DimensionSharding:
        axes = kept(dim.axes)
        if dim.is_closed and not axes:
            return DimensionSharding(is_closed=True)
        return dim.with_axes(axes)

    return replace(
        sharding,
        dim_shardings=tuple(map(smaller, sharding.dim_shardings)),
        replicated_axes=kept(sharding.replicated_axes),
        unreduced_axes=kept(sharding.unreduced_axes),
    )
