# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Picture of the propagation of a small program: a panel for the input, and one for each step.

A tensor is a box that is split into its shards, with a bar in the color of an axis beside each
dimension that the axis shards. Arrows are the axes that a step propagates.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pyshardy as sdy
from mlir_sdy.symbols import meshes_of
from pyshardy.drawing.figure import GRAY, INK
from pyshardy.propagation.debugging.record import PropagationStep

Point = tuple[float, float]

COLORS = ("#3b7dd8", "#e0862d")  # of the mesh axes, as in the HTML report
WIDTH, HEIGHT = 210, 330  # of a panel
COLUMNS = 3  # of panels, as wide as a page
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


@dataclass(frozen=True)
class Box:
    """A matrix in a panel: its name, its center, and its numbers of rows and columns."""

    name: str
    middle: Point
    shape: tuple[int, ...]

    @property
    def size(self) -> tuple[float, float]:
        """Return width and height, which grow with the matrix, but not in proportion."""
        rows, columns = self.shape
        return 24 + 1.4 * columns, 20 + 1.4 * rows

    def side_towards(self, other: Box) -> Point:
        """Return the center of the side that faces another box, where an arrow begins or ends."""
        (x, y), (width, height) = self.middle, self.size
        across, down = other.middle[0] - x, other.middle[1] - y
        if abs(across) > abs(down):
            return x + math.copysign(width / 2 + 9, across), y
        return x, y + math.copysign(height / 2 + 9, down)


@dataclass(frozen=True)
class Replay:
    """The replay of a small program of matrices on a mesh of two axes.

    Attributes:
        text: the program; each value is defined on its own line, which begins with its name.
        places: the center of each value in a panel.
    """

    text: str
    places: Mapping[str, Point]

    @property
    def svg(self) -> str:
        """Return the SVG text."""
        module = sdy.parse(self.text, sdy.Context())
        (mesh,) = meshes_of(module).values()
        panels = list(self._panels(sdy.propagate(module), mesh))
        rows = math.ceil(len(panels) / COLUMNS)
        width, height = WIDTH * COLUMNS, HEIGHT * rows + 22
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" font-family="{FONT}" font-size="12" '
                'role="img" aria-label="Propagation, step by step">',
                *(_placed(panel.svg, at) for at, panel in enumerate(panels)),
                *_legend(_colors(mesh), HEIGHT * rows),
                "</svg>",
                "",
            ]
        )

    def _panels(self, record: sdy.Propagation, mesh: sdy.Mesh) -> Iterator[_Panel]:
        boxes, colors = self._boxes(record), _colors(mesh)
        uses = list(_uses(record, boxes))
        shardings = {slot: record.given(slot) for slot in boxes}
        yield _Panel("input program", boxes, uses, shardings, (), mesh, colors)
        for step in record:
            slots = [tensor.slot for tensor in step.tensors]
            shardings = {**shardings, **dict(zip(slots, step.after, strict=True))}
            if boxes.keys() >= set(slots):  # skip steps to function results
                title = f"step {step.number}: {step.name.removeprefix('stablehlo.')}"
                yield _Panel(title, boxes, uses, shardings, tuple(_moves(step)), mesh, colors)

    def _boxes(self, record: sdy.Propagation) -> dict[int, Box]:
        """Return the box of each value, by its number in the record."""
        program, lines = record.engine.program, self.text.splitlines()
        boxes: dict[int, Box] = {}
        for number in range(1, program.num_values):
            slot = program.slots[number]
            type_, location = program.tensor_type(number), record.tensor(slot).location
            if type_ is not None and location is not None:
                name = re.match(r"\s*%(\w+)", lines[location.line - 1])
                if name is not None:
                    boxes[slot] = Box(name[1], self.places[name[1]], type_.shape)
        return boxes


@dataclass(frozen=True)
class _Panel:
    title: str
    boxes: Mapping[int, Box]
    uses: Iterable[tuple[Box, Box]]
    shardings: Mapping[int, sdy.TensorSharding | None]
    moves: tuple[tuple[int, int, str], ...]
    mesh: sdy.Mesh
    colors: Mapping[str, str]

    @property
    def svg(self) -> str:
        return "\n".join(
            [
                _text(12, 18, self.title),
                *(_line(source, target) for source, target in self.uses),
                *(line for slot in self.boxes for line in self._box(slot)),
                *self._arrows(),
            ]
        )

    def _box(self, slot: int) -> Iterator[str]:
        box, sharding = self.boxes[slot], self.shardings[slot]
        width, height = box.size
        left, top = box.middle[0] - width / 2, box.middle[1] - height / 2
        by_dim = sharding.dim_axes if sharding else ((), ())
        rows, columns = (self.mesh.axes_size(axes) for axes in by_dim)
        for row in range(rows):
            for column in range(columns):
                x, y = left + column * width / columns, top + row * height / rows
                size = f'width="{width / columns - 1:.1f}" height="{height / rows - 1:.1f}"'
                yield (
                    f'<rect x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" {size} rx="2" '
                    f'fill="#ffffff" stroke="{GRAY}"/>'
                )
        bars = ((left - 6, top, 4, height), (left, top - 6, width, 4))
        for axes, (x, y, wide, high) in zip(by_dim, bars, strict=True):
            for axis in axes:
                yield (
                    f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}" '
                    f'fill="{self.colors[axis.name]}"/>'
                )
        halo = 'stroke="#ffffff" stroke-width="5" paint-order="stroke"'
        x, y = box.middle
        place = f'x="{x}" y="{y + 4}" text-anchor="middle"'
        yield f'<text {place} fill="{INK}" {halo}>{box.name}</text>'

    def _arrows(self) -> Iterator[str]:
        """Yield an arrow for each propagated axis; parallel arrows are drawn side by side."""
        taken: dict[tuple[int, int], int] = {}
        for source, target, axis in self.moves:
            place = taken[source, target] = taken.get((source, target), -1) + 1
            (x1, y1), (x2, y2) = _ends(self.boxes[source], self.boxes[target])
            length = math.hypot(x2 - x1, y2 - y1)
            along, aside = (x2 - x1) / length, (y2 - y1) / length
            x1, x2 = x1 + 9 * aside * place, x2 + 9 * aside * place
            y1, y2 = y1 - 9 * along * place, y2 - 9 * along * place
            head = [
                (x2, y2),
                (x2 - 8 * along - 4 * aside, y2 - 8 * aside + 4 * along),
                (x2 - 8 * along + 4 * aside, y2 - 8 * aside - 4 * along),
            ]
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in head)
            color = self.colors[axis]
            yield (
                f'<path d="M{x1:.1f} {y1:.1f}L{x2 - 7 * along:.1f} {y2 - 7 * aside:.1f}" '
                f'stroke="{color}" stroke-width="3"/><polygon points="{points}" fill="{color}"/>'
            )


def _colors(mesh: sdy.Mesh) -> dict[str, str]:
    return dict(zip((axis.name for axis in mesh.axes), COLORS, strict=True))


def _uses(record: sdy.Propagation, boxes: Mapping[int, Box]) -> Iterator[tuple[Box, Box]]:
    """Yield each pair of boxes that are an operand and a result of one operation."""
    program = record.engine.program
    for operands, results in zip(program.operands, program.results, strict=True):
        for operand, result in itertools.product(operands, results):
            ends = boxes.get(program.slots[operand]), boxes.get(program.slots[result])
            if ends[0] is not None and ends[1] is not None:
                yield ends[0], ends[1]


def _moves(step: PropagationStep) -> Iterator[tuple[int, int, str]]:
    """Yield the source, the target and the name of each axis that a step propagates."""
    for flow in step.flows:
        if flow.source is None:
            continue
        for axis in flow.axes:
            yield step.tensors[flow.source].slot, step.tensors[flow.target].slot, axis.name


def _ends(source: Box, target: Box) -> tuple[Point, Point]:
    return source.side_towards(target), target.side_towards(source)


def _placed(panel: str, at: int) -> str:
    row, column = divmod(at, COLUMNS)
    return f'<g transform="translate({WIDTH * column} {HEIGHT * row})">\n{panel}\n</g>'


def _line(source: Box, target: Box) -> str:
    (x1, y1), (x2, y2) = _ends(source, target)
    return f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="{GRAY}" stroke-opacity="0.5"/>'


def _text(x: float, y: float, text: str) -> str:
    return f'<text x="{x}" y="{y}" fill="{GRAY}">{text}</text>'


def _legend(colors: Mapping[str, str], y: float) -> Iterator[str]:
    for at, (axis, color) in enumerate(colors.items()):
        yield f'<rect x="{12 + 90 * at}" y="{y}" width="12" height="12" fill="{color}"/>'
        yield _text(30 + 90 * at, y + 11, axis)
