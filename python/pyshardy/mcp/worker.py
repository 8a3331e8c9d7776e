# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The process that answers requests for the server, which survives its crashes.

    python -m pyshardy.mcp.worker FOLDER [--allow-code]

A request is a tuple of a tool and its arguments; the answer is a text in JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from mlir_sdy.diagnostics import Diagnostic, SdyError, collect, nesting_error
from pyshardy.lsp.analysis import problem_of
from pyshardy.mcp.answers import ServedFolder, answer
from pyshardy.mcp.requests import read_request
from pyshardy.processes.worker import serve


def answer_with_diagnostics(
    folder: ServedFolder, tool: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answer to a request, with `errors` if it failed, and with `warnings` if any.

    Args:
        folder: the files that may be read.
        tool: the tool.
        arguments: its arguments.
    """
    with collect() as found:
        try:
            answered = answer(folder, read_request(tool, arguments))
        except SdyError as failure:
            answered = {"errors": _as_data(failure.diagnostics)}
        except RecursionError:
            answered = {"errors": _as_data([nesting_error()])}
    return {**answered, "warnings": _as_data(dict.fromkeys(found))} if found else answered


def _as_data(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Return diagnostics without entries for what isn't known."""
    found = [asdict(problem_of(each)) for each in diagnostics]
    return [{name: value for name, value in each.items() if value} for each in found]


def main(folder: str, *flags: str) -> None:
    """Answer requests until the server ends."""
    os.chdir(folder)  # names of files in messages are as in requests
    served = ServedFolder(folder, allows_code="--allow-code" in flags)
    serve(lambda request: json.dumps(answer_with_diagnostics(served, *request)))


if __name__ == "__main__":
    main(*sys.argv[1:])
