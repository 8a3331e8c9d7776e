# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The local engine of the host's compiler."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.engines.fallback import FallbackEngine
from pyshardy.backends.registry import CompileOptions, local_engine

_WORKER = ("-m", "pyshardy.backends.jit.worker")

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
