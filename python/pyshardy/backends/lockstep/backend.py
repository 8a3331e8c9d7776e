# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program with collectives on any number of simulated devices, in lockstep.

All processes are at the same operation at the same time. A local engine runs each segment without
collectives once for each process. Collectives are computed in NumPy on the arrays of all processes,
and custom calls by the functions that implement them. Control flow around these is interpreted
here; processes may take different branches if all members of a group reach each collective.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from mlir_sdy.attribute_search import operations_with
from mlir_sdy.diagnostics import error, note
from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import diagnostics_of, ir, location_of, passmanager
from pyshardy.backends import lapack
from pyshardy.backends.custom_calls import Function, check_effects, results_of
from pyshardy.backends.engines import Arrays, Executable, LocalEngine
from pyshardy.backends.lockstep.collectives import Exchange, exchanged, ragged_all_to_all
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.plain_operations import make_synchronous
from pyshardy.irtools.ragged_dots import expand_ragged_dots
from pyshardy.irtools.stablehlo_views import COLLECTIVES, callee_of
from pyshardy.irtools.static_shapes import make_static
from pyshardy.irtools.tokens import drop_tokens
from pyshardy.local_program.custom_calls import (
    CUSTOM_CALL,
    RAGGED_ALL_TO_ALL,
    described,
    take_plain_arrays,
    target_of,
)
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.process_groups import Groups, Layout, process_groups_of_call
from pyshardy.local_program.segments import (
    CALLS,
    ProgramPart,
    ProgramSplitter,
    Segment,
)
from pyshardy.local_program.tensor_spec import Array
from pyshardy.local_program.values import use_dense_constants
from pyshardy.rules import SHARDING_RULE

Held = list["Array | None"]
"""The array of each process for a value, indexed by process; None for inactive processes."""

Active = tuple[int, ...]
"""The numbers of the processes that execute an operation."""

_LOWER = (
    "func.func(stablehlo-legalize-composite-to-call),"
    "func.func(chlo-legalize-to-stablehlo),"
    "func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false})"
)


class LockstepProgram:
    """A program compiled for several simulated devices.

    Args:
        module: local StableHLO with collectives, entered at `@main`. It is copied.
        engine: runs the segments between collectives.
        layout: the replicas and partitions. Collectives and `partition_id` refer to them.
        functions: implement custom calls, by their targets.
    """

    def __init__(
        self,
        module: ir.Module,
        engine: LocalEngine,
        layout: Layout,
        functions: Mapping[str, Function] | None = None,
    ):
        # Engines don't know LAPACK; a user's functions come before ours.
        self._functions = {**lapack.FUNCTIONS, **(functions or {})}
        self._module = _lowered(module)
        driven = {*self._functions, RAGGED_ALL_TO_ALL}
        check_effects(self._module, driven, "lockstep")
        drop_tokens(self._module)  # Operations are executed in order, so tokens are unnecessary.
        take_plain_arrays(self._module, driven)
        self._engine = engine
        self._layout = layout
        self._splitter = ProgramSplitter(self._module, driven)
        self._steps: dict[ir.Block, tuple[_Step, ...]] = {}

    def run(self, inputs: Sequence[Arrays]) -> list[list[Array]]:
        """Run the program on all processes; see `SpmdProgram.run`.

        Raises:
            ExecutionError: an engine failed, or a process didn't reach a collective of its group.
        """
        held: dict[ir.Value, Held] = {}
        everybody = tuple(range(self._layout.size))
        arguments: list[Held] = [list(column) for column in zip(*inputs, strict=True)]
        results = self._run_function(ENTRY, arguments, everybody, held)
        return [[_present(result[process]) for result in results] for process in everybody]

    def _run_function(
        self, name: str, arguments: Sequence[Held], active: Active, held: dict[ir.Value, Held]
    ) -> list[Held]:
        block = self._splitter.function(name).regions[0].blocks[0]
        return self._run_block(block, arguments, active, held)

    def _run_block(
        self,
        block: ir.Block,
        arguments: Sequence[Held],
        active: Active,
        held: dict[ir.Value, Held],
    ) -> list[Held]:
        """Run a block for the active processes; returns what its terminator returns."""
        held.update(zip(block.arguments, arguments, strict=True))
        steps = self._steps.get(block)
        if steps is None:
            steps = tuple(map(self._step, self._splitter.split(block)))
            self._steps[block] = steps
        for step in steps:
            step(active, held)
        terminator = block.operations[len(block.operations) - 1]
        return [held[value] for value in terminator.operands]

    # --- Steps ------------------------------------------------------------------------------

    def _step(self, step: ProgramPart) -> _Step:
        """Return the method that executes a step of a block."""
        if isinstance(step, Segment):
            return partial(self._run_piece, step, self._engine.compile(step.module))
        operation = step.operation
        if operation.name in COLLECTIVES:
            return self._collective(operation)
        if operation.name == CUSTOM_CALL and target_of(operation) in self._functions:
            return self._custom_call(operation)
        if operation.name == CUSTOM_CALL:
            groups = process_groups_of_call(operation, self._layout)
            return partial(self._run_ragged_exchange, operation, groups)
        if operation.name in CALLS:
            return partial(self._run_call, operation)
        if operation.name == "stablehlo.while":
            return partial(self._run_while, operation)
        return partial(self._run_branches, operation)

    def _run_piece(
        self, segment: Segment, program: Executable, active: Active, held: dict[ir.Value, Held]
    ) -> None:
        # Processes with identical arrays get the same results, which are computed once.
        numbers: dict[tuple[object, ...], int] = {}
        batch: list[Arrays] = []
        chosen: list[int] = []
        for process in active:
            arrays = [_present(held[value][process]) for value in segment.inputs]
            ids = [self._device_id(name, process) for name in segment.device_ids]
            key = (*map(id, arrays), *ids)
            if key not in numbers:
                numbers[key] = len(batch)
                batch.append([*arrays, *(np.array(number, np.uint32) for number in ids)])
            chosen.append(numbers[key])
        results = program.run(batch) if segment.outputs else []
        for index, value in enumerate(segment.outputs):
            column = self._nothing()
            for process, number in zip(active, chosen, strict=True):
                column[process] = results[number][index]
            held[value] = column

    def _device_id(self, name: str, process: int) -> int:
        replica, partition = divmod(process, self._layout.partitions)
        return partition if name == "stablehlo.partition_id" else replica

    def _custom_call(self, operation: ir.Operation) -> _Step:
        call = described(operation)
        function = self._functions[call.target]

        def run(active: Active, held: dict[ir.Value, Held]) -> None:
            columns = [self._nothing() for _ in operation.results]
            for process in active:
                arrays = [_present(held[value][process]) for value in operation.operands]
                for column, array in zip(columns, results_of(function, call, arrays), strict=True):
                    column[process] = array
            held.update(zip(operation.results, columns, strict=True))

        return run

    def _run_call(self, call: ir.Operation, active: Active, held: dict[ir.Value, Held]) -> None:
        arguments = [held[value] for value in call.operands]
        results = self._run_function(callee_of(call), arguments, active, held)
        held.update(zip(call.results, results, strict=True))

    def _run_while(self, loop: ir.Operation, active: Active, held: dict[ir.Value, Held]) -> None:
        condition, body = (region.blocks[0] for region in loop.regions)
        state = [held[value] for value in loop.operands]
        while active:
            (goes_on,) = self._run_block(condition, state, active, held)
            active = tuple(process for process in active if bool(goes_on[process]))
            if active:
                updated = self._run_block(body, state, active, held)
                state = [
                    _merged(before, after, active)
                    for before, after in zip(state, updated, strict=True)
                ]
        held.update(zip(loop.results, state, strict=True))

    def _run_branches(
        self, operation: ir.Operation, active: Active, held: dict[ir.Value, Held]
    ) -> None:
        selector = held[operation.operands[0]]
        blocks = [region.blocks[0] for region in operation.regions]
        takers: dict[int, list[int]] = {}
        for process in active:
            index = int(_present(selector[process]))
            if operation.name == "stablehlo.if":
                index = 0 if index else 1
            elif not 0 <= index < len(blocks):
                index = len(blocks) - 1
            takers.setdefault(index, []).append(process)
        results = [self._nothing() for _ in operation.results]
        for index, processes in sorted(takers.items()):
            branch = self._run_block(blocks[index], [], tuple(processes), held)
            results = [
                _merged(before, after, processes)
                for before, after in zip(results, branch, strict=True)
            ]
        held.update(zip(operation.results, results, strict=True))

    # --- Collectives ------------------------------------------------------------------------

    def _collective(self, operation: ir.Operation) -> _Step:
        groups, exchanges = exchanged(operation, self._layout, self._engine)
        return partial(self._run_collective, operation, groups, exchanges)

    def _run_collective(
        self,
        operation: ir.Operation,
        groups: Groups,
        exchanges: Sequence[Exchange],
        active: Active,
        held: dict[ir.Value, Held],
    ) -> None:
        results = [self._nothing() for _ in operation.results]
        for group in _meeting(operation, groups, active):
            for operand, exchange, result in zip(
                operation.operands, exchanges, results, strict=True
            ):
                column = held[operand]
                received = exchange([_present(column[process]) for process in group])
                for process, array in zip(group, received, strict=True):
                    result[process] = array
        held.update(zip(operation.results, results, strict=True))

    def _run_ragged_exchange(
        self, call: ir.Operation, groups: Groups, active: Active, held: dict[ir.Value, Held]
    ) -> None:
        column = self._nothing()
        for group in _meeting(call, groups, active):
            members = [
                [_present(held[value][process]) for value in call.operands] for process in group
            ]
            try:
                received = ragged_all_to_all(members)
            except ValueError as fault:
                raise ExecutionError(error(str(fault), location_of(call.location))) from None
            for process, array in zip(group, received, strict=True):
                column[process] = array
        held[call.results[0]] = column

    def _nothing(self) -> Held:
        return [None] * self._layout.size


_Step = Callable[[Active, "dict[ir.Value, Held]"], None]


def _meeting(operation: ir.Operation, groups: Groups, active: Active) -> Iterator[Sequence[int]]:
    """Yield the groups of a collective whose processes execute it.

    Raises:
        ExecutionError: a process doesn't reach it, or is in no group.
    """
    present = set(active)
    grouped = {process for group in groups for process in group}
    if not present <= grouped:
        lost = min(present - grouped)
        raise _not_meeting(operation, f"device {lost} is in none of its groups")
    for group in groups:
        absent = [process for process in group if process not in present]
        if len(absent) == len(group):
            continue
        if absent:
            there = next(process for process in group if process in present)
            what = f"device {there} reaches it, device {absent[0]} does not"
            raise _not_meeting(operation, what)
        yield group


def _lowered(module: ir.Module) -> ir.Module:
    """Return a copy of a module in fewer kinds of operations.

    It has no asynchronous operations, composites, CHLO, sizes in operands, deprecated operations of
    StableHLO, constants with resources, or sharding rules.
    """
    copy = copy_of(module)
    # Custom calls keep user-defined rules, which engines don't support.
    for operation in operations_with(SHARDING_RULE, copy):
        remove_discardable(operation, SHARDING_RULE)
    make_synchronous(copy)
    use_dense_constants(copy)
    make_static(copy.operation)
    expand_ragged_dots(copy)
    try:
        passmanager.PassManager.parse(f"builtin.module({_LOWER})", module.context).run(
            copy.operation
        )
    except ir.MLIRError as failure:
        raise ExecutionError(*diagnostics_of(failure)) from None
    return copy


def _present(array: Array | None) -> Array:
    assert array is not None, "a value is used by a process that didn't compute it"
    return array


def _merged(before: Held, after: Held, active: Sequence[int]) -> Held:
    merged = list(before)
    for process in active:
        merged[process] = after[process]
    return merged


def _not_meeting(operation: ir.Operation, what: str) -> ExecutionError:
    place = location_of(operation.location)
    return ExecutionError(
        error(
            f"not all devices reach '{operation.name}': {what}",
            place,
            [note("all devices of a group must execute a collective equally often", place)],
        )
    )
