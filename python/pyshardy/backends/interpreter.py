# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The StableHLO reference interpreter as a local engine: slow, and right by definition.

It aborts its process on what it can't run. So it runs in a child process, which is kept for
further requests and replaced when it died; the abort becomes a diagnostic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mlir_sdy.diagnostics import SourceLocation, error, note
from mlir_sdy.host import ir, location_of
from pyshardy.backends.child_process import ChildDiedError, ChildProcess
from pyshardy.backends.edges import ENTRY, from_plain, to_plain, with_plain_edges
from pyshardy.backends.engine import Arrays
from pyshardy.backends.errors import ExecutionError
from pyshardy.backends.specs import Array, TensorSpec
from pyshardy.backends.unsupported import check_supported
from pyshardy.backends.values import spec_of

_WORKER = ("-m", "pyshardy.backends.interpreter_worker")
_OPERATION = re.compile(r"\b(?:stablehlo|chlo)\.\w+")


class InterpreterEngine:
    """Runs programs in a child process that holds the reference interpreter.

    The child is started by the first run, and ends with this object or the process.

    Attributes:
        compiled: the programs, by their texts.
    """

    def __init__(self) -> None:
        self.compiled: dict[str, InterpreterProgram] = {}
        self._child: ChildProcess | None = None
        self._sent: set[int] = set()

    def compile(self, module: ir.Module) -> InterpreterProgram:
        """See `Engine.compile`."""
        check_supported(module)
        text = module.operation.get_asm(assume_verified=True)
        program = self.compiled.get(text)
        if program is None:
            program = InterpreterProgram(self, len(self.compiled), module, text)
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

    def evaluate(self, program: InterpreterProgram, batch: Sequence[Arrays]) -> Any:
        """The answer of the child for a program; see `InterpreterProgram.run`."""
        if self._child is None:
            self._child = ChildProcess(_WORKER)
            self._sent.clear()
        text = None if program.number in self._sent else program.text
        try:
            answer = self._child.ask((program.number, text, batch))
        except ChildDiedError as death:
            self.close()
            raise program.failure(str(death)) from None
        self._sent.add(program.number)
        return answer


class InterpreterProgram:
    """A program for the reference interpreter. Made by `InterpreterEngine.compile`."""

    def __init__(self, engine: InterpreterEngine, number: int, module: ir.Module, text: str):
        entry = ir.SymbolTable(module.operation)[ENTRY]
        signature = entry.attributes["function_type"].value
        place = location_of(entry.location)
        self.number = number
        self.inputs: tuple[TensorSpec, ...] = _specs(signature.inputs, place)
        self.outputs: tuple[TensorSpec, ...] = _specs(signature.results, place)
        self.text = with_plain_edges(text, self.inputs, self.outputs, module.context)
        self._engine = engine
        self._places = _places_by_name(module)

    def run(self, batch: Sequence[Arrays]) -> list[list[Array]]:
        """See `Executable.run`."""
        if not batch:
            return []
        plain = [to_plain(arrays, self.inputs) for arrays in batch]
        succeeded, answer = self._engine.evaluate(self, plain)
        if not succeeded:
            raise self.failure(answer)
        return [from_plain(arrays, self.outputs) for arrays in answer]

    def failure(self, reason: str) -> ExecutionError:
        """The error for a failed run, at the operation that `reason` names."""
        match = _OPERATION.search(reason)
        place = self._places.get(match[0]) if match else None
        return ExecutionError(
            error(
                f"the reference interpreter failed: {reason}",
                place,
                [] if match else [note("it runs in a process of its own, which is replaced")],
            )
        )


def _specs(types: Sequence[ir.Type], place: SourceLocation | None) -> tuple[TensorSpec, ...]:
    return tuple(spec_of(value_type, place) for value_type in types)


def _places_by_name(module: ir.Module) -> dict[str, SourceLocation | None]:
    """Where the first operation of each name stands."""
    places: dict[str, SourceLocation | None] = {}

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name not in places:
            places[operation.name] = location_of(operation.location)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return places
