# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of mesh inference: errors of operations whose operands or users are on other meshes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mlir_sdy.assembly import asm
from mlir_sdy.diagnostics import Diagnostic, PassError, SourceLocation, error
from mlir_sdy.discardable import has_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.reading import ASSIGN, UNASSIGN, body_of, is_entry_point, operations_of
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    SRC_SET,
    USE_SET,
    MeshSet,
    is_meshless,
    operands_with_free_values,
    read_set,
    read_set_of,
)
from pyshardy.mpmd.inference.reductions import REDUCE, annotation_of, sum_of_slices
from pyshardy.mpmd.options import ErrorLimit
from pyshardy.mpmd.passes.analysis import src_set_of, uses_of
from pyshardy.mpmd.rewriting.functions import calls_by_callee, functions_with_bodies, mpmd_functions
from pyshardy.pipeline import register_pass

_REMEDY = "Add an explicit transfer to fix this.\nTo handle this automatically, set"
TRANSFERS = "`mpmd_infer_transfers`, the pass option 'infer-transfers'"
REDUCTIONS = "`mpmd_infer_cross_mesh_reductions`, the pass option 'infer-cross-mesh-reductions'"
"""The remedies as options of C++ Shardy and of passes."""


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
    functions, calls = functions_with_bodies(module), calls_by_callee(module)
    for function in mpmd_functions(module):
        name = symbol_name(function)
        for argument in body_of(function).arguments:
            if is_entry_point(function) or read_set(argument, SRC_SET) != {}:
                continue
            operands = [call.operands[argument.arg_number] for call in calls[name]]
            sets = [src_set_of(operand, functions) for operand in operands]
            if {} in sets:
                continue  # what a call takes is reported
            which = f'arg{argument.arg_number} of mpmd.call "{name}"'
            lines = [
                f"Mesh assignment is not possible for {which} as its caller operands are on "
                "conflicting meshes and thus we need to transfer some of the operands. "
                f"{_REMEDY} {TRANSFERS}.",
                f"mpmd.call was called {len(operands)} times, with operands on the meshes:",
            ]
            for operand, found in zip(operands, sets, strict=True):
                lines.append(f" - Input{_place(operand)}: {', '.join(_entries(found)) or 'any'}")
            yield error("\n".join(lines), location_of(function.location))
        for operation in operations_of(body_of(function)):
            if not is_meshless(operation):
                continue
            is_reduction = has_discardable(operation, REDUCE)
            if read_set_of(operation, SRC_SET) != {} and not is_reduction:
                continue
            operands = operands_with_free_values(operation)
            sets = [src_set_of(operand, functions) for operand in operands]
            users = [user for result in operation.results for user in uses_of(result)]
            if {} in sets and not is_reduction:
                continue  # its operand is reported
            if any(sum_of_slices(user) is not None and annotation_of(user) for user in users):
                continue  # the reduction is reported
            remedy = f"{REDUCTIONS}, or {TRANSFERS}" if is_reduction else TRANSFERS
            lines = [
                "Mesh assignment is not possible for op as its operands are on conflicting meshes "
                f"and thus we need to transfer some of the operands. {_REMEDY} {remedy}.",
                f"Op: {_text(operation)}",
                "Operands with possibly conflicting meshes:",
            ]
            for index, (operand, found) in enumerate(zip(operands, sets, strict=True)):
                meshes = "any mesh" if found is None else f"meshes {_names(found)}"
                lines.append(f" - Operand {index} can be assigned to {meshes}{_place(operand)}")
                lines += [f"   - {each}" for each in _entries(found)]
            lines.append("Op is used in:")
            lines += [f" - {user.name}{_at(location_of(user.location))}" for user in users]
            yield error("\n".join(lines), location_of(operation.location))


def _not_contained(module: ir.Module) -> Iterator[Diagnostic]:
    functions = functions_with_bodies(module)
    for function in mpmd_functions(module):
        for operation in operations_of(body_of(function)):
            if not (is_meshless(operation) or operation.name == ASSIGN):
                continue
            if operation.name == UNASSIGN or not _needs_transfer(operation):
                continue  # the value of an unassignment can be transferred
            users = [user for result in operation.results for user in uses_of(result)]
            if any(is_meshless(user) and _needs_transfer(user) for user in users):
                continue  # the last operation before the transfer is reported
            possible = read_set_of(operation, SRC_SET) or {}
            used = read_set_of(operation, USE_SET) or {}
            operands = operands_with_free_values(operation)
            lines = [
                f"Mesh assignment is not possible for op as it is used in {_names(used)} but it "
                f"can only be placed on {_names(possible)} without introducing a transfer. "
                f"{_REMEDY} {TRANSFERS}.",
                f"Op: {_text(operation)}",
                f"Can be assigned to meshes: {_names(possible)} which originates from the "
                "intersection of:",
            ]
            for operand in operands:
                found = src_set_of(operand, functions)
                entries = ", ".join(_entries(found)) or "any mesh"
                lines.append(f" - Input{_place(operand)}: {entries}")
            lines.append(
                f"But was used in meshes: {_names(used)} which originates from the union of:"
            )
            lines += [f" - {each}" for each in _entries(used)]
            yield error("\n".join(lines), location_of(operation.location))


def _needs_transfer(operation: ir.Operation) -> bool:
    possible = read_set_of(operation, SRC_SET)
    used = read_set_of(operation, USE_SET) or {}
    return possible is not None and not used.keys() <= possible.keys()


def _names(found: MeshSet) -> str:
    return f"{{{','.join(found)}}}"


def _entries(found: MeshSet | None) -> list[str]:
    return [f"{mesh}[{','.join(origins)}]" for mesh, origins in (found or {}).items()]


def _text(operation: ir.Operation) -> str:
    return asm(operation, local_scope=True, skip_regions=True, assume_verified=True).strip()


def _place(value: ir.Value) -> str:
    owner = value.owner
    if isinstance(owner, ir.Block):
        number = ir.BlockArgument(value).arg_number
        return f" (argument {number}{_at(location_of(value.location))})"
    return f" ({owner.operation.name}{_at(location_of(owner.operation.location))})"


def _at(place: SourceLocation | None) -> str:
    return "" if place is None else f" at {place}"
