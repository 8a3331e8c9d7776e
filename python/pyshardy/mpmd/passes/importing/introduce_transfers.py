# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-introduce-transfers`.

1. An argument of a callee that all callers pass from one mesh, and that the callee assigns, is put
   on this mesh in the callee.
2. A sum of unassigned values that is assigned to a mesh becomes fragments there, one for each
   addition.
3. Assignments of unassigned values become transfers.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, fragment, return_, unassign
from mlir_sdy.mpmd.reading import ASSIGN, body_of, mesh_type, operations_of, producer
from mlir_sdy.uses import replace_by
from pyshardy.mpmd.rewriting.functions import called_functions, calls_by_callee, mpmd_functions
from pyshardy.mpmd.rewriting.marks import mark_inferred, mark_reduction
from pyshardy.mpmd.rewriting.regions import erase_dead
from pyshardy.mpmd.rewriting.transfers import (
    resolve_assignments,
    unassigned_source,
    users_of,
)
from pyshardy.pipeline import register_pass

_ADD = "stablehlo.add"
_MARK = "introduce_transfers"


@register_pass("mpmd-introduce-transfers", release="0.10.2")
def introduce_transfers(module: ir.Module) -> None:
    """Convert assignments of values that are on meshes to transfers.

    An assignment to the mesh of the value vanishes. A value that is assigned to several other
    meshes is passed from mesh to mesh. The assignment of a sum of values on meshes becomes
    fragments that add on the mesh of the assignment.
    """
    _assign_arguments(module)
    for function in mpmd_functions(module):
        block = body_of(function)
        for operation in operations_of(block):
            if operation.name == ASSIGN:
                _add_on_mesh(operation)
        resolve_assignments(block)
        erase_dead(block)


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
    """Convert the assignment of a sum of unassigned values to a fragment for each addition."""
    addition = producer(operation.operands[0], _ADD)
    if addition is None or not _is_sum(operation.operands[0]):
        return
    target = operation.results[0].type
    mesh = _mesh(operation.results[0])
    assert mesh is not None, "it is assigned"
    with ir.InsertionPoint(operation), operation.location:
        operands = [assign(each, mesh_tensor(each.type, mesh)) for each in addition.operands]
        built = fragment(mesh, [target], operands)
        mark_inferred(built, _MARK)
        with ir.InsertionPoint(body_of(built)):
            copy = addition.clone().operation
            mark_reduction(copy)
            return_(list(copy.results))
    for index, argument in enumerate(body_of(built).arguments):
        copy.operands[index] = argument
    replace_by(operation, built.results[0])
    addition.erase()
    for each in operands:
        _add_on_mesh(each.owner.operation)


def _is_sum(value: ir.Value) -> bool:
    """Whether a value is unassigned, or an addition of such values that nothing else uses."""
    if unassigned_source(value) is not None:
        return True
    addition = producer(value, _ADD)
    if addition is None or len(list(value.uses)) != 1:
        return False
    return all(map(_is_sum, addition.operands))
