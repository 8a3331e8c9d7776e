# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The timeline of an MPMD program: what each mesh runs when, idle time, memory, traffic.

1. A mesh runs its fragments in their order. One starts when the mesh is free and its values are
   there.
2. A transfer starts when its value is there and the link of its pair of meshes, in this direction,
   is free. It occupies no mesh. Its time is that of the device that sends or gets most.
3. Values take memory from the fragment or transfer that makes them to their last use; while a
   fragment runs, its own temporary values do, too.

Times may be fractions, which are exact.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from xml.sax.saxutils import escape

from pyshardy.display import Displayed, Table, counted, seconds_text
from pyshardy.mpmd.plan import ExecutionPlan, FragmentCall, MeshTransfer, Step

Time = float | Fraction

_COLORS = {"F": "#4c8bf5", "B": "#34a853", "Ba": "#8bc34a", "Bw": "#f9ab00", "": "#9aa0a6"}


@dataclass(frozen=True, slots=True)
class Span:
    """The time of a fragment or of a transfer."""

    step: Step
    start: Time
    end: Time
    nbytes: int = 0


@dataclass(frozen=True, slots=True)
class MeshTimeline:
    """The time of a mesh.

    Attributes:
        name: its name.
        intervals: the fragments.
        live: the bytes of live values on a device at times.
        peak_live: the most bytes of live values on a device, without temporary ones.
        peak_memory: the most bytes on a device, with the temporary values of fragments.
        temporary: the most bytes of temporary values of a fragment.
    """

    name: str
    intervals: tuple[Span, ...]
    live: tuple[tuple[Time, int], ...]
    peak_live: int
    peak_memory: int
    temporary: int

    @property
    def busy(self) -> Time:
        """The time in which it runs fragments."""
        return sum(each.end - each.start for each in self.intervals)

    @property
    def bubble_in_window(self) -> Time:
        """The idle share between its first and its last fragment."""
        if not self.intervals:
            return 0
        window = self.intervals[-1].end - self.intervals[0].start
        return 1 - self.busy / window if window else 0


@dataclass(frozen=True, repr=False)
class MpmdTimeline(Displayed):
    """The time of a program on all meshes.

    Attributes:
        meshes: the time of each mesh.
        transfers: the transfers.
    """

    meshes: Mapping[str, MeshTimeline]
    transfers: tuple[Span, ...]

    @property
    def total(self) -> Time:
        """The time from the first start to the last end."""
        return max((each.end for each in self._all), default=0)

    @property
    def bubble(self) -> Time:
        """The idle share of all meshes together in the total time."""
        meshes = [each for each in self.meshes.values() if each.intervals]
        if not meshes or not self.total:
            return 0
        return 1 - sum(each.busy for each in meshes) / (len(meshes) * self.total)

    @property
    def bubble_in_window(self) -> Time:
        """The idle share between the first and last fragments of meshes; steps may overlap so."""
        meshes = [each for each in self.meshes.values() if each.intervals]
        windows = sum(each.intervals[-1].end - each.intervals[0].start for each in meshes)
        return 1 - sum(each.busy for each in meshes) / windows if windows else 0

    @property
    def nbytes(self) -> int:
        """The bytes that go from mesh to mesh."""
        return sum(each.nbytes for each in self.transfers)

    @property
    def _all(self) -> list[Span]:
        return [*(one for each in self.meshes.values() for one in each.intervals), *self.transfers]

    def summary(self) -> str:
        """Return the time and the idle shares in one line."""
        return (
            f"{seconds_text(float(self.total))}, idle {float(self.bubble):.1%}, "
            f"{float(self.bubble_in_window):.1%} within the windows of meshes, "
            f"{counted(self.nbytes, 'byte')} between meshes"
        )

    def tables(self) -> list[Table]:
        """Return a table of the meshes."""
        rows = [
            (
                each.name,
                len(each.intervals),
                seconds_text(float(each.busy)),
                f"{float(1 - each.busy / self.total) if self.total else 0:.1%}",
                f"{float(each.bubble_in_window):.1%}",
                counted(each.peak_memory, "byte"),
            )
            for each in self.meshes.values()
        ]
        headings = ("mesh", "fragments", "busy", "idle", "idle in its window", "peak memory")
        return [Table(f"Timeline: {self.summary()}", headings, rows, num_numeric=5)]

    def to_json(self) -> str:
        """Return the times as JSON: fragments, transfers and memory of each mesh."""
        plain = {
            "total": float(self.total),
            "bubble": float(self.bubble),
            "bubble_in_window": float(self.bubble_in_window),
            "bytes": self.nbytes,
            "meshes": {
                name: {
                    "peak_memory": each.peak_memory,
                    "fragments": list(map(_plain, each.intervals)),
                    "memory": [[float(time), nbytes] for time, nbytes in each.live],
                }
                for name, each in self.meshes.items()
            },
            "transfers": list(map(_plain, self.transfers)),
        }
        return json.dumps(plain, indent=1)

    def to_chrome_trace(self) -> str:
        """Return the times in the format of Chrome's trace viewer and Perfetto."""
        rows = {name: row for row, name in enumerate(self.meshes)}
        events = [
            {
                "name": _title(each.step),
                "ph": "X",
                "ts": float(each.start) * 1e6,
                "dur": float(each.end - each.start) * 1e6,
                "pid": 0,
                "tid": rows[each.step.mesh]
                if isinstance(each.step, FragmentCall)
                else len(rows) + rows[each.step.source],
            }
            for each in self._all
        ]
        events += [
            {"name": "thread_name", "ph": "M", "pid": 0, "tid": row, "args": {"name": title}}
            for name, row in rows.items()
            for row, title in ((row, name), (len(rows) + row, f"sent by {name}"))
        ]
        return json.dumps({"traceEvents": events})

    def to_html(self) -> str:
        """Return a page with a chart: a row for each mesh, its memory below, arrows of transfers.

        Forward fragments are blue, backward ones green, halves of these light green and yellow.
        """
        width, row, left = 1200, 64, 90
        scale = (width - left - 10) / (float(self.total) or 1.0)
        top = {name: 10 + index * row for index, name in enumerate(self.meshes)}
        most = max([each.peak_live for each in self.meshes.values()], default=0) or 1
        parts: list[str] = []
        for name, each in self.meshes.items():
            parts.append(f'<text x="4" y="{top[name] + 18}">{escape(name)}</text>')
            for one in each.intervals:
                start, span = left + float(one.start) * scale, float(one.end - one.start) * scale
                kind = _kind(one.step)
                parts.append(
                    f'<g><rect x="{start:.2f}" y="{top[name]}" width="{span:.2f}" height="26" '
                    f'fill="{_COLORS[kind]}" stroke="white" stroke-width=".5"/>'
                    f"<title>{escape(_hover(one))}</title></g>"
                )
                if span > 18 and kind:
                    label = escape(_title(one.step))
                    parts.append(f'<text x="{start + 3:.2f}" y="{top[name] + 17}">{label}</text>')
            base = top[name] + row - 8
            steps = " ".join(
                f"H{left + float(time) * scale:.2f} V{base - 22 * nbytes / most:.2f}"
                for time, nbytes in each.live
            )
            path = f"M{left} {base} {steps} H{width - 10} V{base} Z"
            parts.append(
                f'<path d="{path}" fill="#d7dbe0"><title>live values of a device, at most '
                f"{counted(each.peak_live, 'byte')}</title></path>"
            )
        for one in self.transfers:
            assert isinstance(one.step, MeshTransfer), "these are the transfers"
            ends = (one.step.source, one.start), (one.step.target, one.end)
            (x1, y1), (x2, y2) = ((left + float(t) * scale, top[name] + 13) for name, t in ends)
            parts.append(
                f'<line x1="{x1:.2f}" y1="{y1}" x2="{x2:.2f}" y2="{y2}" stroke="#c5221f" '
                f'stroke-width=".8"><title>{escape(_hover(one))}</title></line>'
            )
        height = 20 + row * len(self.meshes)
        return (
            "<!doctype html><meta charset='utf-8'><title>Timeline</title>"
            f"<h1>{escape(self.summary())}</h1>"
            f'<svg viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">'
            f"{''.join(parts)}</svg>"
        )


def run_timeline(
    plan: ExecutionPlan,
    seconds: Callable[[FragmentCall], Time],
    temporary: Callable[[FragmentCall], int],
    nbytes: Callable[[MeshTransfer], int],
    transfer_seconds: Callable[[MeshTransfer], Time],
) -> MpmdTimeline:
    """Return the timeline of a plan.

    Args:
        plan: the fragments and transfers in their total order.
        seconds: the time of a fragment.
        temporary: the bytes that a fragment takes besides its arguments and results.
        nbytes: the bytes of a transfer.
        transfer_seconds: the time of a transfer.
    """
    names = plan.topology.names
    free: dict[str | tuple[str, str], Time] = defaultdict(int)
    ready: dict[int, Time] = dict.fromkeys(plan.inputs, 0)
    intervals: dict[str, list[Span]] = {name: [] for name in names}
    transfers: list[Span] = []
    memory = {name: _Memory() for name in names}
    for value in plan.inputs:
        _make(plan, memory, value, 0)
    for number, step in enumerate(plan.steps):
        is_call = isinstance(step, FragmentCall)
        lane = step.mesh if is_call else (step.source, step.target)
        start = max([free[lane], *(ready[value] for value in step.operands)])
        if is_call:
            end = start + seconds(step)
            intervals[step.mesh].append(Span(step, start, end))
            memory[step.mesh].note_temporary(temporary(step))
        else:
            end = start + transfer_seconds(step)
            transfers.append(Span(step, start, end, nbytes(step)))
        free[lane] = end
        for value in step.results:
            ready[value] = end
            _make(plan, memory, value, end)
        for value in plan.freed_after.get(number, ()):
            port = plan.ports[value]
            memory[plan.meshes_of_values[value]].change(end, -port.local_spec.nbytes)
    meshes = {
        name: MeshTimeline(
            name,
            tuple(intervals[name]),
            tuple(sorted(memory[name].live, key=lambda each: each[0])),
            memory[name].peak,
            max(memory[name].peak, memory[name].peak_with_temporary),
            memory[name].temporary,
        )
        for name in names
    }
    return MpmdTimeline(meshes, tuple(transfers))


class _Memory:
    """The bytes of live values of a mesh."""

    def __init__(self) -> None:
        self.now = self.peak = self.peak_with_temporary = self.temporary = 0
        self.live: list[tuple[Time, int]] = []

    def change(self, time: Time, nbytes: int) -> None:
        self.now += nbytes
        self.peak = max(self.peak, self.now)
        self.live.append((time, self.now))

    def note_temporary(self, nbytes: int) -> None:
        self.peak_with_temporary = max(self.peak_with_temporary, self.now + nbytes)
        self.temporary = max(self.temporary, nbytes)


def _make(plan: ExecutionPlan, memory: Mapping[str, _Memory], value: int, time: Time) -> None:
    memory[plan.meshes_of_values[value]].change(time, plan.ports[value].local_spec.nbytes)


def _kind(step: Step) -> str:
    return step.kind if isinstance(step, FragmentCall) else ""


def _title(step: Step) -> str:
    return step.unit if isinstance(step, FragmentCall) else step.name


def _hover(interval: Span) -> str:
    step, time = interval.step, seconds_text(float(interval.end - interval.start))
    place = f", {step.location}" if step.location else ""
    if isinstance(step, FragmentCall):
        return f"{step.unit}: {step.names or step.name}, {time}{place}"
    nbytes = counted(interval.nbytes, "byte")
    return f"{step.name}: {step.source} to {step.target}, {step.way}, {nbytes}, {time}"


def _plain(interval: Span) -> dict[str, object]:
    step = interval.step
    told: dict[str, object] = {
        "name": _title(step),
        "start": float(interval.start),
        "end": float(interval.end),
    }
    if isinstance(step, MeshTransfer):
        return told | {
            "from": step.source,
            "to": step.target,
            "way": step.way,
            "bytes": interval.nbytes,
        }
    return told | {"fragment": step.name, "names": step.names}
