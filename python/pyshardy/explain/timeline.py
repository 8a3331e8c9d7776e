# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated times at which a partitioned program runs its operations and collectives.

1. Operations run one after another, in the order of the text, and take the times of `estimate`.
2. A called function runs at its call.
3. A loop is an event that contains those of its condition and body. An operation in a loop is one
   event, with the time of all iterations; one iteration if their number is unknown.
4. Operations that take no time, such as constants and reshapes, have no event.

The same events in Chrome's trace format open in Perfetto (https://ui.perfetto.dev) and in
`chrome://tracing`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mlir_sdy.host import location_of
from pyshardy.explain.estimate import seconds_of
from pyshardy.explain.operation_table import Block
from pyshardy.explain.program import ExplainedProgram
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.loops import trip_count
from pyshardy.irtools.stablehlo_views import COLLECTIVES, callee_of, symbol_name
from pyshardy.local_program.segments import CALLS, CONTROL_FLOW

_WHILE = "stablehlo.while"
_MOST_CALLS = 100
"""The depth of nested calls at which a function counts as recursive."""


@dataclass(frozen=True, slots=True)
class Event:
    """An operation, a collective or a loop in the time of a run.

    Attributes:
        name: the operation without its dialect.
        start: the second at which it starts.
        seconds: the time of all executions in a row.
        times: the number of executions.
        flops: the arithmetic operations of all executions.
        collective: the index of a collective; None for other operations.
        is_loop: whether the event contains others.
        operation: the operation of the partitioned program, by its number in the table.
    """

    name: str
    start: float
    seconds: float
    times: int
    flops: float
    collective: int | None
    is_loop: bool
    operation: int


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events of a run on a device.

    Attributes:
        events: in the order of their starts.
        memory: the memory in bytes from each second on, with the arguments.
        seconds: the time of the run.
    """

    events: tuple[Event, ...]
    memory: tuple[tuple[float, int], ...]
    seconds: float


def timeline_of(explained: ExplainedProgram) -> Timeline:
    """Return the estimated times of a run.

    Args:
        explained: the program, with its hardware.
    """
    return _Clock(explained).run()


class _Clock:
    """Runs a program in estimated time."""

    def __init__(self, explained: ExplainedProgram):
        hardware = explained.report_hardware
        self._use = explained.resource_use
        self._hardware = hardware
        self._table = table = self._use.table
        self._functions = {
            symbol_name(table.operations[number]): block
            for number, name in enumerate(table.names)
            if name == "func.func"
            for block in table.blocks_of(number)
        }
        collectives = (n for n, name in enumerate(table.names) if name in COLLECTIVES)
        self._collectives = {
            operation: (number, seconds_of(collective, hardware))
            for number, (operation, collective) in enumerate(
                zip(collectives, explained.program.collectives, strict=True)
            )
        }
        self._now = 0.0
        self._starts: dict[int, float] = {}
        self._events: list[Event] = []

    def run(self) -> Timeline:
        self._run_block(self._functions[ENTRY], 1, 0)
        memory = [
            (self._starts[operation], nbytes) for operation, nbytes in self._use.memory.during
        ]
        return Timeline(tuple(self._events), tuple(memory), self._now)

    def _run_block(self, block: Block, times: int, depth: int) -> None:
        table = self._table
        for operation in table.directly_in(block):
            if depth == 0:
                self._starts[operation] = self._now
            name = table.names[operation]
            if name in CALLS and depth < _MOST_CALLS:
                callee = self._functions[callee_of(table.operations[operation])]
                self._run_block(callee, times, depth + 1)
            elif name in CONTROL_FLOW:
                self._run_regions(operation, name, times, depth)
            else:
                self._run_operation(operation, name, times)

    def _run_regions(self, operation: int, name: str, times: int, depth: int) -> None:
        known = trip_count(self._table.operations[operation]) if name == _WHILE else None
        trips = 1 if known is None else known
        at, start = len(self._events), self._now
        for block in self._table.blocks_of(operation):
            is_condition = known is not None and block.region == 0
            self._run_block(block, times * (trips + 1 if is_condition else trips), depth + 1)
        if len(self._events) > at:
            name = name.removeprefix("stablehlo.")
            seconds = self._now - start
            event = Event(name, start, seconds, times * trips, 0.0, None, True, operation)
            self._events.insert(at, event)

    def _run_operation(self, operation: int, name: str, times: int) -> None:
        work = self._use.work.get(operation)
        number, flops = None, 0.0
        if work is not None:
            once = self._hardware.work_seconds(work.operations, work.nbytes, work.element)
            flops = work.operations * times
        else:
            number, once = self._collectives.get(operation, (None, 0.0))
        if once > 0.0:
            name = name.removeprefix("stablehlo.")
            seconds = once * times
            event = Event(name, self._now, seconds, times, flops, number, False, operation)
            self._events.append(event)
            self._now += seconds


# --- Chrome's trace format ------------------------------------------------------------------------

_TRACKS = ("computation", "collectives")


def chrome_trace(explained: ExplainedProgram, timeline: Timeline) -> dict[str, Any]:
    """Return a timeline as data of a JSON file in Chrome's trace format.

    Times are in microseconds. Loops are on the track of computation, around what they contain. The
    counter `memory` has bytes.
    """
    named = [
        {"ph": "M", "pid": 0, "name": "process_name", "args": {"name": "each device (estimate)"}},
        *(
            {"ph": "M", "pid": 0, "tid": track, "name": "thread_name", "args": {"name": name}}
            for track, name in enumerate(_TRACKS)
        ),
    ]
    counted = [
        {"ph": "C", "pid": 0, "name": "memory", "ts": start * 1e6, "args": {"bytes": nbytes}}
        for start, nbytes in _changes(timeline.memory)
    ]
    events = [*named, *_complete_events(explained, timeline), *counted]
    return {"traceEvents": events, "displayTimeUnit": "ns"}


def _complete_events(explained: ExplainedProgram, timeline: Timeline) -> Iterator[dict[str, Any]]:
    operations = explained.resource_use.table.operations
    for event in timeline.events:
        told: dict[str, Any] = {"executions": event.times}
        place = location_of(operations[event.operation].location)
        if place is not None:
            told["location"] = str(place)
        if event.collective is None:
            told["flops"] = event.flops
        else:
            reason = explained.collectives[event.collective]
            one = reason.collective
            told |= {
                "axes": ", ".join(one.axes or ()),
                "bytes sent": reason.nbytes_total,
                "reason": reason.reason,
            }
        yield {
            "ph": "X",
            "pid": 0,
            "tid": 0 if event.collective is None else 1,
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
