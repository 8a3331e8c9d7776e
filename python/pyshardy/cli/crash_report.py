# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps a tool alive when the host crashes, and reports the crash with files that reproduce it.

The process that the user started forks before it loads large libraries. The child does the work, on
the same standard streams. The parent waits, and forwards signals and the exit status, so that the
two behave like one process. If the child crashes, that is, dies by a signal that no process sent,
the parent emits a diagnostic.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import Diagnostic, error, note
from mlir_sdy.files import refusal_text
from pyshardy.cli.output import guard_standard_streams
from pyshardy.processes.fork import SharedState, forked, memory_file

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
            notes.append(note(refusal_text("save the input", refusal)))
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


# --- The process that outlives a crash ------------------------------------------------------------


_NAMES = ("HUP", "INT", "QUIT", "TERM", "USR1", "USR2")
_PASSED_ON = tuple(
    getattr(signal, f"SIG{name}") for name in _NAMES if hasattr(signal, f"SIG{name}")
)
_FROM_TERMINAL = (signal.SIGINT, getattr(signal, "SIGQUIT", None), getattr(signal, "SIGHUP", None))
_SENT_BY_USERS = {
    *_PASSED_ON,
    *(getattr(signal, f"SIG{name}", None) for name in ("ALRM", "PIPE", "XCPU", "XFSZ", "VTALRM")),
}
_SHOW_CURSOR = "\x1b[?25h"


def continue_in_child(report: Callable[[Crash], None]) -> None:
    """Fork, and return in the child only.

    The parent ends when the child has ended: with its exit status, by the signal that the user sent
    to end it, or with status 1 after a crash.

    Args:
        report: reports a crash to the user.
    """
    shared = SharedState()
    watched = {*_PASSED_ON, signal.SIGCHLD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    # Systems may drop signals without a handler, and then `sigwait` would not return.
    disposition = signal.signal(signal.SIGCHLD, _do_nothing)
    _flush()
    gc.freeze()  # a garbage collection in the child would copy the pages that it visits
    child = forked()
    if child == 0:
        signal.signal(signal.SIGCHLD, disposition or signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        shared.enter_child()
        guard_standard_streams()
        return
    exit_status = 1
    try:
        status, is_interrupted = _wait(child, watched)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        exit_status = _exit_status(status, shared, None if is_interrupted else report)
    except Exception as bug:
        sys.excepthook(type(bug), bug, bug.__traceback__)
    finally:
        _flush()
        os._exit(exit_status)  # there is nothing to clean up, and that takes milliseconds


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    pass


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):  # the reader has gone
                stream.flush()


def _exit_status(status: int, shared: SharedState, report: Callable[[Crash], None] | None) -> int:
    """Return the exit status for one of `os.waitpid`, unless a signal ends this process, too.

    Without `report` the user has interrupted the child: native libraries that are being loaded then
    may crash, which is no news.
    """
    crash = shared.crash(status)
    if crash is None:
        _repeat(shared.said())
        return os.WEXITSTATUS(status)
    if crash.signal in _SENT_BY_USERS:
        _repeat(shared.said())
        _flush()
        signal.signal(crash.signal, signal.SIG_DFL)
        os.kill(os.getpid(), crash.signal)
        return 128 + crash.signal  # a first process of a container survives its own signals
    if sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(_SHOW_CURSOR)  # hidden while progress is shown
    if report is None:
        return 128 + signal.SIGINT
    report(crash)
    return 1


def _repeat(said: str) -> None:
    """Print the standard error of native libraries."""
    if said and sys.stderr is not None:
        sys.stderr.write(said)


def _wait(child: int, watched: set[signal.Signals]) -> tuple[int, bool]:
    """Forward signals until the child has ended; return its status, and whether one was SIGINT."""
    is_interrupted = False
    while True:
        number, is_from_terminal = _next_signal(watched)
        is_interrupted |= number == signal.SIGINT
        if number == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status, is_interrupted
        elif not is_from_terminal:  # it was sent to the child as well
            os.kill(child, number)


def _next_signal(watched: set[signal.Signals]) -> tuple[int, bool]:
    """Return the next signal, and whether a terminal sent it to its foreground process group."""
    if hasattr(signal, "sigwaitinfo"):
        info = signal.sigwaitinfo(watched)
        return info.si_signo, info.si_signo in _FROM_TERMINAL and info.si_code > 0
    number = signal.sigwait(watched)  # macOS doesn't report the sender
    return number, number in _FROM_TERMINAL and sys.stdin is not None and sys.stdin.isatty()
