# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The local engine of the host's compiler, and another engine for programs it can't compile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir_sdy.diagnostics import emit, warning
from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines import Arrays, Executable, LocalEngine
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.registry import CompileOptions, local_engine
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array

_WORKER = ("-m", "pyshardy.backends.jit.compiler")
LACKED = (
    "add",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cholesky",
    "compare",
    "convert",
    "convolution",
    "dot_general",
    "fft",
    "gather",
    "is_finite",
    "logistic",
    "optimization_barrier",
    "pad",
    "reduce",
    "scatter",
    "select_and_scatter",
    "sign",
    "sort",
    "triangular_solve",
)
"""Operations that the host cannot lower to loops, or lowers incorrectly.

Incorrect are the lowerings of sums of booleans and of narrow numbers, of gathers with batching
dimensions, of interior padding that more padding follows, and of functions of narrow numbers that
take several steps.
"""

OPTIMIZATION = 2
"""The default optimisation level: 0 compiles four times as fast as 1 to 3."""


class JitEngine(ChildEngine):
    """Compiles programs in a child process, and runs them there.

    Args:
        options: how to compile.
    """

    def __init__(self, options: CompileOptions | None = None) -> None:
        given = None if options is None else options.optimization
        level = OPTIMIZATION if given is None else given
        super().__init__("the JIT compiler", (*_WORKER, str(level)), _lowered)


def jit_engine(options: CompileOptions) -> FallbackEngine:
    """Return the JIT compiler, with the reference interpreter as its fallback.

    The compiler lacks cube roots of complex numbers, for instance.
    """
    return FallbackEngine(
        JitEngine(options),
        lambda: local_engine("interpreter"),
        "the reference interpreter runs this part of the program",
    )


def _lowered(module: ir.Module) -> ir.Module:
    return decomposed(module, LACKED)


class FallbackEngine:
    """Runs programs on an engine, or on a second one if the first rejects them, with a warning.

    Args:
        first: the engine.
        second: returns the fallback engine.
        remedy: the hint in the warning.
    """

    def __init__(self, first: LocalEngine, second: Callable[[], LocalEngine], remedy: str):
        self.first = first
        self.second = second
        self.remedy = remedy

    def compile(self, module: ir.Module) -> _FallbackProgram:
        """See `LocalEngine.compile`."""
        return _FallbackProgram(self, module)


class _FallbackProgram:
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
