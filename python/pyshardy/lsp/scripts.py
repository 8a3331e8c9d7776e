# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python scripts of users that trace programs."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyshardy
from mlir_sdy import assembly
from mlir_sdy.diagnostics import Diagnostic, SdyError, SourceLocation, error


def traced_by_script(path: str) -> tuple[list[str], tuple[Diagnostic, ...]]:
    """Run a script as `python script.py` does.

    Args:
        path: the script.

    Returns:
        The text of each program that it traces, and the exception that ended it, if any.
    """
    texts: list[str] = []
    problems: tuple[Diagnostic, ...] = ()
    with _recorded_traces(texts), _as_main(path):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit:
            pass
        except SdyError as failure:
            line = _line_in(path, failure)
            problems = tuple(
                each if each.location else _at(path, line, each.message)
                for each in failure.diagnostics
            )
        except Exception as failure:
            problems = (_at(path, _line_in(path, failure), f"{type(failure).__name__}: {failure}"),)
    return texts, problems


@contextlib.contextmanager
def _recorded_traces(texts: list[str]) -> Iterator[None]:
    """Append the text of each traced program to a list."""
    packages: list[ModuleType] = [pyshardy.jax, pyshardy.torch]
    originals = [package.trace for package in packages]

    def recording(trace: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*args: Any, **kwargs: Any) -> Any:
            result = trace(*args, **kwargs)
            module = getattr(result, "module", result)
            texts.append(assembly.asm(module, debug_info=True))
            return result

        return traced

    for package, original in zip(packages, originals, strict=True):
        vars(package)["trace"] = recording(original)
    try:
        yield
    finally:
        for package, original in zip(packages, originals, strict=True):
            vars(package)["trace"] = original


@contextlib.contextmanager
def _as_main(path: str) -> Iterator[None]:
    """Set the arguments, the import path and the working directory as Python does for a script."""
    arguments, search_path, folder = sys.argv, sys.path[:], Path.cwd()
    sys.argv = [path]
    sys.path.insert(0, str(Path(path).parent))
    os.chdir(Path(path).parent)
    try:
        yield
    finally:
        sys.argv, sys.path[:] = arguments, search_path
        os.chdir(folder)


def _line_in(path: str, failure: BaseException) -> int:
    """Return the line of a script at which an exception passed it last."""
    frames = traceback.extract_tb(failure.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    return lines[-1] or 1 if lines else 1


def _at(path: str, line: int, message: str) -> Diagnostic:
    return error(message, SourceLocation(path, line, 1))
