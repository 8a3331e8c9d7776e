# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-manual-axes-cleanup`: add manual axes explicitly to the shardings of inputs and outputs.

Before:

    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{}]>]
        manual_axes={"y", "x"} ...

After:

    sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}], replicated={"y"}>]
        out_shardings=[<@mesh, [{}], replicated={"x", "y"}>] manual_axes={"x", "y"} ...

For each manual computation:

1. Its mesh is that of the first of its in and out shardings whose mesh is not empty, or of the
   last one, if all are.
2. Its manual axes are put in the order of the mesh.
3. Their sub-axes that are not in a sharding are added to its replicated axes, in the order of
   the mesh and merged; such a sharding refers to the mesh of 1 then. Tokens are skipped.
4. A computation without values is not changed. It must have no manual axes, or an empty body.

On a mesh `<["x"=8, "y"=8]>`, the manual axes `{"y", "x"}` make `<@mesh, [{"y":(2)2}]>` into
`<@mesh, [{"y":(2)2}], replicated={"x", "y":(1)2, "y":(4)2}>`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, ManualAxes, Mesh, TensorSharding, TensorShardingPerValue
from mlir_sdy.model.axis_lists import set_difference, sort_and_merge
from mlir_sdy.op_classes import view_as
from mlir_sdy.symbols import MeshesInScope
from mlir_sdy.values import manual_axes
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.pipeline import register_pass


@register_pass("sdy-manual-axes-cleanup", release="0.10.2")
def manual_axes_cleanup(module: ir.Module) -> Changes:
    """Normalize the manual axes of manual computations.

    Sorts the manual axes of each `sdy.manual_computation` in mesh order, and adds manual axes that
    an input or output sharding does not mention to its replicated axes.

    A computation without inputs and outputs must have an empty body or no manual axes.

    With the manual axes `{"y", "x"}`, `<@mesh, [{"x"}]>` becomes
    `<@mesh, [{"x"}], replicated={"y"}>`, and the manual axes become `{"x", "y"}`.

    Raises:
        PassError: a computation violates rule 4. The module is not changed then.
    """
    if not may_occur_at_start({"sdy.manual_computation"}, module):
        return UNCHANGED
    computations = operations_named({"sdy.manual_computation"}, module, ir.WalkOrder.POST_ORDER)
    with_values = [computation for computation in computations if _shardings(computation)]
    for computation in computations:
        if not _shardings(computation):
            _check_is_empty(computation)
    if with_values:
        meshes = MeshesInScope()
        cache = AttributeCache(module.context)
        for computation in with_values:
            _clean_up(computation, meshes.around(computation), cache)
    return Changes(stale=OF_SHARDINGS)


def _shardings(computation: ir.Operation) -> tuple[TensorSharding, ...]:
    view = view_as(sdy.ManualComputationOp, computation)
    return (
        *value_of(view.in_shardings).shardings,
        *value_of(view.out_shardings).shardings,
    )


def _check_is_empty(computation: ir.Operation) -> None:
    first = computation.regions[0].blocks[0].operations[0].operation
    if manual_axes(computation) and first.name != "sdy.return":
        message = (
            "op has manual_axes when there are no in/out shardings and the body is not empty. "
            "This isn't allowed at this stage, please contact the Shardy team or file a bug. "
            "Without values, the mesh of the computation is unknown: add an operand or a result, "
            "or remove its manual_axes"
        )
        raise PassError(error(message, location_of(computation.location)))


def _clean_up(computation: ir.Operation, meshes: Mapping[str, Mesh], cache: AttributeCache) -> None:
    def mesh_of(reference: str | Mesh) -> Mesh:
        return meshes[reference] if isinstance(reference, str) else reference

    references = [sharding.mesh_or_ref for sharding in _shardings(computation)]
    common = next((each for each in references if not mesh_of(each).is_empty), references[-1])
    mesh = mesh_of(common)
    view = view_as(sdy.ManualComputationOp, computation)
    names = manual_axes(computation)
    manual = sorted(map(AxisRef, names), key=mesh.sort_key)
    in_order = tuple(axis.name for axis in manual)
    if in_order != names:
        view.manual_axes = cache[ManualAxes(in_order)]

    def complete(shardings: TensorShardingPerValue, values: Iterable[ir.Value]) -> ir.Attribute:
        several = tuple(
            _with_all(sharding, manual, mesh, common)
            if isinstance(value.type, ir.ShapedType)
            else sharding
            for sharding, value in zip(shardings.shardings, values, strict=True)
        )
        return cache[TensorShardingPerValue(several)]

    view.in_shardings = complete(value_of(view.in_shardings), computation.operands)
    view.out_shardings = complete(value_of(view.out_shardings), computation.results)


def _with_all(
    sharding: TensorSharding, manual: list[AxisRef], mesh: Mesh, reference: str | Mesh
) -> TensorSharding:
    """Return the sharding, explicitly replicated along all manual axes that it doesn't mention."""
    missing = set_difference(manual, sharding.all_axes(), mesh)
    if not missing:
        return sharding
    replicated = sort_and_merge((*sharding.replicated_axes, *missing), mesh)
    return sharding.with_replicated_axes(replicated).with_mesh(reference)
