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
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, replace


class Severity(enum.Enum):
    """Severity of a diagnostic; the values are the words printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A position in a source text; lines and columns count from 1, and 0 means unknown."""

    filename: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message to the user, with its notes."""

    severity: Severity
    message: str
    location: SourceLocation | None = None
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        place = "<unknown>:0:0" if self.location is None else str(self.location)
        own = f"{place}: {self.severity.value}: {self.message}"
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


class SdyError(Exception):
    """Base of failures caused by the input. The text is that of the diagnostics.

    Attributes:
        diagnostics: the diagnostics of the failure; never empty.
    """

    def __init__(self, *diagnostics: Diagnostic):
        self.diagnostics = diagnostics
        super().__init__("\n".join(map(str, diagnostics)))


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


_remarks_wanted: ContextVar[bool] = ContextVar("mlir_sdy_remarks_wanted", default=False)


@contextlib.contextmanager
def remarks() -> Iterator[None]:
    """Enable remarks of passes inside the `with` block; otherwise passes do not compute them."""
    token = _remarks_wanted.set(True)
    try:
        yield
    finally:
        _remarks_wanted.reset(token)


def are_remarks_wanted() -> bool:
    """Whether the code runs inside `remarks`."""
    return _remarks_wanted.get()


Sink = Callable[[Diagnostic], None]


def print_to_stderr(diagnostic: Diagnostic) -> None:
    """Print a diagnostic to standard error; the default sink."""
    print(diagnostic, file=sys.stderr)


_sink: ContextVar[Sink] = ContextVar("mlir_sdy_diagnostic_sink", default=print_to_stderr)


def emit(diagnostic: Diagnostic) -> None:
    """Pass `diagnostic` to the current sink."""
    _sink.get()(diagnostic)


@contextlib.contextmanager
def redirect(sink: Sink) -> Iterator[None]:
    """Pass the diagnostics emitted inside the `with` block to `sink`."""
    token = _sink.set(sink)
    try:
        yield
    finally:
        _sink.reset(token)


@contextlib.contextmanager
def collect() -> Iterator[list[Diagnostic]]:
    """Collect the diagnostics emitted inside the `with` block in the list that it yields."""
    collected: list[Diagnostic] = []
    with redirect(collected.append):
        yield collected
