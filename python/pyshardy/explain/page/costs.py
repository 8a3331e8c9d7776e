# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The estimated costs in the report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mlir_sdy.values import manual_axes
from pyshardy.explain.estimate import Estimate
from pyshardy.explain.program import ExplainedProgram
from pyshardy.irtools.walks import operations_named
from pyshardy.propagation.program import NO_OPERATION
from pyshardy.timeline.run import Timeline

_MOST_POINTS = 1500
_MOST_OPERATIONS = 200


class EventData(NamedTuple):
    """An operation, a collective or a loop in the time of a run; see `timeline.Event`.

    Attributes:
        name: the operation without its dialect.
        start: the microsecond at which it starts.
        duration: its microseconds.
        times: the number of executions.
        node: the operation of the program; None if the partitioner inserted it.
        collective: the index of a collective; None for other operations.
        is_loop: whether the event contains others.
        lanes: the numbers of its lanes, in `CostData.lanes`; none for computations.
    """

    name: str
    start: float
    duration: float
    times: int
    node: int | None
    collective: int | None
    is_loop: bool
    lanes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CollectiveCost:
    """The time of a collective in a run; see `timeline.CollectiveTime`.

    Attributes:
        seconds: the time.
        exposed: the part of it, and of its waits for links, in which the computation waits.
        exposed_because: the reason why; empty if it is hidden.
    """

    seconds: float
    exposed: float
    exposed_because: str


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
    """An axis along which devices repeat work.

    Attributes:
        axis: the axis.
        size: its size.
        seconds: the time of a device in operations that are repeated along it.
        share: the share of this time in that of all computation.
        operations: the longest of them.
    """

    axis: str
    size: int
    seconds: float
    share: float
    operations: tuple[NodeCost, ...]


class PointData(NamedTuple):
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
        collectives: the time of each collective, in the order of the partitioned program.
        nodes: the operations that take the most time.
        idle: the axes along which work is repeated.
        lanes: the names of the lanes of links.
        events: what runs when.
        memory: the memory over time, the largest value of each interval.
    """

    estimate: Estimate
    capacity: float
    collectives: tuple[CollectiveCost, ...]
    nodes: tuple[NodeCost, ...]
    idle: tuple[IdleData, ...]
    lanes: tuple[str, ...]
    events: tuple[EventData, ...]
    memory: tuple[PointData, ...]


def costs_of(explained: ExplainedProgram) -> CostData:
    """Return the costs of a run.

    Args:
        explained: the program.
    """
    timeline = explained.timeline
    nodes = explained.origins
    lanes = sorted(timeline.lane_seconds)
    seconds: defaultdict[int, float] = defaultdict(float)
    flops: defaultdict[int, float] = defaultdict(float)
    events: list[EventData] = []
    for event in timeline.events:
        node = nodes[event.operation]
        start, duration = _microseconds(event.start), _microseconds(event.seconds)
        events.append(
            EventData(
                event.name,
                start,
                duration,
                event.times,
                node,
                event.collective,
                event.is_loop,
                tuple(map(lanes.index, event.lane)) if event.lane else (),
            )
        )
        if node is not None and event.collective is None and not event.is_loop:
            seconds[node] += event.seconds
            flops[node] += event.flops
    longest = sorted(seconds, key=lambda node: -seconds[node])[:_MOST_OPERATIONS]
    idle = _IdleAxisFinder(explained).find(timeline, flops)
    return CostData(
        explained.cost,
        explained.report_hardware.bytes_of_memory,
        tuple(
            CollectiveCost(each.busy, each.exposed, each.reason) for each in timeline.collectives
        ),
        tuple(NodeCost(node, seconds[node], flops[node]) for node in longest),
        idle,
        tuple(lanes),
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


# --- Idle axes -----------------------------------------------------------------------------------


class _IdleAxisFinder:
    """Finds the axes along which each operation is repeated.

    An operation is repeated along an axis if the axis shards none of its operands and results, and
    the operation isn't in a manual computation along the axis. All devices along the axis then do
    the same work. Axes of equal shardings are collected once.
    """

    def __init__(self, explained: ExplainedProgram):
        self._explained = explained
        self._engine = explained.record.engine
        self._axes_of_shardings: dict[int, frozenset[str]] = {}
        self._axes_of_operations: dict[int, frozenset[str]] = {}
        number_of = explained.record.later_values.operation
        self._manual_computations = {
            number_of(each): frozenset(manual_axes(each))
            for each in operations_named(("sdy.manual_computation",), explained.module)
        }

    def find(self, timeline: Timeline, flops: Mapping[int, float]) -> tuple[IdleData, ...]:
        """Return the axes along which work is repeated, in the order of the mesh."""
        origins = self._explained.origins
        total = 0.0
        repeated: dict[str, defaultdict[int, float]] = {
            axis.name: defaultdict(float)
            for axis in self._explained.program.mesh.axes
            if axis.size > 1
        }
        for event in timeline.events:
            if event.collective is not None or event.is_loop:
                continue
            total += event.seconds
            number = origins[event.operation]
            if number is None:
                continue
            for axis in repeated.keys() - self._axes_of(number):
                repeated[axis][number] += event.seconds
        sizes = {axis.name: axis.size for axis in self._explained.program.mesh.axes}
        return tuple(
            IdleData(
                axis,
                sizes[axis],
                sum(seconds.values()),
                sum(seconds.values()) / total,
                tuple(
                    NodeCost(node, seconds[node], flops[node])
                    for node in sorted(seconds, key=lambda node: -seconds[node])[:_MOST_OPERATIONS]
                ),
            )
            for axis, seconds in repeated.items()
            if seconds
        )

    def _axes_of(self, number: int) -> frozenset[str]:
        """Return the axes that shard the values of an operation, and the manual axes around it.

        Many local operations may come from one operation of many operands.
        """
        known = self._axes_of_operations.get(number)
        if known is None:
            program, state = self._engine.program, self._engine.state
            values = (*program.operands[number], *program.results[number])
            axes = (self._axes_in(state[program.slots[value]]) for value in values)
            known = self._manual_axes(number).union(*axes)
            self._axes_of_operations[number] = known
        return known

    def _axes_in(self, sharding_number: int) -> frozenset[str]:
        known = self._axes_of_shardings.get(sharding_number)
        if known is None:
            sharding = self._engine.table[sharding_number]
            names = () if sharding is None else (axis.name for axis in sharding.all_axes())
            known = self._axes_of_shardings[sharding_number] = frozenset(names)
        return known

    def _manual_axes(self, number: int) -> frozenset[str]:
        """Return the manual axes of the computations around an operation."""
        axes = frozenset[str]()
        if self._manual_computations:
            parents = self._engine.program.parents
            while (number := parents[number]) != NO_OPERATION:
                axes |= self._manual_computations.get(number, frozenset())
        return axes
