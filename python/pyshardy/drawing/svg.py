# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A figure as an SVG image.

The image is self-contained: it has no style sheet, which would affect the page around it in a
notebook, no ids, and no script. It has no background, and is readable on light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from pyshardy.drawing.figure import (
    EMPTY,
    GRAY,
    HATCH,
    INK,
    LEFT_OUT,
    Figure,
    Panel,
    Tile,
    device_lines,
)

_FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_CHARACTER = 0.61  # the width of a character relative to the font size
_TITLE, _NORMAL, _SMALL = 14, 12, 11

_MARGIN = 12
_LINE = 18
_TILE_HEIGHT = 54
_GAP = 3
_ELLIPSIS = 22
_BETWEEN_PANELS = 22
_HATCH_STEP = 7
_MOST_CELLS = 6
"""Largest number of elements in a row or column of a tile with lines between them."""


def to_svg(figure: Figure) -> str:
    """Return the figure as the text of an SVG document."""
    return _Picture(figure).text


class _Picture:
    """Lays out a figure from top to bottom, and writes its elements."""

    def __init__(self, figure: Figure):
        self._figure = figure
        self._elements: list[str] = []
        self._right = 0.0
        self._tile_width = _tile_width(figure)
        bottom = self._draw()
        width, height = _number(self._right + _MARGIN), _number(bottom + _MARGIN)
        head = _tag(
            "svg",
            xmlns="http://www.w3.org/2000/svg",
            width=width,
            height=height,
            viewBox=f"0 0 {width} {height}",
            font_family=_FONT,
            font_size=_NORMAL,
            role="img",
            aria_label=f"{figure.title}: {figure.subtitle}",
        )
        self.text = "\n".join([f"<{head}>", *self._elements, "</svg>", ""])

    # --- Layout -----------------------------------------------------------------------------

    def _draw(self) -> float:
        figure = self._figure
        y = float(_MARGIN + _TITLE)
        self._text(_MARGIN, y, figure.title, size=_TITLE, weight="bold")
        y += _LINE
        self._text(_MARGIN, y, figure.subtitle)
        y += 12
        top, left = y, float(_MARGIN)
        if figure.column_axis:
            top += _LINE
        if figure.row_axis:
            left += _LINE
        bottom, right = self._panels(left, top)
        if figure.column_axis and figure.panels:
            middle = (left + self._label_width() + right) / 2
            middle = max(middle, _MARGIN + _width(figure.column_axis) / 2)
            self._text(middle, top - 4, figure.column_axis, anchor="middle")
        if figure.row_axis and figure.panels:
            start = top + self._heading_height()
            overhang = max(0.0, _width(figure.row_axis) - (bottom - start))
            self._text_upwards(left - 6, (start + bottom + overhang) / 2, figure.row_axis)
            bottom += overhang
        return self._captions(bottom)

    def _panels(self, left: float, top: float) -> tuple[float, float]:
        """Draw all panels; return their lower and right end."""
        y, right = top, left
        for row, panels in enumerate(self._figure.panels):
            y += _BETWEEN_PANELS if row else 0
            x, bottom = left, y
            if all(panel is None for panel in panels):
                self._text(x + self._label_width(), y + 4, "⋮")
                continue
            for column, panel in enumerate(panels):
                x += _BETWEEN_PANELS if column else 0
                if panel is None:
                    bottom = max(bottom, y + _LINE)
                    self._text(x + _ELLIPSIS / 2, y + 13, LEFT_OUT, anchor="middle")
                    x += _ELLIPSIS
                else:
                    x, end = self._panel(panel, x, y)
                    bottom = max(bottom, end)
            y, right = bottom, max(right, x)
        return y, right

    def _panel(self, panel: Panel, left: float, top: float) -> tuple[float, float]:
        y = top
        if panel.title:
            self._text(left + self._label_width(), y + 13, panel.title, size=_SMALL, weight="bold")
            y += _LINE
        left += self._label_width()
        if any(panel.column_labels):
            x = left
            for label in panel.column_labels:
                width = self._tile_width if label != LEFT_OUT else _ELLIPSIS
                self._text(x + width / 2, y + 13, label, size=_SMALL, anchor="middle")
                x += width + _GAP
            y += _LINE
        right = left
        for row_label, tiles in zip(panel.row_labels, panel.tiles, strict=True):
            height = _TILE_HEIGHT if row_label != LEFT_OUT else _ELLIPSIS
            if row_label:
                self._text(left - 6, y + height / 2 + 4, row_label, size=_SMALL, anchor="end")
            x = left
            for column_label, tile in zip(panel.column_labels, tiles, strict=True):
                width = self._tile_width if column_label != LEFT_OUT else _ELLIPSIS
                if tile is None:
                    sign = LEFT_OUT if column_label == LEFT_OUT else "⋮"
                    self._text(x + width / 2, y + height / 2 + 4, sign, anchor="middle")
                else:
                    self._tile(tile, x, y)
                x += width + _GAP
            right = max(right, x - _GAP)
            y += height + _GAP
        self._right = max(self._right, right)
        return right, y - _GAP

    def _label_width(self) -> float:
        """Return the width of the labels of rows, equal in all panels."""
        labels = (
            label
            for panels in self._figure.panels
            for panel in panels
            if panel is not None
            for label in panel.row_labels
        )
        widest = max(map(len, labels), default=0)
        return widest * _SMALL * _CHARACTER + 8 if widest else 0.0

    def _heading_height(self) -> float:
        """Return the height above the tiles of the first panel."""
        panel = self._figure.panels[0][0]
        assert panel is not None, "the first one is never left out"
        return _LINE * (bool(panel.title) + any(panel.column_labels))

    def _captions(self, y: float) -> float:
        y += 6
        for caption in self._figure.captions:
            y += _LINE
            self._text(_MARGIN, y, caption, size=_SMALL)
        if self._figure.has_padding:
            y += _LINE
            self._padding(_MARGIN, y - 10, 18, 12)
            self._text(_MARGIN + 26, y, "padding", size=_SMALL)
        return y

    # --- Elements ---------------------------------------------------------------------------

    def _tile(self, tile: Tile, x: float, y: float) -> None:
        width, height = self._tile_width, _TILE_HEIGHT
        rows, columns = tile.elements
        filled_width = width * _share(columns, tile.capacity[1])
        filled_height = height * _share(rows, tile.capacity[0])
        is_full = (filled_width, filled_height) == (width, height)
        devices = ", ".join(map(str, tile.devices))
        plural = "s" * (len(tile.devices) > 1)
        self._open_group(f"{tile.where} on device{plural} {devices}")
        if not is_full:
            self._padding(x, y, width, height)
        if filled_width and filled_height:
            self._rectangle(x, y, filled_width, filled_height, fill=tile.color)
            self._cells(x, y, filled_width, filled_height, tile.elements)
        lines = device_lines(tile.devices)
        baseline = y + height / 2 + 4 - (len(lines) - 1) * 7.5
        halo = tile.color if is_full else EMPTY
        for line in lines:
            self._text(x + width / 2, baseline, line, anchor="middle", fill=INK, halo=halo)
            baseline += 15
        self._elements.append("</g>")

    def _cells(
        self, x: float, y: float, width: float, height: float, elements: tuple[int, int]
    ) -> None:
        """Draw faint lines between the elements, unless there are too many."""
        rows, columns = elements
        if rows > _MOST_CELLS or columns > _MOST_CELLS:
            return
        lines = [
            *((x + width * at / columns, y, 0.0, height) for at in range(1, columns)),
            *((x, y + height * at / rows, width, 0.0) for at in range(1, rows)),
        ]
        self._lines(lines, stroke="#ffffff", stroke_opacity=0.6)

    def _padding(self, x: float, y: float, width: float, height: float) -> None:
        self._rectangle(x, y, width, height, fill=EMPTY)
        lines: list[tuple[float, float, float, float]] = []
        offset = float(_HATCH_STEP)
        while offset < width + height:
            across = min(offset, width)
            down = min(offset, height)
            x1, y1 = across, offset - across
            x2, y2 = offset - down, down
            lines.append((x + x1, y + y1, x2 - x1, y2 - y1))
            offset += _HATCH_STEP
        self._lines(lines, stroke=HATCH)

    def _lines(
        self, lines: Iterable[tuple[float, float, float, float]], **attributes: object
    ) -> None:
        path = " ".join(
            f"M{_number(x)} {_number(y)}l{_number(dx)} {_number(dy)}" for x, y, dx, dy in lines
        )
        if path:
            self._elements.append(f"<{_tag('path', d=path, fill='none', **attributes)}/>")

    def _rectangle(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        place = {"x": x, "y": y, "width": width, "height": height}
        numbers = {name: _number(value) for name, value in place.items()}
        self._elements.append(f"<{_tag('rect', **numbers, rx=3, fill=fill)}/>")

    def _text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = _NORMAL,
        anchor: str = "start",
        fill: str = GRAY,
        weight: str = "normal",
        halo: str = "",
    ) -> None:
        extent = {"start": 1.0, "middle": 0.5, "end": 0.0}[anchor]
        self._right = max(self._right, x + extent * _width(text, size))
        attributes: dict[str, object] = {"x": _number(x), "y": _number(y), "fill": fill}
        if size != _NORMAL:
            attributes["font_size"] = size
        if anchor != "start":
            attributes["text_anchor"] = anchor
        if weight != "normal":
            attributes["font_weight"] = weight
        if halo:
            attributes |= {"stroke": halo, "stroke_width": 4, "paint_order": "stroke"}
        self._elements.append(f"<{_tag('text', **attributes)}>{escape(text)}</text>")

    def _text_upwards(self, x: float, y: float, text: str) -> None:
        turn = f"translate({_number(x)} {_number(y)}) rotate(-90)"
        tag = _tag("text", transform=turn, fill=GRAY, text_anchor="middle")
        self._elements.append(f"<{tag}>{escape(text)}</text>")

    def _open_group(self, title: str) -> None:
        self._elements.append(f"<g><title>{escape(title)}</title>")


def _tile_width(figure: Figure) -> float:
    """Return a width that fits the devices and the labels of the columns."""
    texts = [
        text
        for panels in figure.panels
        for panel in panels
        if panel is not None
        for text in (
            *panel.column_labels,
            *(
                line
                for tiles in panel.tiles
                for tile in tiles
                if tile is not None
                for line in device_lines(tile.devices)
            ),
        )
    ]
    return max(72.0, round(max(map(_width, texts), default=0.0)) + 14.0)


def _share(elements: int, capacity: int) -> float:
    return elements / capacity if capacity else 1.0


def _width(text: str, size: int = _NORMAL) -> float:
    return len(text) * size * _CHARACTER


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _tag(name: str, **attributes: object) -> str:
    pairs = (
        f"{key.replace('_', '-')}={quoteattr(str(value))}" for key, value in attributes.items()
    )
    return " ".join([name, *pairs])
