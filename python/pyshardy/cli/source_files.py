# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Diagnostics with the source line and a caret, in color if the terminal has it; split inputs."""

from __future__ import annotations

import linecache
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.diagnostics import Diagnostic, Severity, SourceLocation, printable, warning

_TAB_STOP = 8
_WIDTH_OF_FILES = 120
"""The number of columns of source lines where the output isn't a terminal."""

_CUT = "..."
_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold magenta",
    Severity.REMARK: "bold blue",
    Severity.NOTE: "bold cyan",
}


class SourceFiles:
    """The texts that locations point into."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def add(self, filename: str, text: str) -> None:
        """Use `text` for locations in `filename`; other files are read when locations name them."""
        self._lines[filename] = text.split("\n")

    def render(self, diagnostic: Diagnostic, tool: str = "") -> str:
        """Return a diagnostic with its notes in the format of MLIR's tools, without a line break.

        A note at the location of its diagnostic doesn't repeat the source line. Lines that are
        longer than the terminal are cut around the caret.

        Args:
            diagnostic: the diagnostic.
            tool: the name of the tool, which stands in for a missing location.
        """
        shown = [*self._own(diagnostic, tool)]
        for note in diagnostic.notes:
            if note.location == diagnostic.location:
                shown.append(_head(note, tool))
            else:
                shown += self._own(note, tool)
        return "\n".join(shown)

    def _own(self, diagnostic: Diagnostic, tool: str) -> list[str]:
        head = _head(diagnostic, tool)
        line = None if diagnostic.location is None else self._line(diagnostic.location)
        if diagnostic.location is None or line is None:
            return [head]
        # Columns count bytes, as in MLIR.
        before = line.encode("utf-8", "surrogateescape")[: max(diagnostic.location.column - 1, 0)]
        indent = _shown(before.decode("utf-8", "replace"))
        source, column = _cut(_shown(line), len(indent), _width())
        return [head, source, " " * column + styled("^", "bold green")]

    def _line(self, location: SourceLocation) -> str | None:
        lines = self._lines.get(location.filename)
        if lines is None:
            # An empty list when there is no such file.
            lines = [line.rstrip("\n") for line in linecache.getlines(location.filename)]
        if not 1 <= location.line <= len(lines):
            return None
        line = lines[location.line - 1].rstrip("\r")
        return None if "\0" in line else line  # a file that is no text


def _head(diagnostic: Diagnostic, tool: str) -> str:
    """Return the line with the place, the severity and the message."""
    place = tool if diagnostic.location is None else str(diagnostic.location)
    before = styled(f"{place}: ", "bold") if place else ""
    severity = styled(f"{diagnostic.severity.value}: ", _STYLES[diagnostic.severity])
    message = printable(diagnostic.message)
    return (
        before
        + severity
        + (message if diagnostic.severity is Severity.NOTE else styled(message, "bold"))
    )


def _shown(line: str) -> str:
    """Return a line as it is shown: without tabs and control characters."""
    # `printable` cuts long texts, where the column would be lost.
    return "".join(map(printable, line.expandtabs(_TAB_STOP)))


def _width() -> int:
    if sys.stderr is not None and sys.stderr.isatty():
        return max(shutil.get_terminal_size((_WIDTH_OF_FILES, 0)).columns, 40)
    return _WIDTH_OF_FILES


def _cut(line: str, column: int, width: int) -> tuple[str, int]:
    """Return the part of a line around a column, of a width at most, and the column in that part.

    The column is in the middle, except near the ends of the line.

        ("aaaaaaaaaaaaaaaaaaaaaXaaaaaaaaaaaaaaaaaa", 21, 16)  ->  ("...aaaaaXaaaa...", 8)
    """
    if len(line) <= width:
        return line, column
    start = max(min(column - width // 2, len(line) - width), 0)
    end = start + width
    left, right = (_CUT if start else ""), (_CUT if end < len(line) else "")
    kept = line[start + len(left) : end - len(right)]
    return left + kept + right, column - start


# --- Color ----------------------------------------------------------------------------------------

# `NO_COLOR` disables it, and `FORCE_COLOR` enables it where the output isn't a terminal; see
# https://no-color.org and https://force-color.org. `rich`, which prints tables, does the same.


_CODES = {"bold": 1, "red": 31, "green": 32, "magenta": 35, "blue": 34, "cyan": 36}


def has_color() -> bool:
    """Whether diagnostics are in color."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def styled(text: str, style: str) -> str:
    """Return a text for standard error in a style, such as "bold red", if that has colors."""
    if not has_color():
        return text
    codes = ";".join(str(_CODES[word]) for word in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m"


# --- Inputs of several modules --------------------------------------------------------------------


SEPARATOR = "// -----"

_NEAR_MISS = re.compile(r"^//[ \t]*(?:-{3,})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A part of a file; `first_line` is the number of its first line in the whole file."""

    text: str
    first_line: int = 1


def _lines_with(separator: str) -> re.Pattern[str]:
    return re.compile(rf"^{re.escape(separator)}[ \t]*(?:\r?\n|\Z)", re.MULTILINE)


def split_input(text: str, separator: str = SEPARATOR) -> list[Chunk]:
    """Return the parts between the separator lines; at least one, possibly empty."""
    chunks: list[Chunk] = []
    start, line = 0, 1
    for found in _lines_with(separator).finditer(text):
        chunk = text[start : found.start()]
        chunks.append(Chunk(chunk, line))
        line += chunk.count("\n") + 1
        start = found.end()
    chunks.append(Chunk(text[start:], line))
    return chunks


def near_misses(text: str, filename: str) -> Iterator[Diagnostic]:
    """Yield a warning for each line that resembles a separator."""
    separator = _lines_with(SEPARATOR)
    for match in _NEAR_MISS.finditer(text):
        if not separator.match(text, match.start()):
            line = text.count("\n", 0, match.start()) + 1
            message = f"near miss with the separator '{SEPARATOR}' of split inputs"
            yield warning(message, SourceLocation(filename, line, 1))
