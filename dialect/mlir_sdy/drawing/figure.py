# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What there is to see in a picture, before it becomes an image or a table.

A figure has a tile for each piece of an array. The tiles of the last two dimensions form a panel,
and there is a panel for each combination of pieces of the leading dimensions, so that any rank has
a picture. Where there are too many, those in the middle are left out, which `None` stands for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

Index = tuple[int, ...]
T = TypeVar("T")

LEFT_OUT = "⋯"
"""The label of rows or columns that are left out."""

_MOST_TILES = 10
"""How many tiles a panel has at most in a row or column, when it is the only one."""

_MOST_TILES_OF_MANY = 4
"""How many tiles a panel has at most in a row or column, when there are several."""

_MOST_PANELS = 4
"""How many panels there are at most in a row or column."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A piece of the array.

    Attributes:
        devices: the devices that hold it.
        color: the background.
        where: the indices of the piece.
        elements: how many rows and columns of data there are.
        capacity: how many there would be without padding.
        note: what is special about this piece; mostly empty.
    """

    devices: tuple[int, ...]
    color: str
    where: str
    elements: tuple[int, int] = (1, 1)
    capacity: tuple[int, int] = (1, 1)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """The tiles of the last two dimensions; labels are empty for those that the array lacks."""

    title: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    tiles: tuple[tuple[Tile | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """All that a picture shows.

    Attributes:
        title: what is drawn.
        subtitle: its size.
        row_axis: what the rows of each panel are.
        column_axis: what the columns of each panel are.
        panels: rows of panels.
        captions: what the tiles can't show.
    """

    title: str
    subtitle: str
    row_axis: str
    column_axis: str
    panels: tuple[tuple[Panel | None, ...], ...]
    captions: tuple[str, ...] = ()

    @property
    def has_padding(self) -> bool:
        """Whether some tile that is shown is not full."""
        return any(
            tile is not None and tile.elements != tile.capacity
            for panels in self.panels
            for panel in panels
            if panel is not None
            for tiles in panel.tiles
            for tile in tiles
        )


def arrange(
    counts: Sequence[int],
    tile_at: Callable[[Index], Tile],
    label: Callable[[int, int], str],
    title: Callable[[Index], str],
) -> tuple[tuple[Panel | None, ...], ...]:
    """The panels of an array.

    Args:
        counts: the number of pieces of each dimension.
        tile_at: the tile of a piece.
        label: what to write beside a piece of a dimension.
        title: what to write above the panel for some pieces of the leading dimensions.
    """
    rank = len(counts)
    most_tiles = _MOST_TILES if rank <= 2 else _MOST_TILES_OF_MANY
    rows = _shown(_pieces(counts, rank - 2), most_tiles)
    columns = _shown(_pieces(counts, rank - 1), most_tiles)

    def labels(dim: int, pieces: Sequence[Index | None]) -> tuple[str, ...]:
        if dim < 0:
            return ("",) * len(pieces)
        return tuple(LEFT_OUT if piece is None else label(dim, *piece) for piece in pieces)

    def panel(leading: Index) -> Panel:
        tiles = tuple(
            tuple(
                None if row is None or column is None else tile_at((*leading, *row, *column))
                for column in columns
            )
            for row in rows
        )
        heading = title(leading) if leading else ""
        return Panel(heading, labels(rank - 2, rows), labels(rank - 1, columns), tiles)

    outer = itertools.product(*map(range, counts[: max(rank - 3, 0)]))
    panel_rows = _shown(list(outer), _MOST_PANELS)
    panel_columns = _shown(_pieces(counts, rank - 3), _MOST_PANELS)
    return tuple(
        tuple(
            None if row is None or column is None else panel((*row, *column))
            for column in panel_columns
        )
        for row in panel_rows
    )


def _pieces(counts: Sequence[int], dim: int) -> list[Index]:
    """The indices of the pieces of a dimension; a single one without an index if it is missing."""
    return [(at,) for at in range(counts[dim])] if dim >= 0 else [()]


def _shown(items: list[T], most: int) -> list[T | None]:
    """All items, or the first ones, None for those left out, and the last one."""
    if len(items) <= most:
        return list(items)
    return [*items[: most - 2], None, items[-1]]


def device_lines(devices: Sequence[int], width: int = 12, most: int = 3) -> list[str]:
    """The ids of devices as a few lines of text: `0 4 8-11`, and how many if not all fit."""
    lines: list[str] = []
    for word in _runs(devices):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) > most:
        lines[most - 1 :] = [f"… {len(devices)} in all"]
    return lines


def _runs(devices: Sequence[int]) -> list[str]:
    """The ids in order, at least three consecutive ones written as a range."""
    words: list[str] = []
    for _, group in itertools.groupby(enumerate(devices), key=lambda pair: pair[1] - pair[0]):
        run = [device for _, device in group]
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    return words


def by(sizes: Sequence[int]) -> str:
    """Sizes as in the type of a tensor, `4x8`; `scalar` without any."""
    return "x".join(map(str, sizes)) or "scalar"


def is_darker(index: Index, counts: Sequence[int]) -> bool:
    """Whether a piece is drawn darker: every other one, as on a chessboard, among many."""
    return math.prod(counts) > 6 and sum(index) % 2 == 1
