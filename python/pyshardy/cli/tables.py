# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables on standard output that fit the terminal.

Text is wrapped between words, and numbers are always complete. Where a column would be narrower
than one of its words, the cells of text of a row stand below each other. In files and pipes, lines
are long, so that they can be searched. No line has trailing blanks.
"""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from mlir_sdy.diagnostics import SourceLocation
from pyshardy.display import Table as TextTable

_WIDTH_OF_FILES = 200
_NARROWEST = 10
_GAP = 3


_LINE_END = re.compile(r"(?: |\x1b\[[0-9;]*m)+$", re.MULTILINE)
"""Blanks at the end of a line, and codes of colors between them."""


class Printer:
    """Prints lines and tables to standard output.

    Args:
        quiet: whether to print nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = Console(highlight=False, soft_wrap=False, quiet=quiet)
        if not self._console.is_terminal:
            self._console.width = _WIDTH_OF_FILES

    def line(self, text: str, style: str = "") -> None:
        """Print a line."""
        self._console.print(Text(text, style), soft_wrap=True)

    def table(self, title: str, content: Content) -> None:
        """Print a table under its title."""
        self.line(f"\n{title}", "bold")
        width = self._console.width
        self.value(
            (content if content.holds_words(width) else content.stacked(width)).laid_out(width)
        )

    def tables(self, tables: Iterable[TextTable]) -> None:
        """Print the tables of a report."""
        for each in tables:
            rows = [tuple(map(str, row)) for row in each.rows]
            self.table(each.title, table_of(each.headings, rows, each.num_numeric))

    def fits(self, content: Content) -> bool:
        """Whether a table is readable at the width of the output."""
        return content.fits(self._console.width)

    def value(self, value: RenderableType) -> None:
        """Print what rich can print."""
        with self._console.capture() as printed:
            self._console.print(value)
        text = _LINE_END.sub(lambda match: match[0].replace(" ", ""), printed.get())
        self._console.out(text.rstrip("\n"), highlight=False)


def table_of(
    headings: Sequence[str],
    rows: Sequence[Sequence[object]],
    num_numeric: int = 0,
    total: Sequence[object] = (),
) -> Content:
    """Return the content of a table.

    Args:
        headings: the headings of the columns.
        rows: the cells; `Text` keeps its style.
        num_numeric: the number of columns with numbers, which are the last ones, or precede a
            column without a heading.
        total: the cells of a last row that is set apart, if there is one.
    """
    end = len(headings) - (not headings[-1])
    cells = [[_cell(value) for value in row] for row in rows]
    return Content(
        tuple(headings), cells, range(end - num_numeric, end), [_cell(value) for value in total]
    )


def _longest_word(text: str) -> str:
    """Return the longest word of a text."""
    return max(text.split(), key=len, default="")


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text(str(value))


def _packed(cells: Sequence[str], width: int) -> Text:
    """Return a text with the first cell on a line, and the others on indented lines below it."""
    lines = [""]
    for cell in filter(None, cells[1:]):
        pieces = textwrap.wrap(cell, max(width - 2, _NARROWEST), break_on_hyphens=False)
        if lines[-1] and len(f"{lines[-1]}  {cell}") <= width - 2:
            lines[-1] += f"  {cell}"
        else:
            lines += pieces
    return Text("\n  ".join([cells[0], *filter(None, lines)]))


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a table; see `table_of`."""

    headings: tuple[str, ...]
    rows: Sequence[Sequence[Text]]
    numeric: range
    total: Sequence[Text]

    def widths(self, available: int) -> list[int]:
        """Return the widths of the columns, which fit an output of a width if possible.

        1. If there is room, each column is as wide as its widest cell and its heading.
        2. Else headings are wrapped between words.
        3. Then columns of text are narrowed, the widest one first, and none to less than
           `_NARROWEST`.
        """
        rows = [*self.rows, *([self.total] if self.total else [])]
        widths = [
            max(len(_longest_word(heading)), *(len(row[at]) for row in rows), 0)
            for at, heading in enumerate(self.headings)
        ]
        gaps = _GAP * (len(widths) - 1)
        whole = list(map(max, widths, map(len, self.headings)))
        if sum(whole) + gaps <= available:
            return whole
        while sum(widths) + gaps > available:
            text = [at for at in range(len(widths)) if at not in self.numeric]
            widest = max(text, key=lambda at: widths[at], default=None)
            if widest is None or widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1
        return widths

    def fits(self, available: int) -> bool:
        """Whether the columns fit without text of less than a useful width."""
        return sum(self.widths(available)) + _GAP * (len(self.headings) - 1) <= available

    def holds_words(self, available: int) -> bool:
        """Whether each column is as wide as its longest word."""
        return all(
            width >= len(_longest_word(row[at].plain))
            for at, width in enumerate(self.widths(available))
            for row in self.rows
        )

    def stacked(self, available: int) -> Content:
        """Return the content with the columns of text before the numbers as one column.

        product   p.mlir:3:8   tensor<8xf32>   32  ->  product                       32
                                                         p.mlir:3:8  tensor<8xf32>
        """
        end = max(self.numeric.start, 1)
        rest = [row[end:] for row in [*self.rows, *([self.total] if self.total else [])]]
        numbers = Content(self.headings[end:], rest, range(len(self.headings) - end), ())
        width = available - sum(numbers.widths(0)) - _GAP * len(numbers.headings)
        rows = [
            [_packed([cell.plain for cell in row[:end]], width), *row[end:]] for row in self.rows
        ]
        total = [self.total[0], *self.total[end:]] if self.total else ()
        numeric = range(1, len(self.numeric) + 1)
        heading = ", ".join(self.headings[:end])
        return Content((heading, *self.headings[end:]), rows, numeric, total)

    def laid_out(self, available: int) -> Table:
        """Return the table for an output of a number of columns."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for at, (heading, width) in enumerate(
            zip(self.headings, self.widths(available), strict=True)
        ):
            justify = "right" if at in self.numeric else "left"
            table.add_column(heading, justify=justify, width=width, overflow="fold")
        for row in self.rows:
            table.add_row(*row)
        if self.total:
            table.add_section()
            table.add_row(*self.total)
        return table


def place_text(place: SourceLocation | None) -> str:
    """Return a location without the folder of its file."""
    return "" if place is None else os.path.basename(str(place))
