# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes of the leaves of functions: of results, and of unused results and arguments."""

from __future__ import annotations

from mlir_sdy.diagnostics import Diagnostic, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.mpmd.attributes import mesh_tensor
from mlir_sdy.mpmd.building import assign, unassign
from mlir_sdy.mpmd.reading import (
    CALL,
    body_of,
    is_entry_point,
    mesh_type,
    operations_of,
    returned_values,
)
from mlir_sdy.traversal import terminator_of
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.mpmd.inference.conflicts import raise_up_to
from pyshardy.mpmd.inference.mesh_sets import (
    BETWEEN_MESHES,
    SRC_SET,
    USE_SET,
    MeshSet,
    is_meshless,
    read_set,
    read_set_of,
    write_set_of,
)
from pyshardy.mpmd.inference.src_sets import src_set_of
from pyshardy.mpmd.rewriting.functions import mpmd_functions, set_returned, update_type
from pyshardy.mpmd.rewriting.meshes import topology
from pyshardy.mpmd.rewriting.origins import INFERRED_OUTPUT
from pyshardy.mpmd.rewriting.regions import is_used

_UNUSED = "inferred_unused"


def assign_leaves(module: ir.Module, *, infer_transfers: bool, error_limit: int) -> None:
    """Assign the leaves of all functions to meshes.

    Raises:
        PassError: a leaf can be on no mesh, and transfers are not inferred.
    """
    functions = {symbol_name(each): each for each in mpmd_functions(module)}
    errors: list[Diagnostic] = []
    for function in functions.values():
        leaves = _Leaves(function, functions, infer_transfers)
        leaves.assign()
        errors += leaves.errors
    raise_up_to(error_limit, errors)


class _Leaves:
    def __init__(
        self, function: ir.Operation, functions: dict[str, ir.Operation], infer_transfers: bool
    ):
        self._function = function
        self._functions = functions
        self._infers = infer_transfers
        self._first = topology(function).names[0]
        self.errors: list[Diagnostic] = []

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
            elif is_meshless(operation) or operation.name == CALL:
                for result in operation.results:
                    if not is_used(result) and isinstance(result.type, ir.RankedTensorType):
                        with ir.InsertionPoint.after(operation), operation.location:
                            self._assigned(result, _UNUSED)
        for argument in body.arguments:
            if mesh_type(argument) is None and not is_used(argument):
                if is_entry and isinstance(argument.type, ir.RankedTensorType):
                    argument.set_type(mesh_tensor(argument.type, self._mesh_of(argument, "Value")))
                    update_type(function)
                    continue
                with ir.InsertionPoint.at_block_begin(body), function.location:
                    self._assigned(argument, _UNUSED)
        outputs = returned_values(function)
        known: dict[ir.Value, ir.Value] = {}
        placed: list[ir.Value] = []
        for index, value in enumerate(outputs):
            if mesh_type(value) is not None or not isinstance(value.type, ir.RankedTensorType):
                placed.append(value)
                continue
            if value not in known:
                with ir.InsertionPoint(terminator_of(body)), terminator_of(body).location:
                    found = self._assigned(value, INFERRED_OUTPUT, f"Func output {index}")
                    known[value] = found if is_entry else self._unassigned(found)
            placed.append(known[value])
        if placed != outputs:
            set_returned(function, placed)
            update_type(function)

    def _assigned(self, value: ir.Value, origin: str = "", what: str = "Value") -> ir.Value:
        mesh = self._mesh_of(value, what)
        return assign(value, mesh_tensor(value.type, mesh), origin)

    def _unassigned(self, value: ir.Value) -> ir.Value:
        """Return the tensor of a returned value, which the sets of calls are read from."""
        tensor = unassign(value)
        own = mesh_type(value)
        assert own is not None, "it is assigned"
        write_set_of(tensor.owner.operation, SRC_SET, {own.mesh_name: ()})
        return tensor

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
