# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules from a user's Python file."""

from __future__ import annotations

import traceback
from os import PathLike
from pathlib import Path
from types import ModuleType

from mlir_sdy.diagnostics import SdyError, SourceLocation, UsageError, error
from pyshardy.rules.registry import kept_on_success


def load_rules(path: str | PathLike[str]) -> None:
    """Run a Python file that registers sharding rules.

        # my_rules.py
        import pyshardy as sdy

        @sdy.sharding_rule("stablehlo.custom_call", target="my_attention")
        def attention_rule(op):
            return sdy.rule("b s h d, b t h d -> b s h d", reduction="t")

    If the file fails, none of its rules is registered.

    Args:
        path: the file.

    Raises:
        UsageError: the file can't be read, is not valid Python, or raises an exception; the
            diagnostic has the line.
    """
    filename = str(path)
    try:
        source = Path(path).read_bytes()
    except OSError as refusal:
        message = f"cannot read the rules in '{filename}': {refusal.strerror or refusal}"
        raise UsageError(error(message)) from None
    try:
        code = compile(source, filename, "exec", dont_inherit=True)
    except SyntaxError as failure:
        place = SourceLocation(filename, failure.lineno or 0, failure.offset or 0)
        message = f"the file of sharding rules is not valid Python: {failure.msg}"
        raise UsageError(error(message, place)) from None
    except ValueError as failure:
        message = f"the file of sharding rules is not valid Python: {failure}"
        raise UsageError(error(message, SourceLocation(filename, 0, 0))) from None
    module = ModuleType(Path(path).stem, "Sharding rules of a user.")
    module.__file__ = filename
    with kept_on_success():
        try:
            exec(code, vars(module))
        except SdyError:
            raise
        except (Exception, SystemExit) as failure:
            what = f"{type(failure).__name__}: {failure}".rstrip(": ")
            message = f"running the file of sharding rules failed: {what}"
            raise UsageError(error(message, _place_in(filename, failure))) from failure


def _place_in(filename: str, failure: BaseException) -> SourceLocation:
    """Return the last line of the file that was running when it failed."""
    frames = traceback.extract_tb(failure.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == filename and frame.lineno]
    return SourceLocation(filename, lines[-1] if lines else 0, 0)
