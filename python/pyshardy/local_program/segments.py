# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splitting of the blocks of a program into segments without communication.

Collectives, custom calls that Python functions implement, and the calls and control flow that
contain any are *driven*: the backend executes them. The operations between two driven ones are a
*segment* (`Segment`), a separate program for one device. Its arguments are the values that it uses,
and its results are the values used after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.diagnostics import error, note
from mlir_sdy.host import ir, location_of
from mlir_sdy.uses import values_used
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import COLLECTIVES, FunctionView, callee_of, symbol_name
from pyshardy.local_program.custom_calls import CUSTOM_CALL, target_of
from pyshardy.local_program.errors import ExecutionError

CONTROL_FLOW = frozenset({"stablehlo.while", "stablehlo.if", "stablehlo.case"})
DEVICE_IDS = ("stablehlo.partition_id", "stablehlo.replica_id")
CALLS = frozenset({"func.call"})


@dataclass(frozen=True, slots=True)
class Segment:
    """A segment of one block without communication, as a program.

    Attributes:
        module: the program: the operations as function `@main`, and the functions they call.
        inputs: the values of the surrounding program that are its first arguments.
        device_ids: the names of the operations whose values are its last arguments: the ids of
            partition and replica.
        outputs: the values of the surrounding program that are its results.
    """

    module: ir.Module
    inputs: tuple[ir.Value, ...]
    device_ids: tuple[str, ...]
    outputs: tuple[ir.Value, ...]


@dataclass(frozen=True, slots=True)
class DrivenOperation:
    """An operation that the backend executes."""

    operation: ir.Operation


ProgramPart = Segment | DrivenOperation


class ProgramSplitter:
    """Splits the blocks of one program.

    Args:
        module: the program. It must outlive the splitter and not be changed.
        implemented: the targets of the custom calls to drive.
    """

    def __init__(self, module: ir.Module, implemented: Collection[str] = ()):
        self._module = module
        self._implemented = frozenset(implemented)
        self._functions = {
            symbol_name(view.operation): view.operation
            for view in module.body.operations
            if view.operation.name == "func.func"
        }
        self._holds_driven: dict[str, bool] = {}
        self._holds_device_ids: dict[str, bool] = {}

    def function(self, name: str) -> ir.Operation:
        """Return the function `name` of the program."""
        return self._functions[name]

    def split(self, block: ir.Block) -> tuple[ProgramPart, ...]:
        """Return the steps for the operations of a block without its terminator, in order.

        Raises:
            ExecutionError: an operation to drive is in a region that can't be interpreted.
        """
        *operations, terminator = (view.operation for view in block.operations)
        used_from: dict[ir.Value, int] = {}
        for position, operation in enumerate([*operations, terminator]):
            used_from.update(dict.fromkeys(values_used(operation), position))
        steps: list[ProgramPart] = []
        start = 0
        for position, operation in enumerate([*operations, terminator]):
            if operation is not terminator and not self._is_driven(operation):
                continue
            if position > start:
                steps.append(self._piece(operations[start:position], position, used_from))
            if operation is not terminator:
                steps.append(DrivenOperation(operation))
            start = position + 1
        return tuple(steps)

    def _is_driven(self, operation: ir.Operation) -> bool:
        if operation.name in CALLS:
            return self._callee_holds_driven(operation) or self._callee_holds_device_ids(operation)
        inside = self._driven_inside(operation)
        if inside is None:
            return self._is_driven_itself(operation)
        if operation.name not in CONTROL_FLOW:
            raise misplaced(inside, operation)
        return True

    def _is_driven_itself(self, operation: ir.Operation) -> bool:
        return operation.name in COLLECTIVES or (
            operation.name == CUSTOM_CALL and target_of(operation) in self._implemented
        )

    def _driven_inside(self, operation: ir.Operation) -> ir.Operation | None:
        """Return the first operation to drive in the regions of an operation, or None."""
        if not len(operation.regions):
            return None
        for inner in _nested(operation):
            if self._is_driven_itself(inner):
                return inner
            if inner.name in CALLS and (
                self._callee_holds_driven(inner) or self._callee_holds_device_ids(inner)
            ):
                return inner
        return None

    def _callee_holds_driven(self, call: ir.Operation) -> bool:
        return self._callee_holds(call, self._is_driven_itself, self._holds_driven)

    def _callee_holds_device_ids(self, call: ir.Operation) -> bool:
        return self._callee_holds(call, _is_device_id, self._holds_device_ids)

    def _callee_holds(
        self,
        call: ir.Operation,
        is_wanted: Callable[[ir.Operation], bool],
        known: dict[str, bool],
    ) -> bool:
        callee = _callee(call)
        if callee not in known:
            known[callee] = False  # stops at recursion, which StableHLO forbids
            known[callee] = any(
                is_wanted(inner)
                or (inner.name in CALLS and self._callee_holds(inner, is_wanted, known))
                for inner in _nested(self._functions[callee])
            )
        return known[callee]

    def _piece(
        self, operations: Sequence[ir.Operation], end: int, used_from: dict[ir.Value, int]
    ) -> Segment:
        """Return the operations as a program whose results are the values used from `end` on."""
        inside: set[ir.Value] = set()
        inputs: dict[ir.Value, None] = {}
        outputs: list[ir.Value] = []
        names: set[str] = set()
        for operation in operations:
            inputs |= dict.fromkeys(
                value for value in values_used(operation) if value not in inside
            )
            inside |= set(operation.results)
            outputs += [value for value in operation.results if used_from.get(value, -1) >= end]
            names.add(operation.name)
            names |= {inner.name for inner in _nested(operation)}
        device_ids = tuple(name for name in DEVICE_IDS if name in names)
        module = _outlined(operations, list(inputs), device_ids, outputs)
        self._add_callees(module)
        return Segment(module, tuple(inputs), device_ids, tuple(outputs))

    def _add_callees(self, module: ir.Module) -> None:
        """Copy the functions that `module` calls into it."""
        present: set[str] = set()
        missing = _callees(module.operation)
        for name in missing:  # grows meanwhile
            if name not in present:
                present.add(name)
                copy = self._functions[name].clone(ip=False)
                # A recursive function would otherwise have the name of the entry.
                FunctionView(copy.operation).sym_visibility = "private"
                module.body.append(copy)
                missing += _callees(copy.operation)


def misplaced(inner: ir.Operation, outer: ir.Operation) -> ExecutionError:
    """Return the error for an operation to drive in a region that can't be interpreted."""
    message = f"'{inner.name}' is not supported inside '{outer.name}'"
    place = location_of(inner.location)
    hint = "it is supported in functions, stablehlo.while, stablehlo.if and stablehlo.case"
    return ExecutionError(error(message, place, [note(hint, place)]))


def _outlined(
    operations: Sequence[ir.Operation],
    inputs: Sequence[ir.Value],
    device_ids: Sequence[str],
    outputs: Sequence[ir.Value],
) -> ir.Module:
    """Return a module whose `@main` has copies of `operations`."""
    context = operations[0].context
    with context, operations[0].location:
        module = ir.Module.create()
        id_type = ir.RankedTensorType.get([], ir.IntegerType.get_unsigned(32))
        argument_types = [*(value.type for value in inputs), *(id_type for _ in device_ids)]
        function_type = ir.FunctionType.get(argument_types, [value.type for value in outputs])
        function = ir.Operation.create(
            "func.func",
            attributes={
                "sym_name": ir.StringAttr.get(ENTRY),
                "function_type": ir.TypeAttr.get(function_type),
            },
            regions=1,
            ip=ir.InsertionPoint(module.body),
        )
        # The ids have no source location.
        places = [value.location for value in inputs]
        places += [ir.Location.unknown()] * len(device_ids)
        block = function.regions[0].blocks.append(*argument_types, arg_locs=places)
        copies: dict[ir.Value, ir.Value] = dict(zip(inputs, block.arguments, strict=False))
        ids = dict(zip(device_ids, list(block.arguments)[len(inputs) :], strict=True))
        for operation in operations:
            if operation.name in ids:
                copies[operation.results[0]] = ids[operation.name]
                continue
            copy = operation.clone(ip=False).operation
            block.append(copy)
            _replace_values(copy, copies, ids)
            copies.update(zip(operation.results, copy.results, strict=True))
        ir.Operation.create(
            "func.return",
            operands=[copies[value] for value in outputs],
            ip=ir.InsertionPoint(block),
        )
    return module


def _replace_values(
    copy: ir.Operation, copies: Mapping[ir.Value, ir.Value], ids: Mapping[str, ir.Value]
) -> None:
    """Replace the operands in a copy and its regions by the values of the segment."""
    replaced: list[ir.Operation] = []
    for operation in (copy, *_nested(copy)):
        if operation.name in ids:
            operation.results[0].replace_all_uses_with(ids[operation.name])
            replaced.append(operation)
            continue
        operands = operation.operands
        for index, value in enumerate(operands):
            if (known := copies.get(value)) is not None:
                operands[index] = known
    for operation in replaced:
        operation.erase()


def _nested(operation: ir.Operation) -> list[ir.Operation]:
    """Return all operations in the regions of `operation`, in pre-order."""
    if not len(operation.regions):
        return []
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        found.append(inner)
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def _is_device_id(operation: ir.Operation) -> bool:
    return operation.name in DEVICE_IDS


def _callee(call: ir.Operation) -> str:
    return callee_of(call)


def _callees(operation: ir.Operation) -> list[str]:
    return [_callee(inner) for inner in _nested(operation) if inner.name in CALLS]
