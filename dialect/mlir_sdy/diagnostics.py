# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics: errors, warnings, remarks and notes with locations.

The host's Python API can emit errors only, and only through C++. Tools need all four severities
and notes, so every message of this project is a plain `Diagnostic` that goes through `emit`.
A tool handles them by a sink installed with `collect` or `redirect`; without one they are printed
to standard error in the form `file:line:column: severity: message`.

Failures are raised as one of the `SdyError` classes, which carry their diagnostics.
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Literal

from mlir_sdy.ambient import Ambient

_LONGEST_MESSAGE = 4000
_LONGEST_VALUE = 60
_SHORT_TYPES = (type(None), str, int, float, list, tuple, dict, os.PathLike)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def printable(text: str) -> str:
    r"""Return a text of unknown origin as it may be printed to a terminal.

    Control characters and broken encodings are escaped as in Python (`\x1b`), except for line
    breaks and tabs. Long texts lose their middle.
    """
    if len(text) > _LONGEST_MESSAGE:
        half = _LONGEST_MESSAGE // 2
        omitted = len(text) - 2 * half
        text = f"{text[:half]} ... ({omitted:,} characters) ... {text[-half:]}"
    return _CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


class Severity(enum.Enum):
    """Severity of a diagnostic; the values are the words printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A position in a source text; lines and columns count from 1.

    A line or column of 0 is unknown and isn't printed: `program.mlir` is a whole file.
    """

    filename: str
    line: int
    column: int

    def __str__(self) -> str:
        known = itertools.takewhile(bool, (self.line, self.column))
        return ":".join([self.filename, *map(str, known)])


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the text of an operation, or of another part.

    Attributes:
        kind: the kind of part: the argument or the result of a function, an operand, an attribute,
            an element of a list, a dimension of a sharding, or literal text.
        key: its index from 0, its name, or the text.
        occurrence: the number of equal texts before it.
    """

    kind: Literal["argument", "result", "operand", "attribute", "element", "dimension", "text"]
    key: int | str
    occurrence: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message to the user, with its notes.

    Attributes:
        severity: the severity.
        message: the text, in one or more lines.
        location: the place that is wrong.
        notes: related places, with messages.
        parts: the part of the operation at `location` that is wrong, from the outside in, if its
            own location isn't known. A reader of the text puts it in.
        operation: the location of the operation, where `location` is that of a part.
        consequences: errors that C++ Shardy reports next, at the same place. They say nothing new,
            so they aren't printed; `-verify-diagnostics` lets tests expect them.
    """

    severity: Severity
    message: str
    location: SourceLocation | None = None
    notes: tuple[Diagnostic, ...] = ()
    parts: tuple[Part, ...] = ()
    operation: SourceLocation | None = None
    consequences: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = "" if self.location is None else f"{self.location}: "
        own = f"{place}{self.severity.value}: {printable(self.message)}"
        return "\n".join([own, *map(str, self.notes)])

    def moved(self, move: Callable[[SourceLocation], SourceLocation]) -> Diagnostic:
        """Return the diagnostic with its own and its notes' locations mapped by `move`."""
        return replace(
            self,
            location=None if self.location is None else move(self.location),
            notes=tuple(note.moved(move) for note in self.notes),
        )


def error(
    message: str, location: SourceLocation | None = None, notes: Iterable[Diagnostic] = ()
) -> Diagnostic:
    """An error diagnostic (not emitted yet)."""
    return Diagnostic(Severity.ERROR, message, location, tuple(notes))


def warning(
    message: str, location: SourceLocation | None = None, notes: Iterable[Diagnostic] = ()
) -> Diagnostic:
    """A warning diagnostic (not emitted yet)."""
    return Diagnostic(Severity.WARNING, message, location, tuple(notes))


def remark(
    message: str, location: SourceLocation | None = None, notes: Iterable[Diagnostic] = ()
) -> Diagnostic:
    """A remark diagnostic (not emitted yet)."""
    return Diagnostic(Severity.REMARK, message, location, tuple(notes))


def note(message: str, location: SourceLocation | None = None) -> Diagnostic:
    """A note, to be attached to another diagnostic."""
    return Diagnostic(Severity.NOTE, message, location)


def _in_exception(diagnostic: Diagnostic) -> str:
    """Return the text in an exception; its name says that it is an error."""
    if diagnostic.location is None and diagnostic.severity is Severity.ERROR:
        return "\n".join([printable(diagnostic.message), *map(str, diagnostic.notes)])
    return str(diagnostic)


class SdyError(Exception):
    """Base of failures caused by the input. The text is that of the diagnostics.

    Attributes:
        diagnostics: the diagnostics of the failure; never empty.
    """

    def __init__(self, *diagnostics: Diagnostic):
        self.diagnostics = diagnostics
        super().__init__("\n".join(map(_in_exception, diagnostics)))


class ParseError(SdyError):
    """A text has a syntax error."""


class VerificationError(SdyError):
    """An operation or attribute of a module is invalid."""


class PassError(SdyError):
    """A pass failed."""


def nesting_error(location: SourceLocation | None = None) -> Diagnostic:
    """Return the diagnostic that stands for a `RecursionError`."""
    limit = sys.getrecursionlimit()
    message = f"the program is nested too deeply for Python's recursion limit of {limit}"
    return error(message, location, [note("'sys.setrecursionlimit' changes the limit", location)])


class UsageError(SdyError):
    """The request is invalid: an unknown pass, an invalid option, an unreadable file."""


class WrongTypeError(UsageError, TypeError):
    """An argument is of a type that the function doesn't take; the text names those that it takes.

    It is a `UsageError` for those who handle all mistakes of users, and Python's `TypeError`.
    """


def wrong_type(function: str, expected: str, given: object, remedy: str = "") -> WrongTypeError:
    """Return the error that a function takes no value of this type.

    Args:
        function: the name of the function in the API.
        expected: what it takes.
        given: what it was given.
        remedy: what to write instead.
    """
    text = f"'sdy.{function}' takes {expected}, got {_described(given)}"
    return WrongTypeError(error(f"{text}: {remedy}" if remedy else text))


def _described(value: object) -> str:
    """Return the type of a value in words, with the value if it is short."""
    if any(isinstance(value, each) for each in _SHORT_TYPES):
        text = repr(value)
        if len(text) <= _LONGEST_VALUE and "\n" not in text:
            return text
    kind = type(value)
    home = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    return f"a value of type {home}{kind.__qualname__}"


_remarks = Ambient("mlir_sdy_remarks", default=False)


def remarks() -> AbstractContextManager[None]:
    """Enable remarks of passes inside the `with` block; otherwise passes do not compute them."""
    return _remarks.bound(value=True)


def are_remarks_wanted() -> bool:
    """Whether the code runs inside `remarks`."""
    return _remarks.get()


Sink = Callable[[Diagnostic], None]


def print_to_stderr(diagnostic: Diagnostic) -> None:
    """Print a diagnostic to standard error; the default sink."""
    print(diagnostic, file=sys.stderr)


_sink = Ambient[Sink]("mlir_sdy_diagnostic_sink", print_to_stderr)


def emit(diagnostic: Diagnostic) -> None:
    """Pass `diagnostic` to the current sink."""
    _sink.get()(diagnostic)


def redirect(sink: Sink) -> AbstractContextManager[None]:
    """Pass the diagnostics emitted inside the `with` block to `sink`."""
    return _sink.bound(sink)


@contextlib.contextmanager
def collect() -> Iterator[list[Diagnostic]]:
    """Collect the diagnostics emitted inside the `with` block in the list that it yields."""
    collected: list[Diagnostic] = []
    with redirect(collected.append):
        yield collected


@contextlib.contextmanager
def noted() -> Iterator[list[Diagnostic]]:
    """Pass on the diagnostics emitted inside the `with` block, and note them in a list."""
    passed: list[Diagnostic] = []
    outer = _sink.get()

    def sink(diagnostic: Diagnostic) -> None:
        passed.append(diagnostic)
        outer(diagnostic)

    with redirect(sink):
        yield passed
