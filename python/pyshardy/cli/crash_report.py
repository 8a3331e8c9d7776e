# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The diagnostic of a crash, with files that reproduce it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import Diagnostic, error, note
from pyshardy.guard.child import memory_file

if TYPE_CHECKING:
    from pyshardy.guard.crash import Crash

_STANDARD_INPUT = "-"


class CrashReport:
    """Keeps the inputs of a run of a tool. Make it before the process forks.

    Args:
        tool: the name of the tool.
        arguments: its command line.
        inputs: the input files among the arguments; "-" for standard input.
    """

    def __init__(self, tool: str, arguments: Sequence[str], inputs: Sequence[str]):
        self._tool = tool
        self._arguments = arguments
        self._inputs = tuple(dict.fromkeys(inputs))
        self._standard_input = memory_file("pyshardy-stdin")

    def keep_standard_input(self, data: bytes) -> None:
        """Remember, in the child, what it has read and nobody can read again."""
        self._standard_input.write(data)

    def diagnostic(self, crash: Crash) -> Diagnostic:
        """The error to show, with notes that name the files it writes."""
        import shlex  # noqa: PLC0415 (not for runs that don't crash)

        notes: list[Diagnostic] = []
        command = list(self._arguments)
        try:
            for file in self._inputs:
                kept = self._keep(file)
                command = _with_input(command, file, kept)
                notes.append(note(f"the input is kept in '{kept}'"))
            shown = shlex.join([self._tool, "--no-guard", *command])
            notes.append(note(f"to reproduce the crash: {shown}"))
        except OSError as refusal:
            reason = refusal.strerror or refusal
            notes.append(note(f"the input could not be kept: {reason}"))
        return error(crash.message, notes=notes)

    def _keep(self, file: str) -> str:
        """Copy an input to a temporary file of its own."""
        import shutil  # noqa: PLC0415
        import tempfile  # noqa: PLC0415

        suffix = ".mlir" if file == _STANDARD_INPUT else Path(file).suffix
        handle, kept = tempfile.mkstemp(suffix, f"{self._tool}-crash-")
        with os.fdopen(handle, "wb") as copy:
            if file == _STANDARD_INPUT:
                self._standard_input.seek(0)
                shutil.copyfileobj(self._standard_input, copy)
            else:
                with Path(file).open("rb") as original:
                    shutil.copyfileobj(original, copy)
        return kept


def _with_input(arguments: Sequence[str], file: str, kept: str) -> list[str]:
    """The arguments with `kept` in place of `file`, which may also stand behind a flag."""
    replaced = [
        kept
        if argument == file
        else argument.removesuffix(f"={file}") + f"={kept}"
        if argument.endswith(f"={file}")
        else argument
        for argument in arguments
    ]
    return replaced if kept in " ".join(replaced) else [*replaced, kept]
