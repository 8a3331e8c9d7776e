# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics of crashes, with files that reproduce them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import Diagnostic, error, note
from pyshardy.processes.fork import memory_file

if TYPE_CHECKING:
    from pyshardy.processes.crash import Crash

_STANDARD_INPUT = "-"


@dataclass(frozen=True)
class PassReproducer:
    """The reproducer to write when a pass crashes: the input followed by the pipeline.

    Attributes:
        path: the file to write.
        pipeline: the textual pipeline of the run.
        verify_each: whether the run verifies after each pass.
        flags: the flags that the reproducer needs, each after a space.
    """

    path: Path
    pipeline: str
    verify_each: bool
    flags: str = ""


class CrashReport:
    """Keeps the inputs of a run of a tool. Make it before the process forks.

    Args:
        tool: the name of the tool.
        arguments: its command line.
        inputs: the input files among the arguments; "-" for standard input.
        pass_reproducer: the reproducer to write beside copies of the inputs, or None.
    """

    def __init__(
        self,
        tool: str,
        arguments: Sequence[str],
        inputs: Sequence[str],
        pass_reproducer: PassReproducer | None = None,
    ):
        self._tool = tool
        self._arguments = arguments
        self._inputs = tuple(dict.fromkeys(inputs))
        self._pass_reproducer = pass_reproducer
        self._standard_input = memory_file("pyshardy-stdin")

    def keep_standard_input(self, data: bytes) -> None:
        """Save the standard input that the child has read, since it can be read only once."""
        self._standard_input.write(data)

    def diagnostic(self, crash: Crash) -> Diagnostic:
        """Return the error for a crash, with notes on the files written."""
        import shlex  # noqa: PLC0415 (not for runs that don't crash)

        notes: list[Diagnostic] = []
        command = list(self._arguments)
        try:
            for file in self._inputs:
                kept = self._keep(file)
                command = _with_input(command, file, kept)
                notes.append(note(f"the input was saved to '{kept}'"))
            shown = shlex.join([self._tool, "--no-guard", *command])
            notes.append(note(f"to reproduce the crash: {shown}"))
            notes += self._pass_reproducer_notes(crash)
        except OSError as refusal:
            reason = refusal.strerror or refusal
            notes.append(note(f"the input could not be saved: {reason}"))
        return error(crash.message, notes=notes)

    def _pass_reproducer_notes(self, crash: Crash) -> list[Diagnostic]:
        wanted = self._pass_reproducer
        if wanted is None or not any(stage.startswith("running pass") for stage in crash.stages):
            return []
        from pyshardy.pipeline.reproducer import Reproducer, command_of  # noqa: PLC0415

        text = self._content(self._inputs[0]).decode(errors="surrogateescape")
        reproducer = str(Reproducer(text, wanted.pipeline, wanted.verify_each, wanted.flags))
        wanted.path.write_bytes(reproducer.encode(errors="surrogateescape"))
        return [
            note(f"reproducer generated at '{wanted.path}'"),
            note(command_of(wanted.path, wanted.flags)),
        ]

    def _content(self, file: str) -> bytes:
        if file != _STANDARD_INPUT:
            return Path(file).read_bytes()
        self._standard_input.seek(0)
        return self._standard_input.read()

    def _keep(self, file: str) -> str:
        """Copy an input to a temporary file of its own."""
        import tempfile  # noqa: PLC0415

        suffix = ".mlir" if file == _STANDARD_INPUT else Path(file).suffix
        handle, kept = tempfile.mkstemp(suffix, f"{self._tool}-crash-")
        with os.fdopen(handle, "wb") as copy:
            copy.write(self._content(file))
        return kept


def _with_input(arguments: Sequence[str], file: str, kept: str) -> list[str]:
    """Return the arguments with `file`, also as the value of a flag, replaced by `kept`."""
    replaced = [
        kept
        if argument == file
        else argument.removesuffix(f"={file}") + f"={kept}"
        if argument.endswith(f"={file}")
        else argument
        for argument in arguments
    ]
    return replaced if kept in " ".join(replaced) else [*replaced, kept]
