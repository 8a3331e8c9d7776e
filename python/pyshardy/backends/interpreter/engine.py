# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The StableHLO reference interpreter as a local engine: slow, and correct by definition."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.interpreter.empty_products import without_empty_products
from pyshardy.backends.interpreter.unsupported import check_supported
from pyshardy.backends.registry import CompileOptions

_WORKER = ("-m", "pyshardy.backends.interpreter.worker")

_LACKED = (
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cholesky",
    "convert",
    "convolution",
    "fft",
    "select_and_scatter",
    "triangular_solve",
)
"""Operations that it lacks, supports for some types or layouts only, or computes incorrectly.

It adds the initial value of a select-and-scatter once for each window that selects an element.
"""


class InterpreterEngine(ChildEngine):
    """Runs programs in a child process that holds the reference interpreter.

    Args:
        options: ignored.
    """

    def __init__(self, options: CompileOptions | None = None) -> None:
        del options
        super().__init__("the reference interpreter", _WORKER, _lowered)


def _lowered(module: ir.Module) -> ir.Module:
    lowered = without_empty_products(decomposed(module, _LACKED))
    check_supported(lowered)
    return lowered
