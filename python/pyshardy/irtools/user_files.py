# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python files of users that a tool or a function runs, such as sharding rules and passes."""

from __future__ import annotations

import traceback
from os import PathLike
from pathlib import Path
from types import ModuleType

from mlir_sdy.diagnostics import SdyError, SourceLocation, UsageError, error


def run_user_file(path: str | PathLike[str], content: str) -> ModuleType:
    """Run a Python file, and return its names as a module.

    Args:
        path: the file.
        content: its content in messages, such as "sharding rules".

    Raises:
        UsageError: the file can't be read, is not valid Python, or raises an exception; the
            diagnostic has the line.
    """
    filename = str(path)
    try:
        source = Path(path).read_bytes()
    except OSError as refusal:
        message = f"cannot read the {content} in '{filename}': {refusal.strerror or refusal}"
        raise UsageError(error(message)) from None
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as failure:
        place = SourceLocation(filename, failure.lineno or 0, failure.offset or 0)
        message = f"the file of {content} is not valid Python: {failure.msg}"
        raise UsageError(error(message, place)) from None
    except ValueError as failure:
        message = f"the file of {content} is not valid Python: {failure}"
        raise UsageError(error(message, SourceLocation(filename, 0, 0))) from None
    module = ModuleType(Path(path).stem, f"A file of {content}.")
    module.__file__ = filename
    try:
        exec(code, vars(module))
    except SdyError:
        raise
    except (Exception, SystemExit) as failure:
        what = f"{type(failure).__name__}: {failure}".rstrip(": ")
        message = f"running the file of {content} failed: {what}"
        raise UsageError(error(message, _place_in(filename, failure))) from failure
    return module


def _place_in(filename: str, failure: BaseException) -> SourceLocation:
    """Return the last line of the file that was running when it failed."""
    frames = traceback.extract_tb(failure.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == filename and frame.lineno]
    return SourceLocation(filename, lines[-1] if lines else 0, 0)
