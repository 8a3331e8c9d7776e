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
from collections.abc import Callable, Collection, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, cast

from mlir_sdy.host import ir
from pyshardy.caching.programs import stored_data
from pyshardy.caching.store import Store
from pyshardy.cli.flags import RuleFlags
from pyshardy.cli.output import write_report
from pyshardy.cli.reading import rule_flags_applied

_COLORS = ("NO_COLOR", "FORCE_COLOR", "TERM")


def answer_or_restore(
    store: Store | None,
    module: ir.Module,
    arguments: RuleFlags,
    files: Collection[str],
    answer: Callable[[], int],
) -> int:
    """Print and write a stored answer; else answer, and store that.

    Args:
        store: the stored answers; None to answer always.
        module: the program.
        arguments: the flags.
        files: the paths of the files that the answer writes.
        answer: prints and writes the answer, and returns the exit status.
    """
    if store is None:
        return answer()
    computed: dict[str, Any] = {}

    def compute() -> dict[str, Any]:
        printed = _Printed(is_terminal=sys.stdout.isatty())
        with redirect_stdout(printed):
            computed["status"] = answer()
        computed["files"] = {path: Path(path).read_text(encoding="utf-8") for path in files}
        return computed | {"text": printed.getvalue()}

    with rule_flags_applied(arguments):
        data = stored_data(store, module, _request(arguments, files), compute)
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


def _request(arguments: RuleFlags, files: Collection[str]) -> str:
    """Return all that an answer depends on beside the program."""
    flags: dict[str, object] = {**dataclasses.asdict(arguments), "cache": None}
    words = {word for value in flags.values() for word in _words(value)} - {*files}
    contents = [
        hashlib.blake2b(Path(word).read_bytes()).hexdigest()
        for word in sorted(words)
        if os.path.isfile(word)  # unlike that of `Path` also for texts too long for a name
    ]
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 0
    shown = (width, [os.environ.get(name) for name in _COLORS])
    return f"sdy-explain {flags} {contents} {shown}"


def _words(value: object) -> Iterator[str]:
    """Yield the texts of the value of a flag."""
    for word in cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,):
        if isinstance(word, str):
            yield word
