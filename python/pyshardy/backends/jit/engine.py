# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The local engine of the host's compiler."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines import ChildEngine

_WORKER = ("-m", "pyshardy.backends.jit.worker")

_LACKED = (
    "cholesky",
    "convolution",
    "fft",
    "optimization_barrier",
    "scatter",
    "select_and_scatter",
    "sort",
    "triangular_solve",
)
"""What the host has no loops for."""

OPTIMIZATION = 2
"""How much the machine code is optimised: 0 compiles four times as fast as 1 to 3."""


class JitEngine(ChildEngine):
    """Compiles programs in a child process, and runs them there.

    Args:
        optimization: from 0, to compile fast, to 3, to run fast.
    """

    def __init__(self, optimization: int | None = None) -> None:
        level = OPTIMIZATION if optimization is None else optimization
        super().__init__("the JIT compiler", (*_WORKER, str(level)), _lowered)


def _lowered(module: ir.Module) -> ir.Module:
    return decomposed(module, _LACKED)
