# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that put values on the meshes that users state, and make transfers of assignments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, fragment, return_, transfer, unassign
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    body_of,
    mesh_type,
    operations_of,
    producer,
    returned_values,
)
from mlir_sdy.mpmd.values import DEVICE
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    argument_shardings,
    result_shardings,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.functions import update_type
from pyshardy.mpmd.options import (
    Assigned,
    Constraints,
    IndexAssignment,
    read_constraints,
    read_indices,
)
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    called_functions,
    calls_by_callee,
    check_pairs,
    entry_points,
    mpmd_functions,
    set_returned,
)
from pyshardy.mpmd.rewriting.marks import (
    USER_INPUT,
    USER_OUTPUT,
    check_mesh,
    mark_inferred,
    mark_reduction,
)
from pyshardy.mpmd.rewriting.regions import erase_dead
from pyshardy.mpmd.rewriting.transfers import resolve_assignments, unassigned_source, users_of
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help


@register_pass("mpmd-map-input-output-to-mesh", release="0.10.2")
def map_input_output_to_mesh(
    module: ir.Module,
    *,
    input_assignment: Annotated[IndexAssignment, Help("meshes of arguments")] = (),
    output_assignment: Annotated[IndexAssignment, Help("meshes of results")] = (),
) -> None:
    """Place arguments and results of the entry point on meshes.

    An argument gets the type of a value on its mesh, and an unassignment; a result an assignment.

    Raises:
        PassError: an index is out of range, a mesh is unknown, or an argument has two kinds of
            memory.
    """
    inputs, outputs = read_indices(input_assignment), read_indices(output_assignment)
    for function in entry_points(module):
        body, returned = body_of(function), returned_values(function)
        for what, assigned, count in (
            ("argument", inputs, len(body.arguments)),
            ("result", outputs, len(returned)),
        ):
            for index, each in assigned.items():
                check_mesh(function, each.mesh)
                if index >= count:
                    message = f"there is no {what} {index}: the function has {count} {what}s"
                    raise PassError(error(message, location_of(function.location)))
        _check_memory_kinds(function, inputs)
        with function.location:
            for index, each in sorted(inputs.items(), reverse=True):
                _place(body.arguments[index], each)
            with ir.InsertionPoint(terminator_of(body)):
                placed = [
                    assign(value, _on_mesh(value, outputs[index]), USER_OUTPUT)
                    if index in outputs
                    else value
                    for index, value in enumerate(returned_values(function))
                ]
            if outputs:
                set_returned(function, placed)
        update_type(function)


def _check_memory_kinds(function: ir.Operation, inputs: Mapping[int, Assigned]) -> None:
    """Check that arguments are assigned to the kinds of memory of their attributes."""
    attributes = argument_attributes(function) if inputs else []
    for index, each in inputs.items():
        kind = attributes[index].get("mhlo.memory_kind")
        assigned = each.memory_kind or DEVICE
        if kind is not None and ir.StringAttr(kind).value != assigned:
            message = (
                f"Memory kind attribute {kind} on function argument {index} does not match the "
                f"memory kind '{assigned}' that mesh '{each.mesh}' is given with: drop one of them"
            )
            place = location_of(body_of(function).arguments[index].location)
            raise PassError(error(message, place or location_of(function.location)))


def _on_mesh(value: ir.Value, assigned: Assigned) -> ir.Type:
    return mesh_tensor(value.type, assigned.mesh, memory_kind=assigned.memory_kind)


def _place(argument: ir.Value, assigned: Assigned) -> None:
    global_type = argument.type
    argument.set_type(_on_mesh(argument, assigned))
    with ir.InsertionPoint.at_block_begin(argument.owner):
        tensor = unassign(argument, USER_INPUT)
    assert tensor.type == global_type, "the type on the mesh has it"
    argument.replace_all_uses_except(tensor, [tensor.owner.operation])


_ADD = "stablehlo.add"
_MARK = "introduce_transfers"


# Transfers are introduced in three steps.
#
# 1. An argument of a callee that all callers pass from one mesh, and that the callee assigns, is on
#    this mesh in the callee.
# 2. A sum of unassigned values that is assigned to a mesh becomes fragments there, one for each
#    addition.
# 3. Assignments of unassigned values become transfers.


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


@register_pass("mpmd-enforce-input-output-equisharding", release="0.10.2")
def enforce_input_output_equisharding(module: ir.Module, *, constraints: Constraints = ()) -> None:
    """Make results have the mesh, the memory and the sharding of the arguments they must match.

    A result on another mesh is transferred. If one of both has no sharding, it gets the other's.

    Raises:
        PassError: an index is out of range.
    """
    pairs = read_constraints(constraints)
    for function in entry_points(module):
        check_pairs(function, pairs)
        arguments, returned = body_of(function).arguments, returned_values(function)
        terminator = terminator_of(body_of(function))
        given, made = argument_shardings(function), result_shardings(function)
        for index, output in pairs:
            expected = arguments[index].type
            if returned[output].type != expected:
                with ir.InsertionPoint(terminator), terminator.location:
                    returned[output] = transfer(returned[output], expected)
            given[index] = given[index] or made[output]
            made[output] = given[index]
        set_returned(function, returned)
        update_type(function)
        set_argument_shardings(function, dict(enumerate(given)))
        set_result_shardings(function, dict(enumerate(made)))
