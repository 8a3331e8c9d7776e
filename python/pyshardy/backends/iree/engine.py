# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The local engine of IREE."""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.registry import CompileOptions

_WORKER = ("-m", "pyshardy.backends.iree.worker")

VERSION = "1.13.0"
"""The version of StableHLO in which IREE is given programs, which newer ones can all read."""

_LACKED = (
    "add",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cholesky",
    "fft",
    "gather",
    "pad",
    "reduce",
    "scatter",
    "select_and_scatter",
    "sort",
    "triangular_solve",
)
"""What IREE can't compile, can compile for some lengths or windows only, or compiles wrong.

It takes sums of truth values modulo 2, its reductions along nothing drop the initial value, its
sort doesn't keep the order of equal elements, its gather reads outside of the operand, its scatter
can end the process, and padding between elements is lost where more padding follows.
"""


class IreeEngine(ChildEngine):
    """Compiles programs in a child process, and runs them there.

    Args:
        options: how to compile.
    """

    def __init__(self, options: CompileOptions | None = None) -> None:
        flags: list[str] = []
        if options is not None and options.optimization is not None:
            flags += ["--optimization", str(options.optimization)]
        if options is not None and options.cache_directory is not None:
            flags += ["--cache", options.cache_directory]
        super().__init__("IREE", (*_WORKER, *flags), _lowered, encode=_portable)


def _lowered(module: ir.Module) -> ir.Module:
    return decomposed(module, _LACKED)


def lowered_artifact(module: ir.Module) -> bytes:
    """A program as IREE takes it."""
    return _portable(_lowered(module).operation.get_asm(assume_verified=True))


def _portable(text: str) -> bytes:
    """The text as an artifact that compilers of other versions can read."""
    return stablehlo.serialize_portable_artifact_str(text, VERSION)
