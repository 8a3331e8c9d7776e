# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors for failures of PyTorch and of its importer."""

from __future__ import annotations

import re

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, error

_REFUSED = re.compile(r"failed to legalize operation '(?P<operation>torch\.[\w.]+)'")
_OPERATOR = re.compile(r'"torch\.operator"\(.*<\{name = "(?P<name>[^"]+)"')


def of_importer(diagnostic: Diagnostic) -> Diagnostic:
    """Return the error for an operation of PyTorch that the importer doesn't support.

    The importer's message shows its intermediate form; users know the operation by its name and
    location.
    """
    match = _REFUSED.search(diagnostic.message)
    if match is None:
        return error(
            f"cannot import the PyTorch program: {diagnostic.message}", diagnostic.location
        )
    operator = _OPERATOR.search(diagnostic.message)
    name = (operator["name"] if operator else match["operation"]).removeprefix("torch.")
    message = f"the importer cannot convert '{name}' of PyTorch to StableHLO"
    return error(f"{message}; use other operations", diagnostic.location)


def of_export(failure: Exception, place: SourceLocation | None) -> Diagnostic:
    """Return the error for a module that PyTorch can't export as one graph."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    reason = lines[0] if lines else type(failure).__name__
    kind = type(failure).__name__
    return error(f"'torch.export' cannot trace the module ({kind}): {reason}", place)
