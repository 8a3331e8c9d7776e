# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-finalize`."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import MeshTensorType, mesh_tensor
from mlir_sdy.mpmd.building import assign, fragment, return_, unassign
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    TRANSFER,
    UNASSIGN,
    body_of,
    mesh_type,
    operations_of,
    producer,
)
from mlir_sdy.mpmd.values import MeshReduction
from mlir_sdy.mpmd.verify import reduction_of
from mlir_sdy.uses import replace_by
from pyshardy.mpmd.inference.mesh_sets import SRC_SET, USE_SET, clear_sets
from pyshardy.mpmd.inference.reductions import OPERATIONS, REDUCE
from pyshardy.mpmd.inference.signatures import place_arguments
from pyshardy.mpmd.options import NoEffect
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.marks import mark_inferred, mark_reduction
from pyshardy.mpmd.rewriting.regions import erase_dead
from pyshardy.mpmd.rewriting.transfers import (
    resolve_assignments,
    unassigned_source,
    users_of,
)
from pyshardy.pipeline import register_pass

_REDUCED = "infer_mesh_convert_reduce_ops"


@register_pass("mpmd-infer-mesh-finalize", release="0.10.2")
def infer_mesh_finalize(
    module: ir.Module,
    *,
    infer_transfers: NoEffect = False,  # noqa: ARG001 (an option of C++ Shardy)
) -> None:
    """Put arguments on meshes, and convert assignments to transfers.

    An argument is on the first mesh, by name, that uses it. A value that several meshes use is
    passed from mesh to mesh. The operands of a reduction on one mesh are reduced there, and the
    partial results on each mesh that uses the reduction.

    Raises:
        PassError: an assignment is left.
    """
    for function in mpmd_functions(module):
        _finalize(function)


def _finalize(function: ir.Operation) -> None:
    """Convert the assignments in a function to transfers.

    Raises:
        PassError: an assignment or its inverse is left.
    """
    body = body_of(function)
    place_arguments(function)
    for operation in operations_of(body):
        if operation.name == "mpmd.broadcast":
            replace_by(operation, operation.operands[0])
    erase_dead(body)
    resolve_assignments(body)
    for reduction in [each for each in operations_of(body) if each.name == REDUCE]:
        _reduce(reduction)
        resolve_assignments(body)
    clear_sets(function, SRC_SET, USE_SET)
    for operation in operations_of(body):
        if operation.name == TRANSFER:
            _skip_memory_between(operation)
    erase_dead(body)
    for operation in operations_of(body):
        if operation.name in (ASSIGN, UNASSIGN):
            message = f"'{operation.name}' is left after mesh inference"
            raise PassError(error(message, location_of(operation.location)))


def _skip_memory_between(transfer: ir.Operation) -> None:
    """Transfer a value directly that a transfer on the mesh has put into other memory before."""
    before = producer(transfer.operands[0], TRANSFER)
    if before is None:
        return
    source, target = before.operands[0], transfer.results[0]
    meshes = {MeshTensorType(each.type).mesh_name for each in (source, before.results[0], target)}
    if len(meshes) > 1:
        return
    if source.type == target.type:
        target.replace_all_uses_with(source)
    else:
        transfer.operands[0] = source


def _reduce(operation: ir.Operation) -> None:
    """Reduce operands on their meshes, and the partial results on the meshes of the users."""
    kind = reduction_of(operation)
    by_mesh: dict[str, list[ir.Value]] = {}
    for operand in operation.operands:
        source = unassigned_source(operand)
        found = None if source is None else mesh_type(source)
        assert found is not None, "operands of reductions are assigned"
        by_mesh.setdefault(found.mesh_name, []).append(operand)
    with ir.InsertionPoint(operation), operation.location:
        partial = list(operation.operands)
        if kind != MeshReduction.NONE:
            partial = [_combined(mesh, by_mesh[mesh], kind) for mesh in sorted(by_mesh)]
    for user in users_of(operation.results[0], ASSIGN):
        target = mesh_type(user.results[0])
        assert target is not None, "it is assigned"
        with ir.InsertionPoint(user), user.location:
            total = _combined(target.mesh_name, partial, kind)
            user.results[0].replace_all_uses_with(assign(total, user.results[0].type))
        user.erase()
    if not list(operation.results[0].uses):
        operation.erase()


def _combined(mesh: str, values: Sequence[ir.Value], kind: MeshReduction) -> ir.Value:
    """Build a fragment that reduces values on a mesh."""
    if len(values) == 1 and kind != MeshReduction.NONE:
        return values[0]
    tensor = values[0].type
    operands = [assign(each, mesh_tensor(tensor, mesh)) for each in values]
    built = fragment(mesh, [mesh_tensor(tensor, mesh)], operands)
    mark_inferred(built, _REDUCED)
    body = body_of(built)
    with ir.InsertionPoint(body), built.location:
        total: ir.Value = body.arguments[0]
        for argument in list(body.arguments)[1:]:
            total = ir.Operation.create(
                OPERATIONS[kind], results=[tensor], operands=[total, argument]
            ).results[0]
            mark_reduction(total.owner.operation)
        return_([total])
    return unassign(built.results[0])
