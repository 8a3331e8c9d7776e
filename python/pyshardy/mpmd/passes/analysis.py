# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The analysis of mesh inference: where values are used, and where they can be."""

from __future__ import annotations

from mlir_sdy.diagnostics import are_remarks_wanted, emit, remark
from mlir_sdy.discardable import text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, unassign
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
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import update_type
from pyshardy.irtools.stablehlo_views import CallView, symbol_name
from pyshardy.irtools.walks import in_block
from pyshardy.mpmd.inference import reductions
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
    read_set_of_result,
    set_of_mesh,
    union,
    write_set_of,
    write_sets_of_arguments,
    write_sets_of_results,
)
from pyshardy.mpmd.inference.reductions import KINDS, annotate, annotation_of, sum_of_slices
from pyshardy.mpmd.options import Constraints, InferReductions, NoEffect, read_constraints
from pyshardy.mpmd.rewriting.functions import (
    calls_by_callee,
    check_pairs,
    entry_points,
    functions_with_bodies,
    mpmd_functions,
    set_returned,
)
from pyshardy.mpmd.rewriting.marks import CONSTRAINED_INPUT, CONSTRAINED_OUTPUT, INFERRED_INPUT
from pyshardy.mpmd.rewriting.transfers import in_order_of_text
from pyshardy.pipeline import register_pass

_MOST_ROUNDS = 16
"""The most rounds over all functions, which chains of calls need."""


@register_pass("mpmd-infer-mesh-populate-use-set", release="0.10.2")
def infer_mesh_populate_use_set(module: ir.Module) -> None:
    """Find the meshes that values are used on.

    The attribute `mpmd.use_set` of arguments, and of operations without a mesh, has the meshes that
    a value is used on, transitively, with the origins of these uses. Calls count as if they were
    inlined.
    """
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
    return list(_operands_by_user(value))


def _operands_by_user(value: ir.Value) -> dict[ir.Operation, list[int]]:
    """Return the operations of `uses_of`, with the operands that are the value, the last first."""
    owner = value.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    found: dict[ir.Operation, list[int]] = {}
    for use in value.uses:  # the last one first
        user = in_block(use.owner.operation, block)
        found.setdefault(user, []).append(use.operand_number)
    ordered = in_order_of_text(list(reversed(found)))
    return {user: sorted(found[user], reverse=True) for user in reversed(ordered)}


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
        return union(self._of_user(*each) for each in _operands_by_user(value).items())

    def _of_user(self, user: ir.Operation, operands: list[int]) -> MeshSet:
        if user.name == ASSIGN:
            return _of_assign(user)
        if user.name in BETWEEN_MESHES:
            return {}
        if user.name == CALL:
            callee = self._functions[CallView(user).callee]
            arguments = body_of(callee).arguments
            return union(read_set(arguments[index], USE_SET) or {} for index in operands)
        if user.name == "func.return":
            parent = user.parent
            assert parent is not None, "it ends a function"
            function = parent.operation
            if is_entry_point(function):
                return {}
            return union(self._of_result(function, index) for index in operands)
        return read_set_of(user, USE_SET) or {}


@register_pass("mpmd-infer-mesh-populate-src-set", release="0.10.2")
def infer_mesh_populate_src_set(module: ir.Module) -> None:
    """Find the meshes that values can be on without a new transfer.

    The attribute `mpmd.src_set` of arguments, and of operations without a mesh, has these meshes:
    the common ones of the operands. Without the attribute, a value can be on any mesh. A sum and
    the like of values on different meshes is annotated as a reduction, by the attribute
    `mpmd.reduce`.
    """
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
        check_pairs(function, pairs)
        for index, output in pairs:
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
