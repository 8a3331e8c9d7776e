# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes of the arguments and results of functions, once all their uses are assigned."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, attributes_of, create, unassign
from mlir_sdy.mpmd.reading import ASSIGN, UNASSIGN, body_of, mesh_type, producer, returned_values
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import update_type
from pyshardy.mpmd.inference.mesh_sets import USE_SET, read_set_of_result
from pyshardy.mpmd.passes.analysis import src_set_of
from pyshardy.mpmd.rewriting.functions import set_returned
from pyshardy.mpmd.rewriting.marks import topology
from pyshardy.mpmd.rewriting.transfers import users_of


def place_arguments(function: ir.Operation) -> None:
    """Put each argument on the first mesh, by name, that it is assigned to."""
    body = body_of(function)
    for argument in reversed(list(body.arguments)):
        if mesh_type(argument) is not None or not isinstance(argument.type, ir.RankedTensorType):
            continue
        types = [
            found
            for user in users_of(argument, ASSIGN)
            if (found := mesh_type(user.results[0])) is not None
        ]
        first = mesh_tensor(argument.type, topology(function).names[0])
        argument.set_type(min(types, key=lambda each: each.mesh_name, default=first))
        with ir.InsertionPoint.at_block_begin(body), function.location:
            tensor = unassign(argument)
        argument.replace_all_uses_except(tensor, [tensor.owner.operation])
    update_type(function)


def assign_results(function: ir.Operation, functions: dict[str, ir.Operation]) -> None:
    """Assign the values that a callee returns to the meshes that use its results."""
    terminator = terminator_of(body_of(function))
    placed = returned_values(function)
    with ir.InsertionPoint(terminator), terminator.location:
        for index, value in enumerate(placed):
            if not isinstance(value.type, ir.RankedTensorType):
                continue
            used = read_set_of_result(function, index, USE_SET) or {}
            possible = src_set_of(value, functions)
            meshes = used if possible is None else possible.keys() & used.keys() or possible
            mesh = min(meshes, default=topology(function).names[0])
            placed[index] = assign(value, mesh_tensor(value.type, mesh))
    set_returned(function, placed)
    update_type(function)


def place_callee(function: ir.Operation, calls: Sequence[ir.Operation]) -> None:
    """Put the arguments and results of a callee on meshes, and the values of its calls."""
    place_arguments(function)
    returned = [
        found.operands[0] if (found := producer(value, UNASSIGN)) is not None else value
        for value in returned_values(function)
    ]
    set_returned(function, returned)
    update_type(function)
    arguments = body_of(function).arguments
    for call in calls:
        with ir.InsertionPoint(call), call.location:
            operands = [
                value if value.type == argument.type else assign(value, argument.type)
                for value, argument in zip(call.operands, arguments, strict=True)
            ]
            types = [value.type for value in returned]
            built = create(call.name, types, operands, attributes_of(call))
            for old, new in zip(call.results, built.results, strict=True):
                if old.type == new.type:
                    old.replace_all_uses_with(new)
                    continue
                for use in list(old.uses):
                    use.owner.operation.operands[use.operand_number] = unassign(new)
        call.erase()
