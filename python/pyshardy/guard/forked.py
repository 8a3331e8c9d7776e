# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Texts that forked processes compute while this one goes on."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from pyshardy.guard.child import die_with_parent, forked, memory_file


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
            self._work()

    def _work(self) -> NoReturn:
        status = 1
        try:
            die_with_parent()
            gc.disable()  # frees nothing that the parent needs, and costs copies of its pages
            sys.stderr = None
            with os.fdopen(os.dup(self._file.fileno()), "wb") as file:
                file.write(self._compute().encode())
            status = 0
        finally:
            os._exit(status)  # also after an exception

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
