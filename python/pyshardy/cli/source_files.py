# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rendering of diagnostics with the source line and a caret."""

from __future__ import annotations

import linecache

from mlir_sdy.diagnostics import Diagnostic, SourceLocation

_TAB_STOP = 8


class SourceFiles:
    """The texts that locations point into."""

    def __init__(self) -> None:
        self._lines: dict[str, list[str]] = {}

    def add(self, filename: str, text: str) -> None:
        """Use `text` for locations in `filename`; other files are read when locations name them."""
        self._lines[filename] = text.split("\n")

    def render(self, diagnostic: Diagnostic) -> str:
        """Return a diagnostic with its notes in the format of MLIR's tools, without a line break.

        A note at the location of its diagnostic doesn't repeat the source line.
        """
        shown = [*self._own(diagnostic)]
        for note in diagnostic.notes:
            if note.location == diagnostic.location:
                shown.append(str(note))
            else:
                shown += self._own(note)
        return "\n".join(shown)

    def _own(self, diagnostic: Diagnostic) -> list[str]:
        place = "<unknown>:0" if diagnostic.location is None else str(diagnostic.location)
        head = f"{place}: {diagnostic.severity.value}: {diagnostic.message}"
        line = None if diagnostic.location is None else self._line(diagnostic.location)
        if diagnostic.location is None or line is None:
            return [head]
        indent = line[: max(diagnostic.location.column - 1, 0)].expandtabs(_TAB_STOP)
        return [head, line.expandtabs(_TAB_STOP), " " * len(indent) + "^"]

    def _line(self, location: SourceLocation) -> str | None:
        lines = self._lines.get(location.filename)
        if lines is None:
            # An empty list when there is no such file.
            lines = [line.rstrip("\n") for line in linecache.getlines(location.filename)]
        if not 1 <= location.line <= len(lines):
            return None
        return lines[location.line - 1].rstrip("\r")
