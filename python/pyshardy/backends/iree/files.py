# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled files for IREE's own tools."""

from __future__ import annotations

from typing import Any

from mlir_sdy.diagnostics import error
from mlir_sdy.host import ir
from pyshardy.backends import registry
from pyshardy.backends.engines.child_process import ChildDiedError, ChildProcess
from pyshardy.backends.iree.engine import lowered_artifact
from pyshardy.local_program.errors import ExecutionError

_WORKER = ("-m", "pyshardy.backends.iree.compile_worker")

TARGETS = ("llvm-cpu", "cuda")
"""The tested targets of IREE's compiler."""


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
    compiler = ChildProcess(_WORKER)
    try:
        succeeded, answer = compiler.ask(request)
    except ChildDiedError as death:
        succeeded, answer = False, str(death)
    finally:
        compiler.close()
    if succeeded:
        return answer
    raise ExecutionError(error(f"IREE failed to compile for {target}: {answer}"))
