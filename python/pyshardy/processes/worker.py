# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The worker side of `child_process`: answers requests until its input ends.

It reads requests from standard input and answers on standard output, both pickled. An answer is
`(True, value)` or `(False, message)`; before it there may be questions. Nothing of the project's
host is imported here, so that a process may hold other bindings.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from pyshardy.processes import die_with_parent

Runner = Callable[[Sequence[Any]], "list[Any]"]
"""Runs a program: takes arrays and returns arrays."""


class Question(NamedTuple):
    """A question of a worker to its parent before it answers a request."""

    content: Any


class Parent:
    """The process that has started this one, which ends with it and its input."""

    def __init__(self) -> None:
        die_with_parent()
        self._requests = sys.stdin.buffer
        # Other output must not be mixed with the answers.
        self._answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        self._one_at_a_time = threading.Lock()

    def serve(
        self, answer: Callable[[Any], Any], prepare: Callable[[], object] | None = None
    ) -> None:
        """Answer each request by a function of it; an exception becomes its message.

        Args:
            answer: the function.
            prepare: does work for the next request, while the parent doesn't wait for an answer.
        """
        while True:
            if prepare is not None:
                prepare()
            try:
                request = pickle.load(self._requests)
            except EOFError:
                return
            try:
                reply = True, answer(request)
            except Exception as failure:
                reply = False, str(failure) or type(failure).__name__
            self._say(reply)

    def ask(self, content: Any) -> Any:
        """Return the parent's answer to a question; any thread may ask during a request."""
        with self._one_at_a_time:
            self._say(Question(content))
            return pickle.load(self._requests)

    def _say(self, what: Any) -> None:
        pickle.dump(what, self._answers, protocol=pickle.HIGHEST_PROTOCOL)
        self._answers.flush()


def serve(answer: Callable[[Any], Any], prepare: Callable[[], object] | None = None) -> None:
    """Answer all requests by a function, in a process without questions; see `Parent.serve`."""
    Parent().serve(answer, prepare)


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
