# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of plans by their memory, as a table and as a picture."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from pyshardy.auto.search.texts import bytes_text, cost_text
from pyshardy.display import Printed, Table, counted

_WIDTH, _HEIGHT = 640, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 84, 24, 20, 52
_NUM_TICKS = 5


@dataclass(frozen=True, slots=True)
class ParetoPoint:
    """The best plan for a memory limit.

    Attributes:
        limit: the bytes.
        cost: its cost; infinite if there is no plan.
        memory: its peak memory.
        gap: its gap.
    """

    limit: float
    cost: float
    memory: float
    gap: float


@dataclass(frozen=True, slots=True, repr=False)
class Pareto(Printed):
    """The cost of plans by their memory.

    Attributes:
        points: the plans, the largest limit first.
        objective: what the cost is.
    """

    points: tuple[ParetoPoint, ...]
    objective: str

    def summary(self) -> str:
        """Return the number of plans."""
        return counted(len(self.points), "plan")

    def tables(self) -> list[Table]:
        """Return a row for each limit."""
        rows = [
            (
                f"{point.limit:,.0f}",
                "no plan" if math.isinf(point.cost) else cost_text(point.cost, self.objective),
                "" if math.isnan(point.memory) else f"{point.memory:,.0f}",
                f"{point.gap:.2%}" if math.isfinite(point.cost + point.gap) else "",
            )
            for point in self.points
        ]
        headings = ("memory limit", self.objective, "peak memory", "gap")
        return [Table("Plans by memory", headings, rows, num_numeric=4)]

    def _repr_html_(self) -> str:
        """Return the table and the picture."""
        return super()._repr_html_() + self.svg()

    def svg(self) -> str:
        """Return a picture of the cost by the peak memory; empty if there is no plan.

        Colors are those of the page around it: `currentColor` and the custom property `--accent`.
        """
        points = sorted({(one.memory, one.cost) for one in self.points if math.isfinite(one.cost)})
        if not points:
            return ""
        across = _Scale.of([memory for memory, _ in points], _LEFT, _WIDTH - _RIGHT)
        upward = _Scale.of([cost for _, cost in points], _HEIGHT - _BOTTOM, _TOP)
        parts = [*self._axes(across, upward)]
        places = [(across.place(memory), upward.place(cost)) for memory, cost in points]
        # A plan fits into any larger memory, too: the best cost is a staircase.
        steps = "".join(f" H{x:.1f} V{y:.1f}" for x, y in places[1:])
        parts.append(
            f'<path d="M{places[0][0]:.1f} {places[0][1]:.1f}{steps} H{_WIDTH - _RIGHT}" '
            'fill="none" stroke="var(--accent, #2f5bd0)" stroke-width="2"/>'
        )
        for (memory, cost), (x, y) in zip(points, places, strict=True):
            said = f"{bytes_text(memory)}: {cost_text(cost, self.objective)}"
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="var(--accent, #2f5bd0)">'
                f"<title>{html.escape(said)}</title></circle>"
            )
        (least, slowest), (most, fastest) = points[0], points[-1]
        description = (
            f"From {bytes_text(least)} of memory and {cost_text(slowest, self.objective)} to "
            f"{bytes_text(most)} and {cost_text(fastest, self.objective)}; the table has all plans."
        )
        return (
            f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
            'aria-labelledby="pareto-title pareto-description">'
            f'<title id="pareto-title">{self.objective.capitalize()} by peak memory</title>'
            f'<desc id="pareto-description">{html.escape(description)}</desc>'
            f"{''.join(parts)}</svg>"
        )

    def _axes(self, across: _Scale, upward: _Scale) -> list[str]:
        bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        parts: list[str] = []
        for value in across.ticks:
            x = across.place(value)
            parts.append(_line(x, _TOP, x, bottom))
            parts.append(_text(x, bottom + 18, bytes_text(value), "middle"))
        for value in upward.ticks:
            y = upward.place(value)
            parts.append(_line(_LEFT, y, right, y))
            parts.append(_text(_LEFT - 8, y + 4, cost_text(value, self.objective), "end"))
        middle = (_LEFT + right) / 2
        parts.append(_text(middle, _HEIGHT - 10, "peak memory of a device", "middle"))
        return parts


@dataclass(frozen=True, slots=True)
class _Scale:
    """A linear scale of an axis.

    Attributes:
        first: the value at its beginning.
        last: the value at its end.
        start: the place of its beginning.
        end: the place of its end.
        ticks: the values with a label.
    """

    first: float
    last: float
    start: float
    end: float
    ticks: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float], start: float, end: float) -> _Scale:
        """Return a scale that contains values and begins and ends at round numbers."""
        low, high = min(values), max(values)
        span = (high - low) or abs(high) or 1.0
        rough = span / _NUM_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * each for each in (1, 2, 5, 10) if power * each >= rough)
        first, last = math.floor(low / step), math.ceil(high / step)
        last += first == last
        ticks = tuple(number * step for number in range(first, last + 1))
        return cls(ticks[0], ticks[-1], start, end, ticks)

    def place(self, value: float) -> float:
        """Return the place of a value."""
        part = (value - self.first) / (self.last - self.first)
        return self.start + part * (self.end - self.start)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        'stroke="currentColor" stroke-opacity=".15"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" '
        f'fill="currentColor">{html.escape(text)}</text>'
    )
