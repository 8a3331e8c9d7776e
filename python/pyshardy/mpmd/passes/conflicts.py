# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of mesh inference: errors of operations whose operands or users are on other meshes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import Diagnostic, PassError, error
from mlir_sdy.discardable import has_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    CALL,
    UNASSIGN,
    body_of,
    is_entry_point,
    is_mpmd_function,
    mesh_type,
    operations_of,
    returned_values,
)
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    SRC_SET,
    USE_SET,
    MeshSet,
    is_meshless,
    operands_with_free_values,
    read_set,
    read_set_of,
    set_of_mesh,
)
from pyshardy.mpmd.inference.reductions import REDUCE, annotation_of, sum_of_slices
from pyshardy.mpmd.options import ErrorLimit
from pyshardy.mpmd.passes.analysis import src_set_of, uses_of
from pyshardy.mpmd.rewriting.functions import calls_by_callee, functions_with_bodies, mpmd_functions
from pyshardy.pipeline import register_pass

_REMEDY = "Add an explicit transfer to fix this.\nTo handle this automatically, set"
_RULE = "-" * 51
_NUM_SAMPLES = 5

TRANSFERS = "`mpmd_infer_transfers` in the partitioning options"
REDUCTIONS = "`mpmd_infer_cross_mesh_reductions` in the partitioning options"
"""The remedies in the words of C++ Shardy; the options of pipelines have these names, too."""


@register_pass("mpmd-infer-mesh-validate-src-set-not-empty", release="0.10.2")
def infer_mesh_validate_src_set_not_empty(
    module: ir.Module, *, error_limit: ErrorLimit = 5
) -> None:
    """Check that each operation can be on a mesh.

    Raises:
        PassError: the operands of an operation are on conflicting meshes.
    """
    raise_up_to(error_limit, _empty(module))


@register_pass("mpmd-infer-mesh-validate-no-additional-transfers-needed", release="0.10.2")
def infer_mesh_validate_no_additional_transfers_needed(
    module: ir.Module, *, error_limit: ErrorLimit = 5
) -> None:
    """Check that each operation can be on the meshes that use it.

    Raises:
        PassError: an operation is used on a mesh where it cannot be.
    """
    raise_up_to(error_limit, _not_contained(module))


def raise_up_to(limit: int, found: Iterable[Diagnostic]) -> None:
    """Raise the first errors of those found, if any; all for the limit -1.

    Raises:
        PassError: there is an error, or the limit is invalid.
    """
    if limit == 0 or limit < -1:
        message = f"the option 'error-limit' must be positive, or -1 for all errors: {limit}"
        raise PassError(error(message))
    errors = list(found)
    if errors:
        raise PassError(*(errors if limit < 0 else errors[:limit]))


def _empty(module: ir.Module) -> Iterator[Diagnostic]:
    values = _Values(module)
    for function in functions_of(module):
        if not (is_mpmd_function(function) and has_body(function)):
            continue
        name = symbol_name(function)
        for argument in body_of(function).arguments:
            if is_entry_point(function) or read_set(argument, SRC_SET) != {}:
                continue
            operands = [call.operands[argument.arg_number] for call in values.calls[name]]
            operands.reverse()
            if {} in [src_set_of(operand, values.functions) for operand in operands]:
                continue  # what a call takes is reported
            which = f'arg{argument.arg_number} of mpmd.call "{name}"'
            lines = [
                f"Mesh assignment is not possible for {which} as its caller operands are on "
                "conflicting meshes and thus we need to transfer some of the operands. "
                f"{_REMEDY} {TRANSFERS}.",
                _RULE,
                f"mpmd.call was called {len(operands)} times and can be assigned to meshes: {{}} "
                "which originates from the intersection of:",
                *values.sources(operands),
                *values.uses(argument, "Arg"),
                "Sample arg users:",
                *(f" - {_text(user)}" for user in uses_of(argument)[:_NUM_SAMPLES]),
                _RULE,
            ]
            yield error("\n".join(lines), location_of(function.location))
        for operation in operations_of(body_of(function)):
            if not is_meshless(operation):
                continue
            is_reduction = has_discardable(operation, REDUCE)
            if read_set_of(operation, SRC_SET) != {} and not is_reduction:
                continue
            operands = operands_with_free_values(operation)
            sets = [src_set_of(operand, values.functions) for operand in operands]
            users = [user for result in operation.results for user in uses_of(result)]
            if {} in sets and not is_reduction:
                continue  # its operand is reported
            if any(sum_of_slices(user) is not None and annotation_of(user) for user in users):
                continue  # the reduction is reported
            lines = [
                "Mesh assignment is not possible for op as its operands are on conflicting meshes "
                "and thus we need to transfer some of the operands. "
                f"{_REMEDY} {REDUCTIONS if is_reduction else TRANSFERS}.",
                _RULE,
                f"Op: \n\t{_text(operation)}",
                "Operands with possibly conflicting meshes:",
            ]
            for index, (operand, found) in enumerate(zip(operands, sets, strict=True)):
                meshes = "any mesh and originates from the intersections of:"
                if found is not None:
                    meshes = f"meshes {_names(found)} which originates from:"
                lines.append(f" - Operand {index} can be assigned to {meshes}")
                lines += [f"  {each}" for each in values.sources([operand])]
            for result in operation.results:
                lines += values.uses(result, "Op")
            yield error("\n".join([*lines, _RULE]), location_of(operation.location))


def _not_contained(module: ir.Module) -> Iterator[Diagnostic]:
    values = _Values(module)
    for function in mpmd_functions(module):
        for operation in reversed(list(operations_of(body_of(function)))):
            if not (is_meshless(operation) or operation.name == ASSIGN):
                continue
            if operation.name == UNASSIGN or not _needs_transfer(operation):
                continue  # the value of an unassignment can be transferred
            users = [user for result in operation.results for user in uses_of(result)]
            if any(is_meshless(user) and _needs_transfer(user) for user in users):
                continue  # the last operation before the transfer is reported
            possible = read_set_of(operation, SRC_SET) or {}
            used = read_set_of(operation, USE_SET) or {}
            lines = [
                f"Mesh assignment is not possible for op as it is used in {_names(used)} but it "
                f"can only be placed on {_names(possible)} without introducing a transfer. "
                f"{_REMEDY} {TRANSFERS}.",
                _RULE,
                f"Op: \n\t{_text(operation)}",
                f"Can be assigned to meshes: {_names(possible)} which originates from the "
                "intersection of:",
                *values.sources(operands_with_free_values(operation)),
                f"But was used in meshes: {_names(used)} which originates from the union of:",
                *values.users_of(operation),
                _RULE,
            ]
            yield error("\n".join(lines), location_of(operation.location))


def _needs_transfer(operation: ir.Operation) -> bool:
    possible = read_set_of(operation, SRC_SET)
    used = read_set_of(operation, USE_SET) or {}
    return possible is not None and not used.keys() <= possible.keys()


class _Values:
    """The values of a program, which calls pass on."""

    def __init__(self, module: ir.Module):
        self.functions = functions_with_bodies(module)
        self.calls = calls_by_callee(module)

    def sources(self, values: Iterable[ir.Value]) -> list[str]:
        """Return lines on the arguments and values on meshes that values come from."""
        return _lines_reached(values, self._before)

    def _before(self, value: ir.Value) -> list[ir.Value | str]:
        """Return the values that a value comes from, or the line on it."""
        owner = value.owner
        if isinstance(owner, ir.Block):
            function = owner.owner.operation
            callers = [] if is_entry_point(function) else self.calls.get(symbol_name(function))
            if callers:
                number = ir.BlockArgument(value).arg_number
                return [call.operands[number] for call in callers]
        elif owner.operation.name == CALL:
            callee = self.functions[CallView(owner.operation).callee]
            return [returned_values(callee)[ir.OpResult(value).result_number]]
        elif owner.operation.name != UNASSIGN:
            return [*operands_with_free_values(owner.operation)[::-1]]
        return [f" - Input {value.location}: {_entries(read_set(value, SRC_SET))}"]

    def uses(self, value: ir.Value, what: str) -> list[str]:
        """Return lines on the meshes that use a value; `what` names it."""
        used = read_set(value, USE_SET)
        where = f" meshes {_names(used)} which originates from the union of:" if used else ":"
        return [f"{what} is used in{where}", *self._users([value])]

    def users_of(self, operation: ir.Operation) -> list[str]:
        """Return a line for each assignment that takes what an operation computes, or does it."""
        if operation.name == ASSIGN:
            return [_output(operation)]
        return self._users(operation.results)

    def _users(self, values: Iterable[ir.Value]) -> list[str]:
        return _lines_reached(values, self._after)

    def _after(self, value: ir.Value) -> list[ir.Value | str]:
        """Return the values that users compute from a value, and the lines on other users."""
        found: list[ir.Value | str] = []
        for use in value.uses:
            user = use.owner.operation
            parent = user.parent if user.name == "func.return" else None
            function = None if parent is None else parent.operation
            if user.name == CALL:
                callee = self.functions[CallView(user).callee]
                found.append(body_of(callee).arguments[use.operand_number])
            elif function is not None and not is_entry_point(function):
                calls = self.calls.get(symbol_name(function), ())
                found += [call.results[use.operand_number] for call in calls]
            elif user.name == ASSIGN or not user.results:
                found.append(_output(user))
            else:
                found += list(user.results)
        return found


def _lines_reached(
    values: Iterable[ir.Value], following: Callable[[ir.Value], list[ir.Value | str]]
) -> list[str]:
    """Return the different lines of a search, which goes on with the last value that it found."""
    lines: dict[str, None] = {}
    seen: set[ir.Value] = set()
    waiting = list(values)[::-1]
    while waiting:
        value = waiting.pop()
        if value in seen:
            continue
        seen.add(value)
        reached = following(value)
        lines.update(dict.fromkeys([each for each in reached if isinstance(each, str)]))
        waiting += [each for each in reached if not isinstance(each, str)]
    return list(lines)


def _output(user: ir.Operation) -> str:
    target = mesh_type(user.results[0]) if user.name == ASSIGN else None
    found = set_of_mesh(target.mesh_name, text_of(user, "origin")) if target is not None else None
    return f" - Output {user.location}: {_entries(found)}"


def _names(found: MeshSet) -> str:
    return f"{{{','.join(found)}}}"


def _entries(found: MeshSet | None) -> str:
    return ", ".join(f"{mesh}[{','.join(origins)}]" for mesh, origins in (found or {}).items())


def _text(operation: ir.Operation) -> str:
    return asm(operation, local_scope=True, skip_regions=True, assume_verified=True).strip()
