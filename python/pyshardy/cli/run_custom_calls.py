# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for custom calls from the command line: `TARGET=FILE:FUNCTION`."""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from mlir_sdy.diagnostics import SourceLocation, UsageError, error


def load_functions(given: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """Return the functions by the targets of the calls that they implement.

    Args:
        given: the values of the flag: `my_scale=kernels.py:scale`. A file is run once, and may
            have functions for several targets.

    Raises:
        UsageError: a value is malformed, or the file can't be read, fails, or has no such
            function.
    """
    files: dict[str, dict[str, Any]] = {}
    functions: dict[str, Callable[..., Any]] = {}
    for each in given:
        target, _, where = each.partition("=")
        path, _, name = where.rpartition(":")
        if not (target and path and name):
            raise UsageError(error(f"'--custom-call={each}' must be TARGET=FILE:FUNCTION"))
        if path not in files:
            files[path] = _run(path)
        function = files[path].get(name)
        if not callable(function):
            raise UsageError(error(f"'{path}' has no function '{name}' for '--custom-call={each}'"))
        functions[target] = function
    return functions


def _run(path: str) -> dict[str, Any]:
    """Return the names that a Python file defines."""
    try:
        return runpy.run_path(path)
    except OSError as refusal:
        message = f"cannot read the functions in '{path}': {refusal.strerror or refusal}"
        raise UsageError(error(message)) from None
    except (Exception, SystemExit) as failure:
        frames = traceback.extract_tb(failure.__traceback__)
        lines = [frame.lineno for frame in frames if frame.filename == path and frame.lineno]
        if isinstance(failure, SyntaxError):
            lines.append(failure.lineno or 0)
        what = f"{type(failure).__name__}: {failure}".rstrip(": ")
        place = SourceLocation(path, lines[-1] if lines else 0, 0)
        message = f"the file with the functions for custom calls failed: {what}"
        raise UsageError(error(message, place)) from failure
