# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A local engine with a fallback for unsupported programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir
from pyshardy.backends.engines.interface import Arrays, Engine, Executable
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array


class FallbackEngine:
    """Runs programs on an engine, or on a second one if the first rejects them, with a warning.

    Args:
        first: the engine.
        second: returns the fallback engine.
        remedy: the hint in the warning.
    """

    def __init__(self, first: Engine, second: Callable[[], Engine], remedy: str):
        self.first = first
        self.second = second
        self.remedy = remedy

    def compile(self, module: ir.Module) -> FallbackProgram:
        """See `Engine.compile`."""
        return FallbackProgram(self, module)


class FallbackProgram:
    """A program for one of two engines. Made by `FallbackEngine.compile`."""

    def __init__(self, engine: FallbackEngine, module: ir.Module):
        self._engine = engine
        self._module: ir.Module | None = copy_of(module)
        self._program: Executable = engine.first.compile(module)

    def run(self, batch: Sequence[Arrays]) -> list[list[Array]]:
        """See `Executable.run`."""
        module = self._module
        if module is None:
            return self._program.run(batch)
        try:
            results = self._program.run(batch)
        except ExecutionError as refusal:
            results = self._run_on_second(module, batch, refusal)
        if batch:
            self._module = None  # The choice of the engine is final.
        return results

    def _run_on_second(
        self, module: ir.Module, batch: Sequence[Arrays], refusal: ExecutionError
    ) -> list[list[Array]]:
        try:
            program = self._engine.second().compile(module)
            results = program.run(batch)
        except ExecutionError:
            raise refusal from None  # The error of the requested engine states the reason.
        first, *_ = refusal.diagnostics
        emit(warning(f"{first.message}; {self._engine.remedy}", first.location))
        self._program = program
        return results
