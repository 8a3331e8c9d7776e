# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local engines in child processes, since their libraries may abort the process.

The child serves further requests and is restarted if it died; the abort becomes a diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, error, note
from mlir_sdy.host import ir, location_of, readable
from pyshardy.backends.engines import Arrays
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import function_type_of, target_of
from pyshardy.local_program.custom_calls import CUSTOM_CALL, advice_on
from pyshardy.local_program.entry import from_plain, to_plain, with_plain_edges
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array, TensorSpec
from pyshardy.local_program.values import spec_of
from pyshardy.processes.child_process import ChildDiedError, ChildProcess

_OPERATION = re.compile(r"\b(?:stablehlo|chlo)\.\w+")
_TARGET = re.compile(r'call_target_name = "([^"]+)"')


class ChildEngine:
    """Runs programs in a child process.

    The first run starts the child, which ends with this object or the process. A request is
    `(number, program, batch)`: run the program of that number for each list of arrays in the batch.
    The first request for a number contains the program; it is None in later ones.

    Args:
        title: the name of the engine in diagnostics.
        worker: the arguments of the Python interpreter; see `worker.serve_programs`.
        lower: returns a program that the worker can run. Its argument isn't changed.
        encode: converts the text of a program to the form that the worker reads.

    Attributes:
        compiled: the programs, by their texts.
    """

    def __init__(
        self,
        title: str,
        worker: Sequence[str],
        lower: Callable[[ir.Module], ir.Module],
        encode: Callable[[str], Any] = str,
    ):
        self.title = title
        self.compiled: dict[str, EngineProgram] = {}
        self._worker = tuple(worker)
        self._lower = lower
        self.encode = encode
        self._child: ChildProcess | None = None
        self._sent: set[int] = set()

    def compile(self, module: ir.Module) -> EngineProgram:
        """See `Engine.compile`."""
        text = readable(module.operation.get_asm(assume_verified=True))
        program = self.compiled.get(text)
        if program is None:
            lowered = readable(self._lower(module).operation.get_asm(assume_verified=True))
            program = EngineProgram(self, len(self.compiled), module, lowered)
            self.compiled[text] = program
        return program

    @property
    def process_id(self) -> int | None:
        """The id of the child process while there is one."""
        return None if self._child is None else self._child.process.pid

    def close(self) -> None:
        """End the child process; the next run starts another."""
        if self._child is not None:
            self._child.close()
            self._child = None

    def evaluate(self, program: EngineProgram, batch: Sequence[Arrays]) -> Any:
        """Run a program in the child; see `EngineProgram.run`."""
        if self._child is None:
            self._child = ChildProcess(self._worker)
            self._sent.clear()
        sent = None if program.number in self._sent else program.sent
        try:
            succeeded, answer = self._child.ask((program.number, sent, batch))
        except ChildDiedError as death:
            self.close()
            raise program.failure(str(death)) from None
        if not succeeded:
            raise program.failure(answer)
        self._sent.add(program.number)
        return answer


class EngineProgram:
    """A program for an engine. Made by `ChildEngine.compile`."""

    def __init__(self, engine: ChildEngine, number: int, module: ir.Module, lowered: str):
        entry = ir.SymbolTable(module.operation)[ENTRY]
        signature = function_type_of(entry.operation)
        place = location_of(entry.location)
        self.number = number
        self.inputs: tuple[TensorSpec, ...] = _specs(signature.inputs, place)
        self.outputs: tuple[TensorSpec, ...] = _specs(signature.results, place)
        text = with_plain_edges(lowered, self.inputs, self.outputs, module.context)
        self.sent = engine.encode(text)
        self._engine = engine
        self._places = _places_by_name(module)

    def run(self, batch: Sequence[Arrays]) -> list[list[Array]]:
        """See `Executable.run`."""
        if not batch:
            return []
        plain = [to_plain(arrays, self.inputs) for arrays in batch]
        answer = self._engine.evaluate(self, plain)
        return [from_plain(arrays, self.outputs) for arrays in answer]

    def failure(self, reason: str) -> ExecutionError:
        """Return the error for a failed run, located at the operation that `reason` names."""
        match = _OPERATION.search(reason)
        place = self._places.get(match[0]) if match else None
        notes: list[Diagnostic] = []
        if not match:
            notes.append(note("it runs in a child process, which is restarted"))
        elif match[0] == CUSTOM_CALL:
            target = _TARGET.search(reason)
            place = self._places.get(target[1], place) if target else place
            notes.append(note(advice_on(target and target[1]), place))
        return ExecutionError(error(f"{self._engine.title} failed: {reason}", place, notes))


def _specs(types: Sequence[ir.Type], place: SourceLocation | None) -> tuple[TensorSpec, ...]:
    return tuple(spec_of(value_type, place) for value_type in types)


def _places_by_name(module: ir.Module) -> dict[str, SourceLocation | None]:
    """Return the locations of the first operations by name, and of custom calls by target."""
    places: dict[str, SourceLocation | None] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        names = [operation.name]
        if operation.name == CUSTOM_CALL:
            names.append(target_of(operation))
        for name in names:
            if name not in places:
                places[name] = location_of(operation.location)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return places
