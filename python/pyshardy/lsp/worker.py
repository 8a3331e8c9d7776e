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

from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlparse

from mlir_sdy import assembly
from mlir_sdy.dialect import Context
from pyshardy.lsp.analysis import Analysis, analyses_of_text, problem_of, traced_by_script
from pyshardy.lsp.documents import DiagnosticData, Facts
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
    """Run a script, and return the analysis of each program that it traces, and its problems."""
    texts, problems = traced_by_script(path)
    analyses: list[Analysis] = []
    first_key = 0
    for text in texts:
        module = assembly.parse(text, Context())
        analyses.append(Analysis.of_module(module, first_key))
        first_key += len(analyses[-1].facts.values)
    return analyses, tuple(map(problem_of, problems))


if __name__ == "__main__":
    serve(Worker().answer)
