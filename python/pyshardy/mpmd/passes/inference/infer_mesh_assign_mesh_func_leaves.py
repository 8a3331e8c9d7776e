# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-infer-mesh-assign-mesh-func-leaves`."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.diagnostics import Diagnostic, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, unassign
from mlir_sdy.mpmd.reading import (
    body_of,
    is_entry_point,
    mesh_type,
    operations_of,
    returned_values,
)
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.functions import update_type
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.inference.conflicts import raise_up_to
from pyshardy.mpmd.inference.mesh_sets import (
    BETWEEN_MESHES,
    USE_SET,
    MeshSet,
    clear_use_sets,
    is_meshless,
    read_set,
    read_set_of,
    write_sets_of_arguments,
    write_sets_of_results,
)
from pyshardy.mpmd.inference.src_sets import src_set_of
from pyshardy.mpmd.options import ErrorLimit, InferTransfers
from pyshardy.mpmd.rewriting.functions import (
    calls_by_callee,
    functions_with_bodies,
    mpmd_functions,
    set_returned,
)
from pyshardy.mpmd.rewriting.marks import INFERRED_OUTPUT
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.mpmd.rewriting.regions import is_used
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
                reason = "its operands are on several meshes"
                message = f"{what} has no mesh to be assigned to: {reason}"
                place = self._function if isinstance(owner, ir.Block) else owner.operation
                self.errors.append(error(message, location_of(place.location)))
            return self._first
        if given is not None:
            return next((mesh for mesh in possible if mesh in used), next(iter(possible)))
        return min(possible.keys() & used.keys() or possible)
