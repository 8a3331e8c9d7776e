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
from dataclasses import dataclass, field

from pyshardy.display import Displayed, Table, counted, seconds_text
from pyshardy.mpmd.page import PipelineChart, chart_of, pipeline_page
from pyshardy.mpmd.plan import ExecutionPlan, FragmentCall, MeshTransfer
from pyshardy.mpmd.spans import MeshTimeline, Span, Time, title_of


@dataclass(frozen=True, repr=False)
class MpmdTimeline(Displayed):
    """The time of a program on all meshes.

    Attributes:
        meshes: the time of each mesh.
        transfers: the transfers.
        memory_limit: the bytes of the memory of a device; None if it isn't known.
        notes: what else the chart tells of fragments, by the names of their functions.
    """

    meshes: Mapping[str, MeshTimeline]
    transfers: tuple[Span, ...]
    memory_limit: int | None = None
    notes: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def total(self) -> Time:
        """The time from the first start to the last end."""
        return max((each.end for each in self.spans), default=0)

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
    def spans(self) -> list[Span]:
        """The times of all fragments and transfers."""
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
                "name": title_of(each.step),
                "ph": "X",
                "ts": float(each.start) * 1e6,
                "dur": float(each.end - each.start) * 1e6,
                "pid": 0,
                "tid": rows[each.step.mesh]
                if isinstance(each.step, FragmentCall)
                else len(rows) + rows[each.step.source],
            }
            for each in self.spans
        ]
        events += [
            {"name": "thread_name", "ph": "M", "pid": 0, "tid": row, "args": {"name": title}}
            for name, row in rows.items()
            for row, title in ((row, name), (len(rows) + row, f"sent by {name}"))
        ]
        return json.dumps({"traceEvents": events})

    def to_html(self) -> str:
        """Return a page with a chart: a row for each mesh, its memory below, arrows of transfers.

        The reports of fragments are in the page of `MpmdProgram.to_html`.
        """
        return pipeline_page([self.chart("Timeline")])

    def chart(self, title: str) -> PipelineChart:
        """Return the chart of a page."""
        return PipelineChart(
            title,
            self.summary(),
            chart_of(
                list(self.meshes.values()),
                self.transfers,
                self.total,
                self.memory_limit,
                self.notes,
            ),
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


def _plain(interval: Span) -> dict[str, object]:
    step = interval.step
    told: dict[str, object] = {
        "name": title_of(step),
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
