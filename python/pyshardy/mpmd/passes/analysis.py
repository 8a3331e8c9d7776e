# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that find the meshes of operations without a name, and check them."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, are_remarks_wanted, emit, error, remark
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, unassign
from mlir_sdy.mpmd.reading import body_of, mesh_type, returned_values
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import update_type
from pyshardy.mpmd.inference import conflicts, reductions, src_sets, use_sets
from pyshardy.mpmd.inference.mesh_sets import (
    SRC_SET,
    USE_SET,
    read_set,
    write_set_of,
    write_sets_of_arguments,
)
from pyshardy.mpmd.inference.src_sets import src_set_of
from pyshardy.mpmd.options import (
    Constraints,
    ErrorLimit,
    InferReductions,
    NoEffect,
    read_constraints,
)
from pyshardy.mpmd.rewriting.functions import (
    entry_points,
    functions_with_bodies,
    mpmd_functions,
    set_returned,
)
from pyshardy.mpmd.rewriting.marks import CONSTRAINED_INPUT, CONSTRAINED_OUTPUT
from pyshardy.pipeline import register_pass


@register_pass("mpmd-infer-mesh-populate-use-set", release="0.10.2")
def infer_mesh_populate_use_set(module: ir.Module) -> None:
    """Find the meshes that values are used on.

    The attribute `mpmd.use_set` of arguments, and of operations without a mesh, has the meshes that
    a value is used on, transitively, with the origins of these uses. Calls count as if they were
    inlined.
    """
    use_sets.populate(module)


@register_pass("mpmd-infer-mesh-populate-src-set", release="0.10.2")
def infer_mesh_populate_src_set(module: ir.Module) -> None:
    """Find the meshes that values can be on without a new transfer.

    The attribute `mpmd.src_set` of arguments, and of operations without a mesh, has these meshes:
    the common ones of the operands. Without the attribute, a value can be on any mesh. A sum and
    the like of values on different meshes is annotated as a reduction, by the attribute
    `mpmd.reduce`.
    """
    src_sets.populate(module)


@register_pass("mpmd-infer-mesh-convert-reduce-ops", release="0.10.2")
def infer_mesh_convert_reduce_ops(
    module: ir.Module, *, infer_cross_mesh_reductions: InferReductions = False
) -> None:
    """Convert annotated operations to reductions across meshes.

    Chains of a kind become a single reduction. Without the option, only operations that an
    `mpmd.reduce<none>` of the user marks are converted.
    """
    for function in mpmd_functions(module):
        reductions.convert(function, all_of_them=infer_cross_mesh_reductions)


@register_pass("mpmd-infer-mesh-validate-src-set-not-empty", release="0.10.2")
def infer_mesh_validate_src_set_not_empty(
    module: ir.Module, *, error_limit: ErrorLimit = 5
) -> None:
    """Check that each operation can be on a mesh.

    Raises:
        PassError: the operands of an operation are on conflicting meshes.
    """
    conflicts.check_src_sets(module, error_limit)


@register_pass("mpmd-infer-mesh-validate-no-additional-transfers-needed", release="0.10.2")
def infer_mesh_validate_no_additional_transfers_needed(
    module: ir.Module, *, error_limit: ErrorLimit = 5
) -> None:
    """Check that each operation can be on the meshes that use it.

    Raises:
        PassError: an operation is used on a mesh where it cannot be.
    """
    conflicts.check_use_sets(module, error_limit)


@register_pass("mpmd-infer-mesh-assign-using-input-output-constraints", release="0.10.2")
def infer_mesh_assign_using_input_output_constraints(
    module: ir.Module,
    *,
    constraints: Constraints = (),
    verbose_logging: NoEffect = False,  # noqa: ARG001 (an option of C++ Shardy)
) -> None:
    """Put arguments and results that must be on the same mesh on a common mesh.

    The mesh is that of the result, else that of the argument, if one has a mesh. Else it is the
    first mesh that uses both, else the first one, by name, that uses the argument and that the
    result can be on.

    Raises:
        PassError: an index is out of range.
    """
    pairs = read_constraints(constraints)
    functions = functions_with_bodies(module)
    for function in entry_points(module) if pairs else ():
        arguments, returned = body_of(function).arguments, returned_values(function)
        placed: dict[int, None] = {}
        meshes: list[tuple[int, str]] = []
        for index, output in pairs:
            if index >= len(arguments) or output >= len(returned):
                message = (
                    f"there is no argument {index} or no result {output}: the function has "
                    f"{len(arguments)} arguments and {len(returned)} results"
                )
                raise PassError(error(message, location_of(function.location)))
            mesh = _common_mesh(arguments[index], returned[output], functions)
            if mesh is None:
                if are_remarks_wanted():
                    message = f"no mesh suits argument {index} and result {output}"
                    emit(remark(message, location_of(function.location)))
                continue
            if mesh_type(arguments[index]) is None:
                _place(function, arguments[index], mesh)
                placed[index] = None
            meshes.append((output, mesh))
        for name in (SRC_SET, USE_SET):
            write_sets_of_arguments(function, name, placed)
        values = returned_values(function)  # which may have been arguments
        terminator = terminator_of(body_of(function))
        with ir.InsertionPoint(terminator), terminator.location:
            for output, mesh in meshes:
                value = values[output]
                if mesh_type(value) is None:
                    to = mesh_tensor(value.type, mesh)
                    values[output] = assign(value, to, CONSTRAINED_OUTPUT)
        set_returned(function, values)
        update_type(function)


def _common_mesh(
    argument: ir.Value, value: ir.Value, functions: dict[str, ir.Operation]
) -> str | None:
    for typed in (value, argument):
        found = mesh_type(typed)
        if found is not None:
            return found.mesh_name
    used = read_set(argument, USE_SET) or {}
    also = read_set(value, USE_SET) or {}
    both = [mesh for mesh in used if mesh in also]
    if both:
        return both[0]
    possible = src_set_of(value, functions)
    return min((mesh for mesh in used if possible is None or mesh in possible), default=None)


def _place(function: ir.Operation, argument: ir.BlockArgument, mesh: str) -> None:
    """Put an argument on a mesh, and keep its sets at the unassignment."""
    used, possible = read_set(argument, USE_SET), read_set(argument, SRC_SET) or {}
    argument.set_type(mesh_tensor(argument.type, mesh))
    with ir.InsertionPoint.at_block_begin(body_of(function)), function.location:
        tensor = unassign(argument, CONSTRAINED_INPUT)
    argument.replace_all_uses_except(tensor, [tensor.owner.operation])
    others = {name: origins for name, origins in possible.items() if name != mesh}
    found = {mesh: (CONSTRAINED_INPUT,), **others}
    write_set_of(tensor.owner.operation, SRC_SET, found)
    write_set_of(tensor.owner.operation, USE_SET, used)
