# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that a guard shares with the forked process: its stage and its last message."""

from __future__ import annotations

import contextlib
import faulthandler
import mmap
import os
import signal
import sys
import warnings
from typing import IO, TYPE_CHECKING

from mlir_sdy import stages

if TYPE_CHECKING:
    from pyshardy.guard.crash import Crash

_STAGE_BYTES = 4096
_PR_SET_PDEATHSIG = 1


class SharedState:
    """Memory and a file that outlive a crash of the child. Make it before the fork.

    The host and other C++ libraries write to the file descriptor of standard error, bypassing
    `sys.stderr`. In the child the descriptor is that of the file, so that stack dumps can be
    suppressed; `sys.stderr` is unchanged.
    """

    def __init__(self) -> None:
        self._stage = mmap.mmap(-1, _STAGE_BYTES)
        self._said: IO[bytes] = memory_file("pyshardy-stderr")

    def enter_child(self) -> None:
        """Start sharing; called in the child, after the fork."""
        die_with_parent()
        stages.listen(self._note)
        if sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
                terminal = os.dup(2)
                sys.stderr = open(  # noqa: SIM115 (for as long as the process lives)
                    terminal,
                    "w",
                    encoding=sys.stderr.encoding,
                    errors="backslashreplace",
                    buffering=1,
                )
                os.dup2(self._said.fileno(), 2)
        faulthandler.enable(self._said)

    def _note(self, current: tuple[str, ...]) -> None:
        data = "\n".join(current).encode(errors="replace")[: _STAGE_BYTES - 1]
        self._stage[: len(data) + 1] = data + b"\0"

    def crash(self, status: int) -> Crash | None:
        """Return the crash for a status of `os.waitpid`; None if the process didn't crash."""
        if not os.WIFSIGNALED(status):
            return None
        from pyshardy.guard.crash import Crash  # noqa: PLC0415 (for rare events)

        return Crash(os.WTERMSIG(status), self.stages(), self.said())

    def stages(self) -> tuple[str, ...]:
        """Return the last stages of the child."""
        text = self._stage[:].partition(b"\0")[0].decode(errors="replace")
        return tuple(text.split("\n")) if text else ()

    def said(self) -> str:
        """Return the text that the child wrote to its standard error past Python."""
        self._said.seek(0)
        return self._said.read().decode(errors="replace")

    def close(self) -> None:
        """Release the memory, in the parent."""
        self._stage.close()
        self._said.close()


def forked() -> int:
    """Fork, and return as `os.fork` does, without warnings."""
    with warnings.catch_warnings():
        # Python and JAX warn of locks that other threads hold. The child takes none of theirs.
        warnings.simplefilter("ignore")
        return os.fork()


def memory_file(name: str) -> IO[bytes]:
    """Return an empty file that is deleted when no process has it open."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create(name), "w+b", buffering=0)
    import tempfile  # noqa: PLC0415 (takes milliseconds)

    return tempfile.TemporaryFile(buffering=0)


def die_with_parent() -> None:
    """Let the system kill this process when its parent is killed, on Linux."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    import ctypes  # noqa: PLC0415 (takes milliseconds, and the host loads it anyway)

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
