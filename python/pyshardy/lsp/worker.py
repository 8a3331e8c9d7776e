# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that analyzes programs for the server, which survives its crashes.

Requests are tuples; answers are plain data:

| request                  | answer                                             |
|--------------------------|----------------------------------------------------|
| `("analyze", uri, text)` | the facts of a program in MLIR                     |
| `("run", uri, path)`     | the facts of the programs that a Python script traces |
| `("explain", uri, key)`  | the explanation of a value of the last facts       |
"""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlparse

import pyshardy
from mlir_sdy import assembly
from mlir_sdy.diagnostics import SdyError, Severity
from mlir_sdy.dialect import Context
from pyshardy.lsp.analysis import Analysis, analyses_of_text, problem_of
from pyshardy.lsp.facts import DiagnosticData, Facts
from pyshardy.processes.worker import serve


class Worker:
    """Analyzes documents, and keeps the last analysis of each for explanations."""

    def __init__(self) -> None:
        self._analyses: dict[str, list[Analysis]] = {}

    def answer(self, request: tuple[Any, ...]) -> Any:
        """Return the answer to a request."""
        match request:
            case "analyze", str(uri), str(text):
                name = PurePosixPath(unquote(urlparse(uri).path)).name
                self._analyses[uri] = analyses_of_text(text, name)
                return self._facts(uri)
            case "run", str(uri), str(path):
                self._analyses[uri], problems = _analyses_of_script(path)
                return Facts.merged([Facts(problems), *self._all(uri)]).as_data()
            case "explain", str(uri), int(key):
                return self._explanation(uri, key)
            case _:
                raise ValueError(f"unknown request {request[0]!r}")

    def _all(self, uri: str) -> list[Facts]:
        return [analysis.facts for analysis in self._analyses[uri]]

    def _facts(self, uri: str) -> dict[str, Any]:
        return Facts.merged(self._all(uri)).as_data()

    def _explanation(self, uri: str, key: int) -> str:
        for analysis in self._analyses.get(uri, ()):
            if any(value.key == key for value in analysis.facts.values):
                return analysis.explanation(key)
        return ""


def _analyses_of_script(path: str) -> tuple[list[Analysis], tuple[DiagnosticData, ...]]:
    """Run a script, and analyze what it traces.

    Args:
        path: the script.

    Returns:
        The analysis of each traced program, and the exception that ended the script, if any.
    """
    texts: list[str] = []
    problems: tuple[DiagnosticData, ...] = ()
    with _recorded_traces(texts), _as_main(path):
        try:
            runpy.run_path(path, run_name="__main__")
        except SystemExit:
            pass
        except SdyError as failure:
            line = _line_in(path, failure)
            problems = tuple(
                problem_of(each) if each.location else _at(path, line, each.message)
                for each in failure.diagnostics
            )
        except Exception as failure:
            problems = (_at(path, _line_in(path, failure), f"{type(failure).__name__}: {failure}"),)
    analyses: list[Analysis] = []
    first_key = 0
    for text in texts:
        module = assembly.parse(text, Context())
        analyses.append(Analysis.of_module(module, first_key))
        first_key += len(analyses[-1].facts.values)
    return analyses, problems


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


def _at(path: str, line: int, message: str) -> DiagnosticData:
    return DiagnosticData(Severity.ERROR.value, message, path, line, 1)


if __name__ == "__main__":
    serve(Worker().answer)
