# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures: the contents of a picture, before it is converted to an image or a table.

A figure has a tile for each shard of an array. The tiles of the last two dimensions form a panel,
and there is a panel for each combination of shards of the leading dimensions, so that arrays of any
rank have a figure. If there are too many, `None` replaces those in the middle.
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
"""The label of omitted rows or columns."""

_MOST_TILES = 10
"""Largest number of tiles in a row or column of a single panel."""

_MOST_TILES_OF_MANY = 4
"""Largest number of tiles in a row or column of each of several panels."""

_MOST_PANELS = 4
"""Largest number of panels in a row or column."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A shard of the array.

    Attributes:
        devices: the devices that hold it.
        color: the background.
        where: the indices of the shard.
        elements: the numbers of rows and columns of data.
        capacity: the numbers of rows and columns including padding.
        note: a remark on this shard, usually empty.
    """

    devices: tuple[int, ...]
    color: str
    where: str
    elements: tuple[int, int] = (1, 1)
    capacity: tuple[int, int] = (1, 1)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """The tiles of the last two dimensions; labels are empty for missing dimensions."""

    title: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    tiles: tuple[tuple[Tile | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """The contents of a picture.

    Attributes:
        title: the name of the array.
        subtitle: its size.
        row_axis: the label of the rows of each panel.
        column_axis: the label of the columns of each panel.
        panels: rows of panels.
        captions: properties that the tiles do not show.
    """

    title: str
    subtitle: str
    row_axis: str
    column_axis: str
    panels: tuple[tuple[Panel | None, ...], ...]
    captions: tuple[str, ...] = ()

    @property
    def has_padding(self) -> bool:
        """Whether some tile has padding."""
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
    """Arrange the tiles of an array in panels.

    Args:
        counts: the number of shards of each dimension.
        tile_at: returns the tile of a shard.
        label: returns the label of a shard of a dimension.
        title: returns the title of the panel for some shards of the leading dimensions.
    """
    rank = len(counts)
    most_tiles = _MOST_TILES if rank <= 2 else _MOST_TILES_OF_MANY
    rows = _shown(_tile_indices(counts, rank - 2), most_tiles)
    columns = _shown(_tile_indices(counts, rank - 1), most_tiles)

    def labels(dim: int, tiles: Sequence[Index | None]) -> tuple[str, ...]:
        if dim < 0:
            return ("",) * len(tiles)
        return tuple(LEFT_OUT if tile is None else label(dim, *tile) for tile in tiles)

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
    panel_columns = _shown(_tile_indices(counts, rank - 3), _MOST_PANELS)
    return tuple(
        tuple(
            None if row is None or column is None else panel((*row, *column))
            for column in panel_columns
        )
        for row in panel_rows
    )


def _tile_indices(counts: Sequence[int], dim: int) -> list[Index]:
    """Return the indices of a dimension's shards; a single empty one if there is no dimension."""
    return [(at,) for at in range(counts[dim])] if dim >= 0 else [()]


def _shown(items: list[T], most: int) -> list[T | None]:
    """Return all items, or the first ones, None for omitted ones, and the last one."""
    if len(items) <= most:
        return list(items)
    return [*items[: most - 2], None, items[-1]]


def device_lines(devices: Sequence[int], width: int = 12, most: int = 3) -> list[str]:
    """Return the ids of devices as a few lines of text: `0 4 8-11`, and their number if cut."""
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
    """Return the ids in order, with ranges for three or more consecutive ones."""
    words: list[str] = []
    for _, group in itertools.groupby(enumerate(devices), key=lambda pair: pair[1] - pair[0]):
        run = [device for _, device in group]
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    return words


def by(sizes: Sequence[int]) -> str:
    """Format sizes as in the type of a tensor, `4x8`; `scalar` without any."""
    return "x".join(map(str, sizes)) or "scalar"


def is_darker(index: Index, counts: Sequence[int]) -> bool:
    """Whether a shard is drawn darker: among many, every other one as on a chessboard."""
    return math.prod(counts) > 6 and sum(index) % 2 == 1
