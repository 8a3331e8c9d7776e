# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The other side of `child_process`: answers requests until there are no more.

It reads requests from standard input and answers on standard output, both pickled. An answer is
`(True, value)` or `(False, message)`. Nothing of the project's host is imported here, so that a
process may hold other bindings.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

_PR_SET_PDEATHSIG = 1

Runner = Callable[[Sequence[Any]], "list[Any]"]
"""What runs a program: arrays in, arrays out."""


def serve(answer: Callable[[Any], Any]) -> None:
    """Answer each request by a function of it; an exception becomes its message.

    The process ends with its input, and with its parent, however busy it is.
    """
    _end_with_parent()
    requests = sys.stdin.buffer
    # Nothing else may write among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        try:
            reply = True, answer(request)
        except Exception as failure:
            reply = False, str(failure) or type(failure).__name__
        pickle.dump(reply, answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()


def serve_programs(load: Callable[[Any], Runner]) -> None:
    """Run programs; see `engines.ChildEngine` for the requests.

    Args:
        load: compiles a program.
    """
    programs: dict[int, Runner] = {}

    def answer(request: tuple[int, Any, Sequence[Sequence[Any]]]) -> list[list[Any]]:
        number, program, batch = request
        if program is not None:
            programs[number] = load(program)
        return [programs[number](arrays) for arrays in batch]

    serve(answer)


def _end_with_parent() -> None:
    """Be killed when the parent is: its end closes our input, but nobody reads that at work."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
