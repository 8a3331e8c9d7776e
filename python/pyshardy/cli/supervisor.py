# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps a tool alive when the host crashes.

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
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING

from pyshardy.cli.output import guard_standard_streams
from pyshardy.processes.fork import SharedState, forked

if TYPE_CHECKING:
    from pyshardy.processes.crash import Crash

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
