# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The meshes that values can be on without a new transfer."""

from __future__ import annotations

from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    CALL,
    TRANSFER,
    UNASSIGN,
    body_of,
    is_entry_point,
    mesh_type,
    operations_of,
    returned_values,
    users_of,
)
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    BETWEEN_MESHES,
    SRC_SET,
    USE_SET,
    MeshSet,
    intersection,
    is_meshless,
    operands_with_free_values,
    read_set,
    read_set_of,
    set_of_mesh,
    union,
    write_set_of,
    write_sets_of_arguments,
)
from pyshardy.mpmd.inference.reductions import (
    KINDS,
    annotate,
    annotation_of,
    sum_of_slices,
)
from pyshardy.mpmd.rewriting.functions import calls_by_callee, functions_with_bodies, mpmd_functions
from pyshardy.mpmd.rewriting.marks import INFERRED_INPUT

_MOST_ROUNDS = 16


def populate(module: ir.Module) -> None:
    """Set the src-sets of arguments and of operations without a mesh; annotate reductions."""
    found = _SrcSets(module)
    for _ in range(_MOST_ROUNDS):
        changed = [found.update(function) for function in reversed(mpmd_functions(module))]
        if not any(changed):
            break


def src_set_of(value: ir.Value, functions: dict[str, ir.Operation]) -> MeshSet | None:
    """Return the src-set of a value; None if it can be on any mesh."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == CALL:
        callee = functions[CallView(owner.operation).callee]
        return src_set_of(returned_values(callee)[ir.OpResult(value).result_number], functions)
    return read_set(value, SRC_SET)


class _SrcSets:
    def __init__(self, module: ir.Module):
        self._calls = calls_by_callee(module)
        self._functions = functions_with_bodies(module)

    def update(self, function: ir.Operation) -> bool:
        """Recompute the sets of a function; return whether one has changed."""
        arguments: dict[int, MeshSet | None] = {}
        for index, argument in enumerate(body_of(function).arguments):
            if mesh_type(argument) is None:
                found = self._of_argument(function, argument)
                if found != read_set(argument, SRC_SET):
                    arguments[index] = found
        write_sets_of_arguments(function, SRC_SET, arguments)
        changed = bool(arguments)
        for operation in operations_of(body_of(function)):
            if operation.name == ASSIGN:
                found = src_set_of(operation.operands[0], self._functions)
            elif is_meshless(operation):
                found = self._of_operation(operation)
            else:
                continue
            if found != read_set_of(operation, SRC_SET):
                write_set_of(operation, SRC_SET, found)
                changed = True
        return changed

    def _of_argument(self, function: ir.Operation, argument: ir.BlockArgument) -> MeshSet | None:
        if is_entry_point(function):
            used = read_set(argument, USE_SET)
            return dict.fromkeys(used, (INFERRED_INPUT,)) if used else None
        calls = self._calls.get(symbol_name(function), ())
        return intersection(
            src_set_of(call.operands[argument.arg_number], self._functions) for call in calls
        )

    def _of_operation(self, operation: ir.Operation) -> MeshSet | None:
        if operation.name == UNASSIGN:
            return _of_unassign(operation)
        if operation.name in BETWEEN_MESHES:
            return None
        if operation.name == "stablehlo.concatenate" and annotation_of(operation) is not None:
            return read_set_of(operation, SRC_SET)
        operands = operands_with_free_values(operation)
        sets = [src_set_of(operand, self._functions) for operand in operands]
        found = intersection(sets)
        kind = KINDS.get(operation.name)
        slices = sum_of_slices(operation)
        if slices is not None:
            joined, kind = slices
            operands = list(joined.operands)
            sets = [src_set_of(operand, self._functions) for operand in operands]
            found = intersection(sets)
        if kind is None or not all(sets):
            return found
        is_continued = any(
            not isinstance(operand.owner, ir.Block)
            and annotation_of(operand.owner.operation) == kind
            for operand in operands
        )
        if found and not is_continued:
            annotate(operation, None)
            return found
        meshes = union(each for each in sets if each is not None)
        annotate(operation, kind)
        if slices is not None:
            annotate(slices[0], kind)
            write_set_of(slices[0], SRC_SET, meshes)
        return meshes


def _of_unassign(operation: ir.Operation) -> MeshSet:
    source = operation.operands[0]
    own = mesh_type(source)
    assert own is not None, "it is unassigned"
    origin = text_of(operation, "origin")
    found = set_of_mesh(own.mesh_name, origin)
    for user in reversed(users_of(source)):
        if user.name == TRANSFER:
            target = mesh_type(user.results[0])
            assert target is not None, "it is transferred"
            found.setdefault(target.mesh_name, ("transfer",))
    if isinstance(source, ir.BlockArgument) and is_entry_point(source.owner.owner.operation):
        used = read_set_of(operation, USE_SET) or {}
        found = union((found, dict.fromkeys(used, (INFERRED_INPUT,))))
    return found
