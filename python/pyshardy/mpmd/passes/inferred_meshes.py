# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes that put operations without a name on the meshes that the analysis found."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.diagnostics import Diagnostic, PassError, error
from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import MeshTensorType, mesh_tensor
from mlir_sdy.mpmd.building import assign, fragment, return_, unassign
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import (
    ASSIGN,
    FRAGMENT,
    TRANSFER,
    UNASSIGN,
    body_of,
    is_entry_point,
    mesh_type,
    operations_of,
    producer,
    returned_values,
)
from mlir_sdy.mpmd.values import MeshReduction
from mlir_sdy.mpmd.verify import reduction_of
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import is_used, replace_by
from pyshardy.irtools.functions import update_type
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.inference.mesh_sets import (
    BETWEEN_MESHES,
    SRC_SET,
    USE_SET,
    MeshSet,
    clear_sets,
    clear_use_sets,
    is_meshless,
    operands_with_free_values,
    read_set,
    read_set_of,
    write_sets_of_arguments,
    write_sets_of_results,
)
from pyshardy.mpmd.inference.reductions import OPERATIONS, REDUCE
from pyshardy.mpmd.inference.signatures import assign_results, place_arguments, place_callee
from pyshardy.mpmd.options import ErrorLimit, InferTransfers, MaxClones, NoEffect
from pyshardy.mpmd.passes.analysis import src_set_of
from pyshardy.mpmd.passes.conflicts import raise_up_to
from pyshardy.mpmd.rewriting.functions import (
    calls_by_callee,
    functions_with_bodies,
    mpmd_functions,
    set_returned,
)
from pyshardy.mpmd.rewriting.marks import INFERRED_OUTPUT, mark_inferred, mark_reduction, topology
from pyshardy.mpmd.rewriting.regions import add_operands, erase_dead, replace_inside
from pyshardy.mpmd.rewriting.transfers import resolve_assignments, unassigned_source, users_of
from pyshardy.pipeline import register_pass

_UNUSED = "inferred_unused"
_UNUSED_ARGUMENT = "inferred_unused_callee_in"
_UNUSED_RESULT = "inferred_unused_callee_out"


@register_pass("mpmd-infer-mesh-assign-mesh-func-leaves", release="0.10.2")
def infer_mesh_assign_mesh_func_leaves(
    module: ir.Module, *, infer_transfers: InferTransfers = False, error_limit: ErrorLimit = 5
) -> None:
    """Assign results of functions, and what is unused, to meshes.

    Operands of reductions and broadcasts are assigned, too. The mesh is the first one that a value
    can be on and is used on, else the first one that it can be on, else the first one of its uses,
    else of the topology. The use-sets have to be found again afterwards.

    Raises:
        PassError: a value can be on no mesh.
    """
    functions = functions_with_bodies(module)
    calls = calls_by_callee(module)
    errors: list[Diagnostic] = []
    for function in mpmd_functions(module):
        own_calls = calls.get(symbol_name(function), ())
        leaves = _Leaves(function, functions, own_calls, infer_transfers)
        leaves.assign()
        clear_use_sets(function)
        leaves.mark_unused()
        errors += leaves.errors
    raise_up_to(error_limit, errors)


class _Leaves:
    def __init__(
        self,
        function: ir.Operation,
        functions: dict[str, ir.Operation],
        calls: Sequence[ir.Operation],
        infer_transfers: bool,
    ):
        self._function = function
        self._functions = functions
        self._infers = infer_transfers
        self._first = topology(function).names[0]
        self._calls = calls
        self._unused: dict[int, str] = {}
        self._unused_results: dict[int, str] = {}
        self.errors: list[Diagnostic] = []

    def mark_unused(self) -> None:
        """Write the use-sets of the unused arguments and results of a callee."""
        unused = {at: {mesh: (_UNUSED_ARGUMENT,)} for at, mesh in self._unused.items()}
        write_sets_of_arguments(self._function, USE_SET, unused)
        results = {at: {mesh: (_UNUSED_RESULT,)} for at, mesh in self._unused_results.items()}
        write_sets_of_results(self._function, USE_SET, results)

    def assign(self) -> None:
        """Assign results, operands of reductions and broadcasts, and what is unused."""
        function = self._function
        body = body_of(function)
        is_entry = is_entry_point(function)
        for operation in operations_of(body):
            if operation.name in BETWEEN_MESHES:
                label = operation.name.removeprefix("mpmd.")
                for index, operand in enumerate(operation.operands):
                    with ir.InsertionPoint(operation), operation.location:
                        used = read_set_of(operation, USE_SET) or {}
                        mesh = self._mesh_of(operand, "Value", used)
                        placed_operand = assign(operand, mesh_tensor(operand.type, mesh), label)
                        operation.operands[index] = unassign(placed_operand)
            elif is_meshless(operation):
                for result in operation.results:
                    if not is_used(result) and isinstance(result.type, ir.RankedTensorType):
                        with ir.InsertionPoint.after(operation), operation.location:
                            self._assigned(result, _UNUSED)
        for argument in body.arguments:
            if not isinstance(argument.type, ir.RankedTensorType) or is_used(argument):
                continue
            mesh = self._mesh_of(argument, "Value")
            if is_entry:
                argument.set_type(mesh_tensor(argument.type, mesh))
                update_type(function)
            else:
                self._unused[argument.arg_number] = mesh
        outputs = returned_values(function)
        if not is_entry:
            self._unused_results = {
                index: self._mesh_of(value, f"Result {index}")
                for index, value in enumerate(outputs)
                if isinstance(value.type, ir.RankedTensorType)
                and not any(is_used(call.results[index]) for call in self._calls)
            }
            return
        placed: list[ir.Value] = []
        for index, value in enumerate(outputs):
            if mesh_type(value) is not None or not isinstance(value.type, ir.RankedTensorType):
                placed.append(value)
                continue
            with ir.InsertionPoint(terminator_of(body)), terminator_of(body).location:
                placed.append(self._assigned(value, INFERRED_OUTPUT, f"Func output {index}"))
        if placed != outputs:
            set_returned(function, placed)
            update_type(function)

    def _assigned(self, value: ir.Value, origin: str = "", what: str = "Value") -> ir.Value:
        mesh = self._mesh_of(value, what)
        return assign(value, mesh_tensor(value.type, mesh), origin)

    def _mesh_of(self, value: ir.Value, what: str, given: MeshSet | None = None) -> str:
        """Return the mesh of a leaf, the first by name, or in the order of the given use-set."""
        possible = src_set_of(value, self._functions)
        owner = value.owner
        used = read_set(value, USE_SET) or {} if given is None else given
        if possible is None:
            return min(used, default=self._first)
        if not possible:
            if not self._infers:
                reason = "It needs values of several meshes"
                message = f"{what} has no mesh to be assigned to. {reason}"
                place = self._function.location if isinstance(owner, ir.Block) else owner.location
                if what != "Value":
                    place = terminator_of(body_of(self._function)).location
                self.errors.append(error(message, location_of(place)))
            return self._first
        if given is not None:
            # The first by name is also that of results, so that sums stay on a mesh.
            return next((mesh for mesh in possible if mesh in used), min(possible))
        return min(possible.keys() & used.keys() or possible)


_KEPT = frozenset({UNASSIGN, "mpmd.broadcast", REDUCE})
WRAPPED = "infer_mesh_wrap_meshless_ops"
"""The mark of fragments that this module makes."""


@register_pass("mpmd-infer-mesh-rewrite-using-analysis", release="0.10.2")
def infer_mesh_rewrite_using_analysis(module: ir.Module, *, max_clones: MaxClones = 1) -> None:
    """Move operations without a mesh into fragments.

    An operation goes into the fragment that uses it, or is copied into each one if it is cheap, or
    gets a fragment of its own on each mesh that uses it. Calls get operands and results on meshes.
    """
    functions = functions_with_bodies(module)
    for function in mpmd_functions(module):
        if not is_entry_point(function):
            assign_results(function, functions)
        _rewrite(function, max_clones)
        calls = calls_by_callee(module).get(symbol_name(function))
        if calls:
            place_callee(function, calls)


def _rewrite(function: ir.Operation, max_clones: int) -> None:
    """Move the operations without a mesh in a function into fragments, the last one first."""
    for operation in reversed(operations_of(body_of(function))):
        if is_meshless(operation) and operation.name not in _KEPT:
            _move_into_fragments(operation, max_clones)


def _move_into_fragments(operation: ir.Operation, max_clones: int) -> None:
    uses = [use.owner.operation for result in operation.results for use in result.uses]
    if not uses:
        if has_effects(operation) or not len(operation.results):
            for mesh in read_set_of(operation, SRC_SET) or {}:
                _wrap(operation, mesh)
                if not has_effects(operation):
                    break
        operation.erase()
        return
    if any(user.name != ASSIGN for user in uses):
        return
    by_mesh: dict[str, list[ir.Operation]] = {}
    for user in reversed(uses):
        target = mesh_type(user.results[0])
        assert target is not None, "it is assigned"
        by_mesh.setdefault(target.mesh_name, []).append(user)
    consumers = {use.owner.operation: None for user in uses for use in user.results[0].uses}
    are_fragments = bool(consumers) and all(each.name == FRAGMENT for each in consumers)
    is_unary = len(operation.operands) == len(operation.results) == 1
    may_clone = (
        len(consumers) <= max(max_clones, 1)
        or not len(operation.operands)
        or (is_unary and not has_effects(operation))
    )
    if are_fragments and may_clone:
        for consumer in consumers:
            _clone_into(operation, consumer)
    else:
        for mesh, assigns in by_mesh.items():
            _wrap(operation, mesh, assigns)
    for user in list(dict.fromkeys(uses)):
        if user.attached and user.operands[0] in operation.results:
            user.erase()
    operation.erase()


def _clone_into(operation: ir.Operation, consumer: ir.Operation) -> None:
    """Copy an operation to the beginning of a fragment that uses its results by assignments."""
    target = consumer
    mesh = _mesh_of(target)
    values = operands_with_free_values(operation)
    tensors = [each for each in dict.fromkeys(values) if isinstance(each.type, ir.RankedTensorType)]
    with ir.InsertionPoint(target), operation.location:
        operands = [assign(each, mesh_tensor(each.type, mesh)) for each in tensors]
    results = {result: index for index, result in enumerate(operation.results)}
    replaced_operands: dict[int, int] = {}
    for index, operand in enumerate(target.operands):
        owner = operand.owner
        if isinstance(owner, ir.Block) or owner.operation.name != ASSIGN:
            continue
        source = owner.operation.operands[0]
        if source in results:
            replaced_operands[index] = results[source]
    kept = [each for at, each in enumerate(target.operands) if at not in replaced_operands]
    built, arguments = add_operands(target, kept, operands, dropped=list(replaced_operands))
    copy = operation.clone(ip=ir.InsertionPoint.at_block_begin(body_of(built))).operation
    _without_sets(copy)
    for value, argument in zip(tensors, arguments.new, strict=True):
        replace_inside(copy, value, argument)
    for argument, result in zip(arguments.dropped, replaced_operands.values(), strict=True):
        argument.replace_all_uses_with(copy.results[result])
    arguments.erase_dropped()


def _wrap(operation: ir.Operation, mesh: str, assigns: list[ir.Operation] | None = None) -> None:
    """Build a fragment with an operation, and replace assignments of its results."""
    values = list(dict.fromkeys(operands_with_free_values(operation)))
    tensors = [each for each in values if isinstance(each.type, ir.RankedTensorType)]
    with ir.InsertionPoint(operation), operation.location:
        operands = [assign(each, mesh_tensor(each.type, mesh)) for each in tensors]
        built = fragment(
            mesh, [mesh_tensor(result.type, mesh) for result in operation.results], operands
        )
        mark_inferred(built, WRAPPED)
        body = body_of(built)
        with ir.InsertionPoint(body):
            copy = operation.clone().operation
            return_(list(copy.results))
    _without_sets(copy)
    for value, argument in zip(tensors, body.arguments, strict=True):
        replace_inside(copy, value, argument)
    with ir.InsertionPoint(operation), operation.location:
        for index, result in enumerate(built.results):
            users = [each for each in assigns or () if each.operands[0] == operation.results[index]]
            if users:
                tensor = unassign(result)
                for user in users:
                    user.operands[0] = tensor


def _without_sets(operation: ir.Operation) -> None:
    remove_discardable(operation, SRC_SET, USE_SET)


def _mesh_of(operation: ir.Operation) -> str:
    found = mesh_type([*operation.results, *operation.operands][0])
    assert found is not None, "the values of fragments are on meshes"
    return found.mesh_name


_REDUCED = "infer_mesh_convert_reduce_ops"


@register_pass("mpmd-infer-mesh-finalize", release="0.10.2")
def infer_mesh_finalize(
    module: ir.Module,
    *,
    infer_transfers: NoEffect = False,  # noqa: ARG001 (an option of C++ Shardy)
) -> None:
    """Put arguments on meshes, and convert assignments to transfers.

    An argument is on the first mesh, by name, that uses it. A value that several meshes use is
    passed from mesh to mesh. The operands of a reduction on one mesh are reduced there, and the
    partial results on each mesh that uses the reduction.

    Raises:
        PassError: an assignment is left.
    """
    for function in mpmd_functions(module):
        _finalize(function)


def _finalize(function: ir.Operation) -> None:
    """Convert the assignments in a function to transfers.

    Raises:
        PassError: an assignment or its inverse is left, or an argument has two kinds of memory.
    """
    body = body_of(function)
    _check_memory_kinds(function)
    place_arguments(function)
    for operation in operations_of(body):
        if operation.name == "mpmd.broadcast":
            replace_by(operation, operation.operands[0])
    erase_dead(body)
    resolve_assignments(body)
    for reduction in [each for each in operations_of(body) if each.name == REDUCE]:
        _reduce(reduction)
        resolve_assignments(body)
    clear_sets(function, SRC_SET, USE_SET)
    for operation in operations_of(body):
        if operation.name == TRANSFER:
            _skip_memory_between(operation)
    erase_dead(body)
    _check_no_tensor_left(function)


def _check_memory_kinds(function: ir.Operation) -> None:
    errors: list[Diagnostic] = []
    for index, argument in enumerate(body_of(function).arguments):
        users = [mesh_type(user.results[0]) for user in users_of(argument, ASSIGN)]
        kinds = {user.memory_kind for user in users if user is not None}
        if len(kinds) > 1:
            message = f"Argument {index} has different memory kinds assigned to it."
            if None in kinds:
                message += (
                    " Found at least one user with undefined memory kind and at least one user "
                    "with a memory kind."
                )
            errors.append(error(message, location_of(function.location)))
    if errors:
        raise PassError(*errors)


def _check_no_tensor_left(function: ir.Operation) -> None:
    errors: list[Diagnostic] = []
    for operation in operations_of(body_of(function)):
        message = "no more meshless ops are expected at this point."
        if operation.name in (ASSIGN, UNASSIGN):
            message = "assigns, unassigns or broadcasts are not allowed after mesh inference."
        elif not is_meshless(operation):
            continue
        errors.append(error(message, location_of(operation.location)))
    for index, value in enumerate(returned_values(function)):
        if isinstance(value.type, ir.RankedTensorType):
            message = f"function output {index} is not a MeshTensorType, but a '{value.type}'"
            errors.append(error(message, location_of(function.location)))
    if errors:
        raise PassError(*errors)


def _skip_memory_between(transfer: ir.Operation) -> None:
    """Transfer a value directly that a transfer on the mesh has put into other memory before."""
    before = producer(transfer.operands[0], TRANSFER)
    if before is None:
        return
    source, target = before.operands[0], transfer.results[0]
    meshes = {MeshTensorType(each.type).mesh_name for each in (source, before.results[0], target)}
    if len(meshes) > 1:
        return
    if source.type == target.type:
        target.replace_all_uses_with(source)
    else:
        transfer.operands[0] = source


def _reduce(operation: ir.Operation) -> None:
    """Reduce operands on their meshes, and the partial results on the meshes of the users."""
    kind = reduction_of(operation)
    by_mesh: dict[str, list[ir.Value]] = {}
    for operand in operation.operands:
        source = unassigned_source(operand)
        found = None if source is None else mesh_type(source)
        assert found is not None, "operands of reductions are assigned"
        by_mesh.setdefault(found.mesh_name, []).append(operand)
    with ir.InsertionPoint(operation), operation.location:
        partial = list(operation.operands)
        if kind != MeshReduction.NONE:
            partial = [_combined(mesh, by_mesh[mesh], kind) for mesh in sorted(by_mesh)]
    for user in users_of(operation.results[0], ASSIGN):
        target = mesh_type(user.results[0])
        assert target is not None, "it is assigned"
        with ir.InsertionPoint(user), user.location:
            total = _combined(target.mesh_name, partial, kind)
            user.results[0].replace_all_uses_with(assign(total, user.results[0].type))
        user.erase()
    if not list(operation.results[0].uses):
        operation.erase()


def _combined(mesh: str, values: Sequence[ir.Value], kind: MeshReduction) -> ir.Value:
    """Build a fragment that reduces values on a mesh."""
    if len(values) == 1 and kind != MeshReduction.NONE:
        return values[0]
    tensor = values[0].type
    operands = [assign(each, mesh_tensor(tensor, mesh)) for each in values]
    built = fragment(mesh, [mesh_tensor(tensor, mesh)], operands)
    mark_inferred(built, _REDUCED)
    body = body_of(built)
    with ir.InsertionPoint(body), built.location:
        total: ir.Value = body.arguments[0]
        for argument in list(body.arguments)[1:]:
            total = ir.Operation.create(
                OPERATIONS[kind], results=[tensor], operands=[total, argument]
            ).results[0]
            mark_reduction(total.owner.operation)
        return_([total])
    return unassign(built.results[0])
