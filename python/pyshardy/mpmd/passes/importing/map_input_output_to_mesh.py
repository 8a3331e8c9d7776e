# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-map-input-output-to-mesh`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, unassign
from mlir_sdy.mpmd.reading import body_of, returned_values
from mlir_sdy.mpmd.values import DEVICE
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import update_type
from pyshardy.mpmd.options import Assigned, IndexAssignment, read_indices
from pyshardy.mpmd.rewriting.functions import (
    argument_attributes,
    entry_points,
    set_returned,
)
from pyshardy.mpmd.rewriting.marks import USER_INPUT, USER_OUTPUT
from pyshardy.mpmd.rewriting.meshes import check_mesh
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
                f"argument {index} has the memory kind {kind} by its attribute, but is assigned to "
                f"'{assigned}' of mesh '{each.mesh}': drop one of them"
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
