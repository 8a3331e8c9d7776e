# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A rewritten text with the source position of each of its characters.

The rewritten text has the same lines as the source, and as far as possible the same columns:
shorter replacements are padded with spaces. So most locations in it are those of the source. Where
a replacement is longer, `source_offset` and `moved_lines` have the differences.
"""

from __future__ import annotations

import bisect
from itertools import accumulate

from mlir_sdy.assembly.source import SourceText


class RewrittenText:
    """Builder of a rewritten text in the order of the source.

    Attributes:
        moved_lines: lines on which something other than a location or a comment has another
            column than in the source.
    """

    def __init__(self, source: SourceText):
        self.source = source
        self.moved_lines: set[int] = set()
        self._texts: list[str] = []
        self._origins: list[tuple[int, bool]] = []  # source offset; copied character by character?
        self._shift = 0  # by how many columns the current line has moved right

    def insert(self, text: str, origin: int) -> None:
        """Add `text`, which has no line break and no counterpart in the source."""
        self._add(text, origin, copied=False)
        self._shift += len(text)

    def copy(self, start: int, end: int) -> None:
        """Add the source text from `start` to `end` unchanged."""
        if start == end:
            return
        text = self.source.text[start:end]
        if self._shift:
            line, line_break, _ = text.partition("\n")
            line = line.strip()
            if line and not line.startswith(("loc(", "//")):
                self.moved_lines.add(self.source.line_and_column(start)[0])
            if line_break:
                self._shift = 0
        self._add(text, start, copied=True)

    def replace(self, start: int, end: int, text: str) -> None:
        """Add `text` for the source text from `start` to `end`, and keep lines and columns."""
        replaced = self.source.text[start:end]
        missing_lines = replaced.count("\n") - text.count("\n")
        if missing_lines:
            column = len(replaced) - replaced.rfind("\n") - 1
            text += "\n" * missing_lines + " " * column
            self._shift = 0
        else:
            # Lines of the replacement and the source have equal beginnings, so lengths compare.
            surplus = len(text) + self._shift - len(replaced)
            if surplus < 0:
                text += " " * -surplus
            self._shift = max(surplus, 0)
        self._add(text, start, copied=False)

    def _add(self, text: str, origin: int, *, copied: bool) -> None:
        self._texts.append(text)
        self._origins.append((origin, copied))

    def text(self) -> str:
        """Return the rewritten text."""
        return "".join(self._texts)

    def source_offset(self, offset: int) -> int:
        """Return the source offset of the character at `offset` of the rewritten text."""
        starts = [0, *accumulate(map(len, self._texts))]
        index = min(bisect.bisect_right(starts, offset), len(self._origins)) - 1
        if index < 0:
            return 0
        origin, copied = self._origins[index]
        return origin + offset - starts[index] if copied else origin
