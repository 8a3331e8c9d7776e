# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meshes that values are used on, transitively."""

from __future__ import annotations

from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    CALL,
    body_of,
    is_entry_point,
    mesh_type,
    operations_of,
    returned_values,
)
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    BETWEEN_MESHES,
    USE_SET,
    MeshSet,
    in_block,
    is_meshless,
    read_set,
    read_set_of,
    read_set_of_result,
    set_of_mesh,
    union,
    write_set_of,
    write_sets_of_arguments,
    write_sets_of_results,
)
from pyshardy.mpmd.rewriting.functions import calls_by_callee, functions_with_bodies, mpmd_functions
from pyshardy.mpmd.rewriting.transfers import in_order_of_text

_MOST_ROUNDS = 16
"""The most rounds over all functions, which chains of calls need."""


def populate(module: ir.Module) -> None:
    """Set the use-sets of arguments and of operations without a mesh."""
    found = _UseSets(module)
    for _ in range(_MOST_ROUNDS):
        changed = [found.update(function) for function in reversed(mpmd_functions(module))]
        if not any(changed):
            break
    for function in mpmd_functions(module):
        if not is_entry_point(function):
            found.write_results(function)


def uses_of(value: ir.Value) -> list[ir.Operation]:
    """Return the operations of the block of a value that use it, the last one first."""
    owner = value.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    users = {in_block(use.owner.operation, block): None for use in value.uses}
    return in_order_of_text(list(reversed(users)))[::-1]  # uses are listed the last one first


def _indices(user: ir.Operation, value: ir.Value) -> list[int]:
    """Return at which operands an operation takes a value, the last first; calls have hundreds."""
    numbers = (use.operand_number for use in value.uses if use.owner.operation == user)
    return sorted(numbers, reverse=True)


def _of_assign(operation: ir.Operation) -> MeshSet:
    target = mesh_type(operation.results[0])
    assert target is not None, "it is assigned"
    return set_of_mesh(target.mesh_name, text_of(operation, "origin"))


class _UseSets:
    def __init__(self, module: ir.Module):
        self._calls = calls_by_callee(module)
        self._functions = functions_with_bodies(module)

    def update(self, function: ir.Operation) -> bool:
        """Recompute the sets of a function; return whether one has changed."""
        changed = False
        block = body_of(function)
        for operation in reversed(operations_of(block)):
            if operation.name == ASSIGN:
                found = _of_assign(operation)
            elif is_meshless(operation):
                found = union(map(self._of_value, operation.results))
            else:
                continue
            known = read_set_of(operation, USE_SET) or {}
            found = union((known, found))
            if found != known:
                write_set_of(operation, USE_SET, found)
                changed = True
        arguments: dict[int, MeshSet | None] = {}
        for index, argument in enumerate(block.arguments):
            if mesh_type(argument) is not None:
                continue
            known = read_set(argument, USE_SET) or {}
            found = union((known, self._of_value(argument)))
            if found != known:
                arguments[index] = found
        write_sets_of_arguments(function, USE_SET, arguments)
        return changed or bool(arguments)

    def _of_result(self, function: ir.Operation, index: int) -> MeshSet:
        known = read_set_of_result(function, index, USE_SET)
        if known is not None:
            return known
        calls = self._calls.get(symbol_name(function), ())
        return union(self._of_value(call.results[index]) for call in calls)

    def write_results(self, function: ir.Operation) -> None:
        """Set the sets of the results of a function that is called, which stay then."""
        results = range(len(returned_values(function)))
        found = {index: self._of_result(function, index) for index in results}
        write_sets_of_results(function, USE_SET, found)

    def _of_value(self, value: ir.Value) -> MeshSet:
        return union(self._of_user(user, value) for user in uses_of(value))

    def _of_user(self, user: ir.Operation, value: ir.Value) -> MeshSet:
        if user.name == ASSIGN:
            return _of_assign(user)
        if user.name in BETWEEN_MESHES:
            return {}
        if user.name == CALL:
            callee = self._functions[CallView(user).callee]
            arguments = body_of(callee).arguments
            return union(
                read_set(arguments[index], USE_SET) or {} for index in _indices(user, value)
            )
        if user.name == "func.return":
            parent = user.parent
            assert parent is not None, "it ends a function"
            function = parent.operation
            if is_entry_point(function):
                return {}
            return union(self._of_result(function, index) for index in _indices(user, value))
        return read_set_of(user, USE_SET) or {}
