# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reports of processes that crashed."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from mlir_sdy.diagnostics import SdyError
from mlir_sdy.last_words import last_words

_DESCRIPTIONS = {
    "SIGSEGV": "segmentation fault: an invalid memory access, or a stack overflow",
    "SIGABRT": "abort",
    "SIGBUS": "bus error",
    "SIGFPE": "arithmetic error",
    "SIGILL": "illegal instruction",
    "SIGKILL": "killed, possibly by the system for lack of memory",
}


class HostCrashError(SdyError):
    """The MLIR host crashed in a guarded process; this process is unaffected."""


@dataclass(frozen=True)
class Crash:
    """The death of a process by a signal.

    Attributes:
        signal: the number of the signal.
        stages: the stages of the process, the outermost first.
        said: its standard error from native code, with stack dumps.
    """

    signal: int
    stages: tuple[str, ...]
    said: str

    @property
    def message(self) -> str:
        """The message in one line: the stage, the signal, and the host's reason if any."""
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
