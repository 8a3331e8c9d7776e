# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of the diagnostics of a run with expectations in comments of the input.

    // expected-error@+1 {{has no sharding}}
    %0 = ...
    // expected-note-re@above 2 {{seen {{[0-9]+}} times}}

The severity is `error`, `warning`, `remark` or `note`. The location is the comment's own line, or
`@+N`, `@-N`, `@above`, `@below` (the nearest line without an expectation), or `@unknown`. A number
is the expected number of diagnostics. The text must be part of the message; it extends to the last
`}}` of the line. With `-re`, `{{...}}` inside the text is a regular expression.

All diagnostics must be expected, but their notes and consequences need not be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from mlir_sdy.diagnostics import Diagnostic, Severity, SourceLocation, error

_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<re>-re)?[ \t]*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))?[ \t]*(?P<count>\d+)?[ \t]*"
    r"\{\{(?P<text>.*)\}\}"
)
_NO_LINE = -1
"""The line of diagnostics in other files, and of expectations without a line yet."""

_REGEX_PIECE = re.compile(r"\{\{(.*?)\}\}")


@dataclass(slots=True)
class _Expectation:
    """An expectation: the diagnostics that it matches, and the number still missing."""

    severity: Severity
    line: int | None
    text: str
    pattern: re.Pattern[str]
    remaining: int
    comment: SourceLocation


class DiagnosticVerifier:
    """A sink for diagnostics that checks them against the comments of a text.

    Args:
        text: the input with the comments.
        filename: the name of the input in locations.
        first_line: the number of the text's first line.
        only_expected: ignore unexpected diagnostics.
    """

    def __init__(
        self, text: str, filename: str, *, first_line: int = 1, only_expected: bool = False
    ):
        self._filename = filename
        self._only_expected = only_expected
        self._failures: list[Diagnostic] = []
        self._expectations = list(self._read(text.split("\n"), first_line))

    def __call__(self, diagnostic: Diagnostic) -> None:
        """Match `diagnostic`, then each of its notes, with an expectation that is still open."""
        self._match(diagnostic)
        for consequence in diagnostic.consequences:
            self._match(replace(diagnostic, message=consequence), may_be_unexpected=True)
        for note in diagnostic.notes:
            self._match(note)

    def failures(self) -> list[Diagnostic]:
        """Return the unexpected diagnostics, then the missing ones."""
        missing = [
            error(
                f'expected {expectation.severity.value} "{expectation.text}" was not produced'
                + (f" ({expectation.remaining} more)" if expectation.remaining > 1 else ""),
                expectation.comment,
            )
            for expectation in self._expectations
            if expectation.remaining
        ]
        return [*self._failures, *missing]

    def _match(self, diagnostic: Diagnostic, *, may_be_unexpected: bool = False) -> None:
        # Upstream's tools report the line of the operation, not that of its wrong part.
        lines = {self._line_of(diagnostic.location)}
        if diagnostic.operation is not None:
            lines.add(self._line_of(diagnostic.operation))
        other_severity: _Expectation | None = None
        for expectation in self._expectations:
            if expectation.line not in lines or not expectation.remaining:
                continue
            if not expectation.pattern.search(diagnostic.message):
                continue
            if expectation.severity is diagnostic.severity:
                expectation.remaining -= 1
                return
            other_severity = expectation
        # Diagnostics have more notes than those of upstream's tools.
        if may_be_unexpected or self._only_expected or diagnostic.severity is Severity.NOTE:
            return
        got = diagnostic.severity.value
        if other_severity is not None:
            wanted = other_severity.severity.value
            message = f"'{got}' diagnostic emitted when expecting a '{wanted}'"
            self._failures.append(error(message, other_severity.comment))
        else:
            message = f"unexpected {got}: {diagnostic.message}"
            self._failures.append(error(message, diagnostic.location))

    def _line_of(self, location: SourceLocation | None) -> int | None:
        if location is None:
            return None
        return location.line if location.filename == self._filename else _NO_LINE

    def _read(self, lines: list[str], first_line: int) -> Iterator[_Expectation]:
        above = None
        waiting_for_line_below: list[_Expectation] = []
        for number, line in enumerate(lines, first_line):
            match = _EXPECTATION.search(line)
            if match is None:
                for expectation in waiting_for_line_below:
                    expectation.line = number
                waiting_for_line_below.clear()
                above = number
                continue
            expectation = self._expectation(match, number, above)
            if expectation is None:
                continue
            if match["place"] == "below":
                waiting_for_line_below.append(expectation)
            yield expectation

    def _expectation(
        self, match: re.Match[str], number: int, above: int | None
    ) -> _Expectation | None:
        comment = SourceLocation(self._filename, number, match.start() + 1)
        place: str = match["place"] or ""
        line: int | None = number
        if place == "unknown":
            line = None
        elif place == "above":
            if above is None:
                message = "expected diagnostic above, but there is no line above"
                self._failures.append(error(message, comment))
                return None
            line = above
        elif place == "below":
            line = _NO_LINE
        elif place:
            line = number + int(place)
        try:
            pattern = _pattern(match["text"], with_regex=match["re"] is not None)
        except re.error as broken:
            message = f"invalid regular expression in expected diagnostic: {broken}"
            self._failures.append(error(message, comment))
            return None
        count = int(match["count"] or 1)
        severity = Severity(match["severity"])
        return _Expectation(severity, line, match["text"], pattern, count, comment)


def _pattern(text: str, *, with_regex: bool) -> re.Pattern[str]:
    """Return the pattern that a message must contain to match `text`."""
    if not with_regex:
        return re.compile(re.escape(text))
    # `split` puts the regular expressions, which are in a group, at the odd places.
    pieces = _REGEX_PIECE.split(text)
    return re.compile(
        "".join(
            f"(?:{piece})" if index % 2 else re.escape(piece) for index, piece in enumerate(pieces)
        )
    )
