# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Findings of the passes that validate a program."""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, emit, error, warning
from mlir_sdy.host import ir, location_of


def report(operation: ir.Operation, message: str, *, fails: bool) -> None:
    """Report a finding at an operation, as an error or as a warning.

    Raises:
        PassError: the finding is an error.
    """
    place = location_of(operation.location)
    if fails:
        raise PassError(error(message, place))
    emit(warning(message, place))
