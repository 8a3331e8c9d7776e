# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known about a process that crashed, and how to say it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from mlir_sdy.diagnostics import SdyError

_DESCRIPTIONS = {
    "SIGSEGV": "segmentation fault: an invalid memory access, or a stack overflow",
    "SIGABRT": "abort",
    "SIGBUS": "bus error",
    "SIGFPE": "arithmetic error",
    "SIGILL": "illegal instruction",
    "SIGKILL": "killed, as the system does when memory runs out",
}

_LAST_WORDS = re.compile(
    r"^(?:LLVM ERROR: "  # llvm::report_fatal_error
    r"|F\d{4} \S+ +\d+ [^\]]*\] "  # a fatal error in Abseil's log
    r"|  what\(\):  "  # an exception of C++ that nobody caught
    r"|Fatal Python error: (?!Segmentation fault|Aborted|Bus error|Floating|Illegal)"
    r"|(?=[^\n]*: Assertion `))"
    r"(.*)$",
    re.MULTILINE,
)


class HostCrashError(SdyError):
    """The MLIR host crashed in a guarded process; this process is as it was before."""


def last_words(said: str) -> str | None:
    """The reason that a library gave on standard error before it ended the process, if any."""
    match = _LAST_WORDS.search(said)
    return match[1].strip() if match else None


@dataclass(frozen=True)
class Crash:
    """The death of a process by a signal.

    Attributes:
        signal: the number of the signal.
        stages: what the process was doing, the outermost stage first.
        said: what it wrote to standard error past Python, with stack dumps.
    """

    signal: int
    stages: tuple[str, ...]
    said: str

    @property
    def message(self) -> str:
        """One line: what was going on, how it ended, and why if the host said so."""
        name = _name(self.signal)
        described = _DESCRIPTIONS.get(name)
        how = f"{name} ({described})" if described else name
        stages = ", ".join(self.stages) or "starting"
        reason = last_words(self.said)
        return f"the MLIR host crashed while {stages}: {f'{reason}; ' if reason else ''}{how}"


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"  # those for real time have no names
