# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-introduce-transfers`.

1. An argument of a callee that all callers pass from one mesh, and that the callee assigns, is put
   on this mesh in the callee.
2. A sum of unassigned values that is assigned to a mesh becomes a fragment there.
3. Assignments of unassigned values become transfers.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, fragment, return_, unassign
from mlir_sdy.mpmd.reading import ASSIGN, body_of, mesh_type, operations_of, producer
from pyshardy.mpmd.rewriting.functions import called_functions, calls_by_callee, mpmd_functions
from pyshardy.mpmd.rewriting.marks import mark_reduction
from pyshardy.mpmd.rewriting.transfers import (
    resolve_assignments,
    unassigned_source,
    users_of,
)
from pyshardy.pipeline import register_pass

_ADD = "stablehlo.add"


@register_pass("mpmd-introduce-transfers", release="0.10.2")
def introduce_transfers(module: ir.Module) -> None:
    """Convert assignments of values that are on meshes to transfers.

    An assignment to the mesh of the value vanishes. A value that is assigned to several other
    meshes is passed from mesh to mesh. The assignment of a sum of values on meshes becomes a
    fragment that adds on the mesh of the assignment.
    """
    _assign_arguments(module)
    for function in mpmd_functions(module):
        block = body_of(function)
        for operation in operations_of(block):
            if operation.name == ASSIGN:
                _add_on_mesh(operation)
        resolve_assignments(block)


def _assign_arguments(module: ir.Module) -> None:
    calls = calls_by_callee(module)
    for name, function in called_functions(module).items():
        body = body_of(function)
        for index in reversed(range(len(body.arguments))):
            argument = body.arguments[index]
            sources = [unassigned_source(call.operands[index]) for call in calls[name]]
            meshes = {None if each is None else _mesh(each) for each in sources}
            mesh = meshes.pop()
            if mesh is None or meshes or not users_of(argument, ASSIGN):
                continue
            with ir.InsertionPoint.at_block_begin(body), function.location:
                placed = assign(argument, mesh_tensor(argument.type, mesh))
                tensor = unassign(placed)
            argument.replace_all_uses_except(tensor, [placed.owner.operation])


def _mesh(value: ir.Value) -> str | None:
    found = mesh_type(value)
    return None if found is None else found.mesh_name


def _add_on_mesh(operation: ir.Operation) -> None:
    """Convert the assignment of a sum of unassigned values to a fragment."""
    sums: list[ir.Operation] = []
    leaves: list[ir.Value] = []
    if not _collect(operation.operands[0], sums, leaves) or not sums:
        return
    target = mesh_type(operation.results[0])
    assert target is not None, "it is assigned"
    given = list(dict.fromkeys(leaves))
    with ir.InsertionPoint(operation), operation.location:
        operands = [assign(each, mesh_tensor(each.type, target.mesh_name)) for each in given]
        built = fragment(target.mesh_name, [operation.results[0].type], operands)
        arguments = dict(zip(given, body_of(built).arguments, strict=True))
        with ir.InsertionPoint(body_of(built)):
            return_([operation.operands[0]])
        terminator = operations_of(body_of(built))[-1]
    operation.results[0].replace_all_uses_with(built.results[0])
    operation.erase()
    for each in sums:
        each.move_before(terminator)
        mark_reduction(each)
        for index, operand in enumerate(each.operands):
            if operand in arguments:
                each.operands[index] = arguments[operand]


def _collect(value: ir.Value, sums: list[ir.Operation], leaves: list[ir.Value]) -> bool:
    """Collect the additions of a sum, inner ones first, and its leaves; whether it can be moved."""
    if unassigned_source(value) is not None:
        leaves.append(value)
        return True
    addition = producer(value, _ADD)
    if addition is None or len(list(value.uses)) != 1:
        return False
    if not all(_collect(operand, sums, leaves) for operand in addition.operands):
        return False
    sums.append(addition)
    return True
