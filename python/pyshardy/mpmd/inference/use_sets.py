# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meshes that values are used on, transitively."""

from __future__ import annotations

from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import ASSIGN, CALL, body_of, is_entry_point, mesh_type, operations_of
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    USE_SET,
    MeshSet,
    in_block,
    is_meshless,
    read_set,
    read_set_of,
    union,
    write_set_of,
    write_set_of_argument,
)
from pyshardy.mpmd.rewriting.functions import calls_by_callee, mpmd_functions

_MOST_ROUNDS = 16
"""The most rounds over all functions, which chains of calls need."""


def populate(module: ir.Module) -> None:
    """Set the use-sets of arguments and of operations without a mesh."""
    found = _UseSets(module)
    for _ in range(_MOST_ROUNDS):
        changed = [found.update(function) for function in reversed(mpmd_functions(module))]
        if not any(changed):
            break


def uses_of(value: ir.Value) -> list[ir.Operation]:
    """Return the operations of the block of a value that use it, the last one first."""
    block = _block_of(value)
    users = {in_block(use.owner.operation, block): None for use in value.uses}
    ordered: list[ir.Operation] = []
    for user in users:
        at = len(ordered)
        while at and ordered[at - 1].is_before_in_block(user):
            at -= 1
        ordered.insert(at, user)
    return ordered


def _block_of(value: ir.Value) -> ir.Block:
    owner = value.owner
    return owner if isinstance(owner, ir.Block) else owner.operation.block


def _indices(user: ir.Operation, value: ir.Value) -> list[int]:
    """Return at which operands an operation takes a value; calls have hundreds of operands."""
    return sorted(use.operand_number for use in value.uses if use.owner.operation == user)


class _UseSets:
    def __init__(self, module: ir.Module):
        self._calls = calls_by_callee(module)
        self._functions = {symbol_name(each): each for each in mpmd_functions(module)}

    def update(self, function: ir.Operation) -> bool:
        """Recompute the sets of a function; return whether one has changed."""
        changed = False
        block = body_of(function)
        for operation in reversed(operations_of(block)):
            if not is_meshless(operation):
                continue
            found = union(map(self._of_value, operation.results))
            if found != (read_set_of(operation, USE_SET) or {}):
                write_set_of(operation, USE_SET, found)
                changed = True
        for argument in block.arguments:
            if mesh_type(argument) is not None:
                continue
            found = self._of_value(argument)
            if found != (read_set(argument, USE_SET) or {}):
                write_set_of_argument(argument, USE_SET, found)
                changed = True
        return changed

    def _of_value(self, value: ir.Value) -> MeshSet:
        return union(self._of_user(user, value) for user in uses_of(value))

    def _of_user(self, user: ir.Operation, value: ir.Value) -> MeshSet:
        if user.name == ASSIGN:
            target = mesh_type(user.results[0])
            assert target is not None, "it is assigned"
            origin = text_of(user, "origin")
            return {target.mesh_name: frozenset([origin] if origin else [])}
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
            return union(
                self._of_value(call.results[index])
                for call in self._calls.get(symbol_name(function), ())
                for index in _indices(user, value)
            )
        return read_set_of(user, USE_SET) or {}
