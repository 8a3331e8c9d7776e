# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a pipeline as a page: charts of schedules, and the reports of fragments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from pyshardy.auto.search.texts import bytes_text
from pyshardy.explain.page.frame import render_frame
from pyshardy.mpmd.plan import FragmentCall, MeshTransfer
from pyshardy.mpmd.spans import MeshTimeline, Span, Time, kind_of, text_of, title_of

_COLORS = {"F": "#4c8bf5", "B": "#34a853", "Ba": "#8bc34a", "Bw": "#f9ab00", "": "#9aa0a6"}
_KINDS = {
    "F": "forward",
    "B": "backward",
    "Ba": "gradients of activations",
    "Bw": "gradients of weights",
    "": "others",
}
_WIDTH, _LEFT, _BAR, _MEMORY, _ROW = 1200, 110, 26, 34, 78


class PipelineChart(NamedTuple):
    """The chart of a schedule.

    Attributes:
        title: its name.
        summary: its times in a line.
        svg: the chart; see `chart_of`.
        reports: the pages of fragments by the names of their functions.
    """

    title: str
    summary: str
    svg: str
    reports: Mapping[str, str] = MappingProxyType({})


def pipeline_page(
    charts: Sequence[PipelineChart], advice: Sequence[str] = (), title: str = "pipeline"
) -> str:
    """Return the page with charts, of which a slider selects one.

    Args:
        charts: the charts. Reports that several of them have are in the page once.
        advice: what would make it faster, in sentences.
        title: the title.
    """
    pages = list(dict.fromkeys(page for chart in charts for page in chart.reports.values()))
    numbers = {page: number for number, page in enumerate(pages)}
    return render_frame(
        "pipeline.html.jinja",
        "pyshardy.mpmd",
        pages,
        title=title,
        kind="pipeline",
        charts=charts,
        advice=advice,
        legend=[(_COLORS[kind], told) for kind, told in _KINDS.items()],
        report_of=[
            {name: numbers[page] for name, page in chart.reports.items()} for chart in charts
        ],
    )


def chart_of(
    meshes: Sequence[MeshTimeline],
    transfers: Sequence[Span],
    total: Time,
    memory_limit: int | None = None,
    notes: Mapping[str, str] | None = None,
) -> str:
    """Return a chart as SVG: a row for each mesh, its memory below, arrows of transfers.

    Args:
        meshes: the meshes.
        transfers: the transfers.
        total: the time of all.
        memory_limit: the memory of a device.
        notes: further lines of the texts of fragments, by the names of their functions.
    """
    scale = (_WIDTH - _LEFT - 10) / (float(total) or 1.0)
    top = {each.name: 10 + index * _ROW for index, each in enumerate(meshes)}
    most = max([each.peak_memory for each in meshes], default=0) or 1
    shows_limit = memory_limit is not None and memory_limit <= 3 * most
    highest = max(most, memory_limit or 0) if shows_limit else most
    parts: list[str] = []

    def x(time: Time) -> float:
        return round(_LEFT + float(time) * scale, 2)

    for each in meshes:
        y = top[each.name]
        parts.append(f'<text x="4" y="{y + 17}">{escape(each.name)}</text>')
        parts += [_bar(one, x(one.start), x(one.end), y, notes or {}) for one in each.intervals]
        base = y + _BAR + 4 + _MEMORY
        steps = " ".join(
            f"H{x(time)} V{base - _MEMORY * nbytes / highest:.2f}" for time, nbytes in each.live
        )
        told = f"at most {bytes_text(each.peak_live)} of live values on a device, "
        told += f"{bytes_text(each.peak_memory)} with temporary values"
        told += "" if memory_limit is None else f", of {bytes_text(memory_limit)}"
        parts.append(
            f'<path d="M{_LEFT} {base} {steps} H{x(total)} V{base} Z" class="memory">'
            f"<title>{escape(told)}</title></path>"
            f'<text x="4" y="{base - 4}" class="soft">{bytes_text(each.peak_memory)}</text>'
        )
        if shows_limit:
            line = base - _MEMORY * (memory_limit or 0) / highest
            parts.append(
                f'<line x1="{_LEFT}" y1="{line:.2f}" x2="{x(total)}" y2="{line:.2f}" '
                f'class="limit"><title>{bytes_text(memory_limit or 0)} of a device</title></line>'
            )
    for one in transfers:
        assert isinstance(one.step, MeshTransfer), "these are the transfers"
        if one.step.source == one.step.target:
            continue
        y1, y2 = (top[name] + _BAR / 2 for name in (one.step.source, one.step.target))
        parts.append(
            f'<line x1="{x(one.start)}" y1="{y1}" x2="{x(one.end)}" y2="{y2}" class="transfer" '
            f'marker-end="url(#arrow)"><title>{escape(text_of(one))}</title></line>'
        )
    height = 20 + _ROW * len(meshes)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="fragments of each mesh">'
        f"{''.join(parts)}</svg>"
    )


def _bar(one: Span, left: float, right: float, y: int, notes: Mapping[str, str]) -> str:
    """Return the bar of a fragment, with its label if there is space."""
    step, kind, width = one.step, kind_of(one.step), right - left
    assert isinstance(step, FragmentCall), "meshes run fragments"
    label = escape(title_of(step))
    text = text_of(one) + (f"\n{notes[step.name]}" if step.name in notes else "")
    shown = f'<text x="{left + 3:.2f}" y="{y + 17}">{label}</text>'
    return (
        f'<g class="fragment" data-name={quoteattr(step.name)}>'
        f'<rect x="{left:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}" '
        f'fill="{_COLORS[kind]}"/>{shown if kind and width > 9 * len(label) else ""}'
        f"<title>{escape(text)}</title></g>"
    )
