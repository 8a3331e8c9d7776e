# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is told when PyTorch or its importer gives up."""

from __future__ import annotations

import re

from mlir_sdy.diagnostics import Diagnostic, SourceLocation, error

_REFUSED = re.compile(r"failed to legalize operation '(?P<operation>torch\.[\w.]+)'")
_OPERATOR = re.compile(r'"torch\.operator"\(.*<\{name = "(?P<name>[^"]+)"')


def of_importer(diagnostic: Diagnostic) -> Diagnostic:
    """What to tell of an operation of PyTorch that the importer can't express.

    Its own message shows the operation in its intermediate form; the name and the place are what
    the user knows it by.
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
    """What to tell when PyTorch can't make one graph of a module."""
    lines = [line.strip() for line in str(failure).splitlines() if line.strip()]
    reason = lines[0] if lines else type(failure).__name__
    kind = type(failure).__name__
    return error(f"'torch.export' cannot trace the module ({kind}): {reason}", place)
