# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error of a failed run."""

from __future__ import annotations

from mlir_sdy.diagnostics import SdyError


class ExecutionError(SdyError):
    """A program could not be run, or its run failed."""
