# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The scheduled timeline of a program in Chrome's trace format.

It opens in Perfetto (https://ui.perfetto.dev) and in `chrome://tracing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlir_sdy.host import location_of
from pyshardy.explain.program import ExplainedProgram

_COMPUTATION = "computation"


def chrome_trace(explained: ExplainedProgram) -> dict[str, Any]:
    """Return the timeline of a program as data of a JSON file in Chrome's trace format.

    Times are in microseconds. Computation is a track, and each lane of links another one. Loops are
    on the track of computation, around what they contain. The counter `memory` has bytes.
    """
    timeline = explained.timeline
    tracks = {name: at for at, name in enumerate([_COMPUTATION, *sorted(timeline.lane_seconds)])}
    named = [
        {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "each device (estimate)"}},
        *(
            {"ph": "M", "pid": 0, "tid": at, "name": "thread_name", "args": {"name": name}}
            for name, at in tracks.items()
        ),
    ]
    counted = [
        {"ph": "C", "pid": 0, "name": "memory", "ts": start * 1e6, "args": {"bytes": nbytes}}
        for start, nbytes in _changes(timeline.memory)
    ]
    events = [*named, *_complete_events(explained, tracks), *counted]
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _complete_events(
    explained: ExplainedProgram, tracks: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    operations, timeline = explained.resource_use.table.operations, explained.timeline
    for event in timeline.events:
        told: dict[str, Any] = {"executions": event.times}
        place = location_of(operations[event.operation].location)
        if place is not None:
            told["location"] = str(place)
        if event.collective is None:
            told["flops"] = event.flops
        else:
            reason, time = (
                explained.collectives[event.collective],
                timeline.collectives[event.collective],
            )
            told |= {
                "axes": ", ".join(reason.collective.axes or ()),
                "bytes sent": reason.nbytes_total,
                "reason": reason.reason,
                "exposed": time.exposed * 1e6,
            }
            if time.reason:
                told["exposed because"] = time.reason
        for lane in event.lane or (_COMPUTATION,):
            yield {
                "ph": "X",
                "pid": 0,
                "tid": tracks[lane],
                "name": event.name,
                "ts": event.start * 1e6,
                "dur": event.seconds * 1e6,
                "args": told,
            }


def _changes(memory: Sequence[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    before = None
    for start, nbytes in memory:
        if nbytes != before:
            yield start, nbytes
        before = nbytes
