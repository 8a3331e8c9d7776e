# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A figure as colored tables in a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pyshardy.drawing.figure import GRAY, INK, LEFT_OUT, Figure, Panel, Tile, device_lines


def to_table(figure: Figure) -> RenderableType:
    """Return a table for each panel of a figure, which a Rich console prints."""
    parts: list[RenderableType] = [Text(figure.title, style="bold"), Text(figure.subtitle)]
    axes = ((figure.row_axis, "down"), (figure.column_axis, "across"))
    legend = "; ".join(f"{axis} {direction}" for axis, direction in axes if axis)
    if legend:
        parts.append(Text(legend))
    for panels in figure.panels:
        if all(panel is None for panel in panels):
            parts += ["", Text("⋮")]
            continue
        tables = [Text(LEFT_OUT) if panel is None else _panel(panel) for panel in panels]
        parts += ["", Columns(tables, padding=(1, 3))]
    captions = [Text(caption, style=GRAY) for caption in figure.captions]
    return Group(*parts, *([""] if captions else []), *captions)


def _panel(panel: Panel) -> Table:
    tiles = [tile for tiles in panel.tiles for tile in tiles if tile is not None]
    height = max(len(_lines(tile)) for tile in tiles)
    texts = (*panel.column_labels, *(line for tile in tiles for line in _lines(tile)))
    width = max(map(len, texts)) + 2
    table = Table.grid(padding=(0, 1, 0, 0))
    table.title = panel.title or None
    table.title_justify = "left"
    for _ in range(1 + len(panel.column_labels)):
        table.add_column(no_wrap=True)
    if any(panel.column_labels):
        labels = (_block([label], _width(label, width), 1, GRAY) for label in panel.column_labels)
        table.add_row("", *labels)
    for row_label, row in zip(panel.row_labels, panel.tiles, strict=True):
        row_height = 1 if row_label == LEFT_OUT else height
        cells = (
            _tile(tile, _width(label, width), row_height)
            for label, tile in zip(panel.column_labels, row, strict=True)
        )
        table.add_row(Text(row_label, GRAY), *cells)
    return table


def _width(column_label: str, width: int) -> int:
    return 1 if column_label == LEFT_OUT else width


def _tile(tile: Tile | None, width: int, height: int) -> Text:
    if tile is None:
        return _block([LEFT_OUT], width, height, GRAY)
    style = GRAY if tile.note == "empty" else f"{INK} on {tile.color}"
    return _block(_lines(tile), width, height, style)


def _block(lines: Iterable[str], width: int, height: int, style: str) -> Text:
    """Center lines vertically in a block of a style."""
    centered = [line.center(width) for line in lines]
    above = [" " * width] * ((height - len(centered)) // 2)
    below = [" " * width] * (height - len(centered) - len(above))
    return Text("\n".join((*above, *centered, *below)), style)


def _lines(tile: Tile) -> list[str]:
    lines = device_lines(tile.devices)
    return [*lines, f"({tile.note})"] if tile.note else lines
