# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Answers of `sdy-explain` that are replaced by their stored ones.

The key has the program, all flags, and the content of the files that they name. The stored answer
is what is printed, the files that are written, and the exit status.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mlir_sdy.host import ir
from pyshardy.caching.programs import stored_data
from pyshardy.caching.store import Store
from pyshardy.cli.output import write_report
from pyshardy.cli.reading import rule_flags_applied

if TYPE_CHECKING:
    from pyshardy.cli.explain import ExplainFlags

_COLORS = ("NO_COLOR", "FORCE_COLOR", "TERM")


def answer_or_restore(module: ir.Module, arguments: ExplainFlags, answer: Callable[[], int]) -> int:
    """Print and write a stored answer; else answer, and store that.

    Without a cache, and with `--against-xla`, which asks another package, it always answers.

    Args:
        module: the program.
        arguments: the flags.
        answer: prints and writes the answer, and returns the exit status.
    """
    store = None if arguments.against_xla else Store.at(arguments.cache)
    if store is None:
        return answer()
    computed: dict[str, Any] = {}

    def compute() -> dict[str, Any]:
        printed = _Printed(is_terminal=sys.stdout.isatty())
        with redirect_stdout(printed):
            computed["status"] = answer()
        computed["files"] = {
            path: Path(path).read_text(encoding="utf-8") for path in _written(arguments)
        }
        return computed | {"text": printed.getvalue()}

    with rule_flags_applied(arguments):
        data = stored_data(store, module, _request(arguments), compute)
    assert data is not None, "each answer is stored"
    for path, text in () if computed else data["files"].items():
        write_report(path, text)
    sys.stdout.write(data["text"])
    return data["status"]


class _Printed(io.StringIO):
    """Output that is kept; colored if it will be printed to a terminal."""

    def __init__(self, *, is_terminal: bool):
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def _written(arguments: ExplainFlags) -> Iterator[str]:
    """Yield the paths of the files that an answer writes."""
    for path in (arguments.html, arguments.trace, arguments.model_explorer):
        if path and path != "-":
            yield path


def _request(arguments: ExplainFlags) -> str:
    """Return all that an answer depends on beside the program."""
    flags: dict[str, object] = {**dataclasses.asdict(arguments), "cache": None}
    words = {word for value in flags.values() for word in _words(value)} - {*_written(arguments)}
    contents = [
        hashlib.blake2b(Path(word).read_bytes()).hexdigest()
        for word in sorted(words)
        if Path(word).is_file()
    ]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    shown = (width, [os.environ.get(name) for name in _COLORS])
    return f"sdy-explain {flags} {contents} {shown}"


def _words(value: object) -> Iterator[str]:
    """Yield the texts of the value of a flag."""
    for word in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
        if isinstance(word, str):
            yield word
