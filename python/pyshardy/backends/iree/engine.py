# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The local engine of IREE, and compiled files for IREE's own tools."""

from __future__ import annotations

from typing import Any

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir, stablehlo
from pyshardy.backends import registry
from pyshardy.backends.decompositions.registry import decomposed
from pyshardy.backends.engines.child_engine import ChildEngine
from pyshardy.backends.registry import CompileOptions
from pyshardy.irtools.functions import CallGraph
from pyshardy.irtools.modules import copy_of
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.values import use_dense_constants
from pyshardy.processes.child_process import ChildDiedError, ChildProcess

_WORKER = ("-m", "pyshardy.backends.iree.worker")
VERSION = "1.13.0"
"""The version of StableHLO in which programs are passed to IREE; newer versions can read it."""

_LACKED = (
    "add",
    "batch_norm_grad",
    "batch_norm_inference",
    "batch_norm_training",
    "cholesky",
    "convert",
    "fft",
    "gather",
    "pad",
    "reduce",
    "scatter",
    "select_and_scatter",
    "sort",
    "triangular_solve",
)
"""Operations that IREE lacks, supports for some lengths or windows only, or compiles incorrectly.

It adds booleans modulo 2, its reductions along no dimension drop the initial value, its sort isn't
stable, its gather reads out of bounds, its scatter can end the process, and interior padding is
lost if more padding follows.
"""

TARGETS = ("llvm-cpu", "cuda")
"""The tested targets of IREE's compiler."""


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
    remedy = "run it with the backend 'jit'"
    CallGraph(module).check_not_recursive(f"compiled by IREE: {remedy}", ExecutionError)  # it hangs
    return decomposed(module, _LACKED)


def lowered_artifact(module: ir.Module) -> bytes:
    """Return a program in the form that IREE reads."""
    copy = copy_of(module)
    use_dense_constants(copy)
    return _portable(_lowered(copy).operation.get_asm(assume_verified=True))


def _portable(text: str) -> bytes:
    """Return a program as an artifact that compilers of other versions can read."""
    return stablehlo.serialize_portable_artifact_str(text, VERSION)


def vmfb_of(module: ir.Module, target: str, optimization: int | None = None) -> bytes:
    """Compile a local program to a `.vmfb` file.

    Args:
        module: local StableHLO, also with collectives: these need a device of IREE that has a
            channel for them. It isn't changed.
        target: one of `TARGETS`.
        optimization: from 0 to 3; None for IREE's default.

    Raises:
        UsageError: IREE's compiler is not installed.
        ExecutionError: IREE rejects the program.
    """
    registry.registered("iree").check_installed()
    request = {
        "program": lowered_artifact(module),
        "target": target,
        "optimization": optimization,
    }
    answer: Any
    compiler = ChildProcess((*_WORKER, "--only-compile"))
    try:
        succeeded, answer = compiler.ask(request)
    except ChildDiedError as death:
        succeeded, answer = False, str(death)
    finally:
        compiler.close()
    if succeeded:
        return answer
    raise ExecutionError(error(f"IREE failed to compile for {target}: {answer}"))
