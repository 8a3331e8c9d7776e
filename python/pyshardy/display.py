# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Representations of values: one line in a REPL, tables in notebooks and by `rich.print`.

Plans and their differences are `Printed`: `print` shows their tables, too.
"""

from __future__ import annotations

import html
import re
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error

if TYPE_CHECKING:
    from rich.console import RenderableType

_UNITS = {
    **dict.fromkeys(("", "byte", "bytes", "B"), 1),
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGT", 1)},
    "KB": 1000,
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGT", 1)},
}

AMOUNT = r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<unit>bytes?|[kKMGT]?i?B)?"
"""The pattern of a number of bytes, or of other things without a unit."""

MOST_ROWS = 20
"""The number of rows of a table that are shown."""

_WIDTH = 120
"""The width of text without a terminal."""

_MOST_CHARACTERS = 20_000
"""The number of characters of a program that are shown."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table, of which the first `MOST_ROWS` rows are shown.

    Attributes:
        title: the title.
        headings: the headings of the columns.
        rows: the cells; those after `MOST_ROWS` rows may be missing.
        num_rows: the number of all rows; by default, that of `rows`.
        num_numeric: the number of last columns that are aligned to the right.
    """

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[object, ...]]
    num_rows: int | None = None
    num_numeric: int = 0

    @property
    def num_more(self) -> int:
        """The number of rows that are not shown."""
        count = len(self.rows) if self.num_rows is None else self.num_rows
        return max(0, count - MOST_ROWS)

    def html(self) -> str:
        """Return the table as HTML."""
        first_numeric = len(self.headings) - self.num_numeric

        def cells(kind: str, texts: Iterable[object]) -> str:
            return "".join(
                f'<{kind} style="text-align:{"right" if at >= first_numeric else "left"}">'
                f"{html.escape(str(text))}</{kind}>"
                for at, text in enumerate(texts)
            )

        rows = "".join(f"<tr>{cells('td', row)}</tr>" for row in self.rows[:MOST_ROWS])
        title = f"<caption>{html.escape(self.title)}</caption>"
        head = f"<thead><tr>{cells('th', self.headings)}</tr></thead>"
        more = f"<p>… {self.num_more:,} more</p>" if self.num_more else ""
        return f"<table>{title}{head}<tbody>{rows}</tbody></table>{more}"

    def __rich__(self) -> RenderableType:
        from rich import box  # noqa: PLC0415 (slow)
        from rich.table import Table as RichTable  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415

        caption = f"... {self.num_more:,} more" if self.num_more else None
        table = RichTable(
            title=self.title, caption=caption, box=box.SIMPLE_HEAD, title_justify="left"
        )
        first_numeric = len(self.headings) - self.num_numeric
        for at, heading in enumerate(self.headings):
            justify = "right" if at >= first_numeric else "left"
            table.add_column(heading, justify=justify, overflow="fold")
        for row in self.rows[:MOST_ROWS]:
            table.add_row(*(Text(str(cell)) for cell in row))
        return table

    def __str__(self) -> str:
        return _as_text(self)


class Displayed(ABC):
    """Base of values that are displayed by a summary in one line, and by tables."""

    __slots__ = ()

    @abstractmethod
    def summary(self) -> str:
        """Return a description in one line."""

    def tables(self) -> Iterable[Table]:
        """Return the tables of the value; none if the summary says all."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.summary()})"

    def _repr_html_(self) -> str:
        tables = "".join(table.html() for table in self.tables())
        return f"<p><code>{html.escape(repr(self))}</code></p>{tables}"

    def __rich__(self) -> RenderableType:
        from rich.console import Group  # noqa: PLC0415 (slow)
        from rich.text import Text  # noqa: PLC0415

        return Group(Text(repr(self)), *self.tables())


class Printed(Displayed):
    """Base of values whose text is the summary and the tables."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join([repr(self), *map(str, self.tables())])


class DisplayedText:
    """Base of values whose representation is their text, which may have several lines."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"

    def __rich__(self) -> RenderableType:
        from rich.text import Text  # noqa: PLC0415 (slow)

        return Text(str(self))


def beginning_of(text: str) -> str:
    """Return the part of a long text that is displayed, and the number of further characters."""
    more = len(text) - _MOST_CHARACTERS
    return text if more <= 0 else f"{text[:_MOST_CHARACTERS]}\n... {more:,} more characters"


def counted(number: int, noun: str) -> str:
    """Return a number with a noun: `1 step`, `2 steps`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def check_number_of_arrays(given: int, names: Sequence[str]) -> None:
    """Check that a program gets as many arrays as it has arguments.

    Args:
        given: the number of arrays.
        names: the names of the arguments.

    Raises:
        UsageError: there are more or fewer.
    """
    if given != len(names):
        listed = f": {', '.join(names[:8])}{', ...' * (len(names) > 8)}" if any(names) else ""
        message = f"the program takes {counted(len(names), 'array')}, but got {given}{listed}"
        raise UsageError(error(message))


def bytes_of_text(text: int | str, option: str = "") -> int:
    """Return a number of bytes.

    Args:
        text: the number, or a text such as `8MB`.
        option: the option that it is given for, if it is one.

    Raises:
        UsageError: the text is no size.
    """
    if isinstance(text, int):
        return text
    found = re.fullmatch(AMOUNT, text.strip())
    unit = found and (found["unit"] or "")
    if found is None or unit not in _UNITS:
        of = f"'{option}': " if option else ""
        raise UsageError(error(f"{of}expected a size such as '8MB' or '1GiB', got: '{text}'"))
    return int(float(found["number"].replace(",", "")) * _UNITS[unit])


def seconds_text(seconds: float) -> str:
    """Return a time in seconds, milliseconds or microseconds."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:,.2f} {unit}"
    return f"{seconds * 1e6:,.2f} us"


def _as_text(table: Table) -> str:
    """Return a table as text, as wide as the terminal."""
    from rich.console import Console  # noqa: PLC0415 (slow)

    console = Console(width=shutil.get_terminal_size((_WIDTH, 1)).columns, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().split("\n"))
