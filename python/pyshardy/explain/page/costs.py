# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated costs in the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pyshardy.explain.estimate import Estimate
from pyshardy.explain.idle_axes import idle_axes
from pyshardy.explain.program import ExplainedProgram
from pyshardy.explain.timeline import timeline_of

_MOST_POINTS = 1500
_MOST_OPERATIONS = 200


@dataclass(frozen=True, slots=True)
class EventData:
    """An operation, a collective or a loop in the time of a run; see `timeline.Event`.

    Attributes:
        name: the operation without its dialect.
        start: the microsecond at which it starts.
        duration: its microseconds.
        times: the number of executions.
        node: the operation of the program; None if the partitioner inserted it.
        collective: the index of a collective; None for other operations.
        is_loop: whether the event contains others.
    """

    name: str
    start: float
    duration: float
    times: int
    node: int | None
    collective: int | None
    is_loop: bool


@dataclass(frozen=True, slots=True)
class NodeCost:
    """The work of an operation in a run.

    Attributes:
        node: the operation.
        seconds: its time.
        flops: its arithmetic operations on each device.
    """

    node: int
    seconds: float
    flops: float


@dataclass(frozen=True, slots=True)
class IdleData:
    """An axis along which devices repeat work; see `idle_axes.IdleAxis`.

    Attributes:
        axis: the axis.
        size: its size.
        seconds: the time in repeated operations.
        share: its share of the time of all computation.
        operations: the longest of them.
    """

    axis: str
    size: int
    seconds: float
    share: float
    operations: tuple[NodeCost, ...]


@dataclass(frozen=True, slots=True)
class PointData:
    """The memory at a time.

    Attributes:
        start: the microsecond.
        nbytes: the bytes, with the arguments.
    """

    start: float
    nbytes: int


@dataclass(frozen=True, slots=True)
class CostData:
    """The estimated costs of a run on each device.

    Attributes:
        estimate: the totals.
        capacity: the memory of a device.
        nodes: the operations that take the most time.
        idle: the axes along which work is repeated.
        events: what runs when.
        memory: the memory over time, the largest value of each interval.
    """

    estimate: Estimate
    capacity: float
    nodes: tuple[NodeCost, ...]
    idle: tuple[IdleData, ...]
    events: tuple[EventData, ...]
    memory: tuple[PointData, ...]


def costs_of(explained: ExplainedProgram) -> CostData:
    """Return the costs of a run.

    Args:
        explained: the program.
    """
    timeline = timeline_of(explained)
    nodes = explained.origins
    seconds: defaultdict[int, float] = defaultdict(float)
    flops: defaultdict[int, float] = defaultdict(float)
    events: list[EventData] = []
    for event in timeline.events:
        node = nodes[event.operation]
        start, duration = _microseconds(event.start), _microseconds(event.seconds)
        events.append(
            EventData(
                event.name, start, duration, event.times, node, event.collective, event.is_loop
            )
        )
        if node is not None and event.collective is None and not event.is_loop:
            seconds[node] += event.seconds
            flops[node] += event.flops
    longest = sorted(seconds, key=lambda node: -seconds[node])[:_MOST_OPERATIONS]
    idle = (
        IdleData(
            each.axis,
            each.size,
            each.seconds,
            each.share,
            tuple(
                NodeCost(node, time, flops[node])
                for node, time in list(each.by_operation.items())[:_MOST_OPERATIONS]
            ),
        )
        for each in idle_axes(explained, timeline)
    )
    return CostData(
        explained.cost,
        explained.hardware.bytes_of_memory,
        tuple(NodeCost(node, seconds[node], flops[node]) for node in longest),
        tuple(idle),
        tuple(events),
        tuple(_largest_in_intervals(timeline.memory, timeline.seconds)),
    )


def _largest_in_intervals(memory: Sequence[tuple[float, int]], end: float) -> list[PointData]:
    """Return the largest memory in each of the intervals into which the time is divided."""
    largest: dict[int, tuple[float, int]] = {}
    for start, nbytes in memory:
        interval = int(start / end * _MOST_POINTS) if end else 0
        if interval not in largest or nbytes > largest[interval][1]:
            largest[interval] = start, nbytes
    return [PointData(_microseconds(start), nbytes) for start, nbytes in largest.values()]


def _microseconds(seconds: float) -> float:
    """Return microseconds, rounded to picoseconds, which are short as text."""
    return round(seconds * 1e6, 6)
