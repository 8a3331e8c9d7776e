# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Forked processes: the memory that they share, trial runs in them, and texts that they compute."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import mmap
import os
import signal
import sys
import warnings
from collections.abc import Callable
from typing import IO, NoReturn

from mlir_sdy import stages
from mlir_sdy.diagnostics import UsageError, error
from pyshardy.processes import die_with_parent
from pyshardy.processes.crash import Crash, HostCrashError

_STAGE_BYTES = 4096


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


def _work_and_exit(prepare: Callable[[], object], work: Callable[[], object]) -> NoReturn:
    """Do the work of a child, and end with status 0 unless it raises an exception."""
    status = 1
    try:
        prepare()
        gc.disable()  # frees nothing that the parent needs, and costs copies of its pages
        sys.stderr = None  # what there is to say, the parent says when it does the work again
        work()
        status = 0
    finally:
        os._exit(status)  # also after an exception


def processors() -> int:
    """Return the number of processors that this process may use."""
    may_be_told = hasattr(os, "sched_getaffinity")
    return len(os.sched_getaffinity(0)) if may_be_told else os.cpu_count() or 1


def memory_file(name: str) -> IO[bytes]:
    """Return an empty file that is deleted when no process has it open."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create(name), "w+b", buffering=0)
    import tempfile  # noqa: PLC0415 (takes milliseconds)

    return tempfile.TemporaryFile(buffering=0)


# --- Trial runs ----------------------------------------------------------------------------------


def raise_if_crashing(work: Callable[[], object]) -> None:
    """Run a function in a forked process, and discard its result.

    Its exceptions are not raised here, since the caller runs the function again in this process.

    Args:
        work: the function. It must not wait for other threads: a forked process has none.

    Raises:
        HostCrashError: the forked process crashed.
        UsageError: this system has no `fork`.
    """
    if not hasattr(os, "fork"):
        raise UsageError(error("a guard needs 'fork', which this system doesn't have"))
    shared = SharedState()
    try:
        child = forked()
        if child == 0:
            _work_and_exit(shared.enter_child, work)
        _, status = os.waitpid(child, 0)
        crash = shared.crash(status)
    finally:
        shared.close()
    if crash is not None:
        raise HostCrashError(error(crash.message))


# --- Texts ---------------------------------------------------------------------------------------


class ForkedText:
    """A text that a forked process computes from the state that this process has now.

        text = ForkedText(lambda: asm(module))
        try:
            ...  # works on, beside the other process
            print(text.result())
        finally:
            text.cancel()

    Args:
        compute: returns the text. It must not print, nor wait for threads: a forked process has
            none, and MLIR contexts made from Python don't need any. `result` calls the function if
            that process fails or can't be started, so that it must not depend on state that changes
            in between.

    Attributes:
        process: the identifier of the process; None if it has ended, or there is none.
    """

    def __init__(self, compute: Callable[[], str]):
        self._compute = compute
        self._file = memory_file("pyshardy-text")
        try:
            self.process: int | None = forked()
        except OSError:  # too many processes, or too little memory for another one
            self.process = None
        if self.process == 0:
            _work_and_exit(die_with_parent, self._work)

    def _work(self) -> None:
        with os.fdopen(os.dup(self._file.fileno()), "wb") as file:
            file.write(self._compute().encode())

    def result(self) -> str:
        """Return the text, once the process has ended; call this once."""
        with self._file:
            if self.process is None:
                return self._compute()
            _, status = os.waitpid(self.process, 0)
            self.process = None
            if status:
                return self._compute()
            self._file.seek(0)
            return self._file.read().decode()

    def cancel(self) -> None:
        """End the process if it still runs."""
        if self.process is not None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            self.process = None
        self._file.close()
