# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The picture of the layers, drawn from the imports of the code; see `make_pictures.py`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from layers import LEVELS, SOURCES, imports_of, layer_of

BOX_WIDTH, BOX_HEIGHT = 132, 30
GAP_X, GAP_Y = 22, 34
HIDDEN = ("pyshardy.packages", "pyshardy")
"""Layers of single modules, which would only add arrows."""


def _shown(layer: str) -> str:
    """Return the layer whose box stands for a layer: the partitioner's rooms are one."""
    return "pyshardy.partition" if layer.startswith("pyshardy.partition.") else layer


class Layers:
    """An SVG image of the packages of the project, with an arrow for each direct dependency.

    1. A package depends on another one if one of its modules imports a module of it.
    2. Rows are ordered by the longest chain of dependencies.
    3. A dependency that follows from others is not drawn.
    """

    def __init__(self) -> None:
        names = [name for name in LEVELS if name not in HIDDEN and _shown(name) == name]
        graph: dict[str, set[str]] = {name: set() for name in names}
        for module in SOURCES:
            importer = _shown(layer_of(module))
            for imported, _ in imports_of(module):
                if imported in SOURCES and importer in graph:
                    other = _shown(layer_of(imported))
                    if other in graph and other != importer:
                        graph[importer].add(other)
        self.graph = graph

    def rows(self) -> list[list[str]]:
        """Return the packages by the length of their longest chain of dependencies."""
        depths: dict[str, int] = {}

        def depth(name: str) -> int:
            if name not in depths:
                depths[name] = 1 + max(map(depth, self.graph[name]), default=-1)
            return depths[name]

        rows: dict[int, list[str]] = {}
        for name in self.graph:
            rows.setdefault(depth(name), []).append(name)
        return [rows[number] for number in sorted(rows)]

    def arrows(self) -> list[tuple[str, str]]:
        """Return the dependencies that don't follow from others."""
        reached: dict[str, set[str]] = {}

        def reach(name: str) -> set[str]:
            if name not in reached:
                direct = self.graph[name]
                reached[name] = direct.union(*map(reach, direct)) if direct else set()
            return reached[name]

        return [
            (name, other)
            for name, others in self.graph.items()
            for other in sorted(others)
            if not any(other in reach(between) for between in others if between != other)
        ]

    @property
    def svg(self) -> str:
        """Return the SVG text."""
        rows = self.rows()
        most = max(map(len, rows))
        width = most * (BOX_WIDTH + GAP_X) + GAP_X
        height = len(rows) * (BOX_HEIGHT + GAP_Y) + GAP_Y
        places: dict[str, tuple[float, float]] = {}
        for number, row in enumerate(rows):
            left = (width - len(row) * (BOX_WIDTH + GAP_X) + GAP_X) / 2
            for index, name in enumerate(row):
                places[name] = (
                    left + index * (BOX_WIDTH + GAP_X),
                    GAP_Y + number * (BOX_HEIGHT + GAP_Y),
                )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="12">',
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#667"/></marker></defs>',
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]
        for name, other in self.arrows():
            (x, y), (x2, y2) = places[name], places[other]
            start, end = x + BOX_WIDTH / 2, x2 + BOX_WIDTH / 2
            bottom = y2 + BOX_HEIGHT
            # An arrow over several rows goes around the boxes between them.
            is_long = y - bottom > GAP_Y
            side = (start + end) / 2 + is_long * BOX_WIDTH * 0.9
            parts.append(
                f'<path d="M{start:.0f} {y:.0f}Q{side:.0f} {(y + bottom) / 2:.0f} {end:.0f} '
                f'{bottom:.0f}" stroke="#99a" fill="none" marker-end="url(#tip)"/>'
            )
        for name, (x, y) in places.items():
            fill = "#e8eefc" if name.startswith("pyshardy") else "#fdf0d9"
            parts.append(
                f'<rect x="{x:.0f}" y="{y:.0f}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5" '
                f'fill="{fill}" stroke="#556"/>'
                f'<text x="{x + BOX_WIDTH / 2:.0f}" y="{y + 20:.0f}" text-anchor="middle">'
                f"{name.removeprefix('pyshardy.')}</text>"
            )
        return "\n".join([*parts, "</svg>\n"])
