# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Child processes for libraries that may abort.

The child reads pickled requests from standard input, and answers each on standard output, until
its input ends (see `worker`). It may ask questions before it answers. Its standard error is kept
for the diagnostic in case that it dies.

The child runs third-party libraries on programs that may be untrusted, so its answers hold data
only: plain values and arrays. An answer that names any other class or function is refused.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import IO, Any

from mlir_sdy.last_words import last_words
from pyshardy.processes.worker import Question

_ARRAY_PARTS = frozenset({"ndarray", "dtype", "_reconstruct", "_frombuffer", "scalar"})


class ChildDiedError(Exception):
    """The child process died or is unusable; the message contains the reason."""


class ChildProcess:
    """A process that answers requests. It ends with this object.

    Args:
        arguments: the arguments of this Python interpreter.
        environment: variables to set for it.
    """

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str] | None = None):
        # Closed by the finalizer, with the process that writes it.
        self._messages: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        start = _starter().submit(
            subprocess.Popen[bytes],
            [sys.executable, *arguments],
            env={**os.environ, **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._messages,
            # This process handles interrupts from the terminal.
            start_new_session=True,
        )
        self.process: subprocess.Popen[bytes] = start.result()
        # The child ends when its input does, also if the owner is garbage-collected.
        self._finalizer = weakref.finalize(self, _end, self.process, self._messages)

    def close(self) -> None:
        """End the process."""
        self._finalizer()

    def ask(
        self,
        request: Any,
        respond: Callable[[Any], Any] | None = None,
        *,
        meanwhile: Callable[[], None] | None = None,
    ) -> Any:
        """Send a request and return its answer.

        Args:
            request: the request.
            respond: answers the questions that the child asks before it answers.
            meanwhile: does other work before the answer is awaited.

        Raises:
            ChildDiedError: the process died.
        """
        requests, answers = self.process.stdin, self.process.stdout
        assert requests is not None
        assert answers is not None
        try:
            _send(request, requests)
            if meanwhile is not None:
                meanwhile()
            while isinstance(reply := _Answers(answers).load(), Question):
                assert respond is not None, "the child asked a question, but 'respond' is missing"
                _send(respond(reply.content), requests)
            return reply
        except _RefusedAnswerError as refusal:
            self.close()
            raise ChildDiedError(str(refusal)) from None
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            raise ChildDiedError(self._last_words()) from None
        except BaseException:
            # Interrupted between a request and its answer: the next answer would be this one.
            self.process.kill()
            raise

    def _last_words(self) -> str:
        status = self.process.wait()
        self._messages.seek(0)
        said = self._messages.read().decode(errors="replace")
        if reason := last_words(said):
            return reason
        if status < 0:
            return f"its process was ended by {signal.Signals(-status).name}"
        lines = said.strip().splitlines()
        return f"its process ended with status {status}" + (f": {lines[-1]}" if lines else "")


class _RefusedAnswerError(Exception):
    """An answer contains more than data."""


class _Answers(pickle.Unpickler):
    """Reads values that consist of plain values, arrays, and questions."""

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the classes and functions that make arrays and questions."""
        if module.partition(".")[0] in ("numpy", "ml_dtypes"):
            found: Any = super().find_class(module, name)
            if name in _ARRAY_PARTS or _is_element_type(found):
                return found
        elif (module, name) == (Question.__module__, Question.__qualname__):
            return Question
        raise _RefusedAnswerError(f"its process answered with {module}.{name}, which is not data")


def _is_element_type(found: object) -> bool:
    """Whether something is a class of scalars of NumPy, which takes long to load."""
    bases = found.__mro__ if isinstance(found, type) else ()
    return any((base.__module__, base.__name__) == ("numpy", "generic") for base in bases)


def _send(what: Any, stream: IO[bytes]) -> None:
    pickle.dump(what, stream, protocol=pickle.HIGHEST_PROTOCOL)
    stream.flush()


@cache
def _starter() -> ThreadPoolExecutor:
    """Return a thread that lives as long as the process, for starting children.

    Linux ends a child together with the *thread* that started it, and the caller's thread may be
    short-lived.
    """
    return ThreadPoolExecutor(1, "child-starter")


if hasattr(os, "register_at_fork"):  # A forked process does not inherit the thread.
    os.register_at_fork(after_in_child=_starter.cache_clear)


def _end(process: subprocess.Popen[bytes], messages: IO[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        # Busy with a request whose caller is gone.
        process.kill()
        process.wait()
    messages.close()
