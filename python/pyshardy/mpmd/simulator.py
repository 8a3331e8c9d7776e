# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Simulate a schedule: when each mesh runs each unit, and when values go from mesh to mesh.

1. A mesh runs its units in their order. A unit starts when the mesh is free and all values that it
   needs have arrived.
2. A value goes to each other mesh that needs it, once, when the unit that computes it ends.
3. The link of a pair of meshes and a direction carries one value at a time, in the order in which
   they are computed. It doesn't occupy the meshes, unless `blocking` makes the sender wait.

Times may be of any type that is added and compared: with fractions, all results are exact.

Example: two meshes, two microbatches, all units take 1 and transfers nothing. Under `gpipe`, the
second mesh starts at 1 and ends its backward units at 5, the first mesh ends at 6: T = 6, and a
third of the time is idle, (N - 1)/(M + N - 1).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from mlir_sdy.diagnostics import UsageError, error
from pyshardy.mpmd.schedules.units import Orders, SchedulingUnit, inputs_of

Time = float | Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """A time from a start to an end."""

    start: Time
    end: Time


@dataclass(frozen=True)
class Simulation:
    """The times of all units and transfers.

    Attributes:
        orders: the units of each mesh.
        intervals: the time of each unit.
        sendings: the time of each transfer, by the unit of the value and the mesh that gets it.
    """

    orders: Orders
    intervals: dict[SchedulingUnit, Interval]
    sendings: dict[tuple[SchedulingUnit, int], Interval]

    @cached_property
    def total(self) -> Time:
        """The time from the start of the first unit to the end of the last one."""
        return max(each.end for each in self.intervals.values())

    @property
    def bubble(self) -> Time:
        """The idle share of the total time, over all meshes."""
        busy = sum(self._busy(mesh) for mesh in range(len(self.orders)))
        return 1 - busy / (len(self.orders) * self.total)

    def bubble_in_window(self, mesh: int) -> Time:
        """Return the idle share of a mesh between its first and its last unit.

        It is what remains if steps follow each other without a barrier.
        """
        first, last = self.orders[mesh][0], self.orders[mesh][-1]
        return 1 - self._busy(mesh) / (self.intervals[last].end - self.intervals[first].start)

    def peak_live(self, mesh: int) -> int:
        """Return the most forward units of a mesh whose activations wait for their gradient."""
        return self._peak(mesh, ("B", "Ba"))

    def peak_residuals(self, mesh: int) -> int:
        """Return the most forward units of a mesh whose values wait for the gradient of weights."""
        return self._peak(mesh, ("B", "Bw"))

    def _busy(self, mesh: int) -> Time:
        spans = (self.intervals[unit] for unit in self.orders[mesh])
        return sum(each.end - each.start for each in spans)

    def _peak(self, mesh: int, last: Sequence[str]) -> int:
        live = most = 0
        for unit in self.orders[mesh]:
            if unit.is_forward:
                live += 1
                most = max(most, live)
            elif unit.kind in last:
                live -= 1
        return most


def simulate(
    orders: Orders,
    stages: int,
    seconds: Callable[[SchedulingUnit], Time],
    transfer: Callable[[SchedulingUnit, int, int], Time] | None = None,
    *,
    blocking: bool = False,
    sums_after: bool = False,
    names: Sequence[str] = (),
) -> Simulation:
    """Simulate a schedule by its events.

    Args:
        orders: the units of each mesh.
        stages: the number of stages.
        seconds: the time of a unit.
        transfer: the time in which a value goes from a mesh to another; none by default.
        blocking: whether a mesh is occupied while it sends.
        sums_after: whether gradients are summed after all microbatches.
        names: the names of the meshes, for errors; `m0`, `m1`, ... by default.

    Raises:
        UsageError: meshes wait for each other forever; names the units at which they do.
    """
    return _Simulator(orders, stages, seconds, transfer, blocking, sums_after, names).run()


def check_that_it_ends(orders: Orders, stages: int, names: Sequence[str] = ()) -> None:
    """Check that all units can run in an order of the meshes.

    Raises:
        UsageError: they do; names the units at which they do.
    """
    simulate(orders, stages, lambda _: 1, names=names)


class _Simulator:
    """The state of a simulation; events are the ends of units and the arrivals of values."""

    def __init__(
        self,
        orders: Orders,
        stages: int,
        seconds: Callable[[SchedulingUnit], Time],
        transfer: Callable[[SchedulingUnit, int, int], Time] | None,
        blocking: bool,
        sums_after: bool,
        names: Sequence[str],
    ) -> None:
        self.orders = orders
        self.seconds, self.transfer, self.blocking = seconds, transfer, blocking
        self.names = names or [f"m{mesh}" for mesh in range(len(orders))]
        self.mesh_of = {unit: mesh for mesh, units in enumerate(orders) for unit in units}
        self.inputs = {
            unit: tuple(inputs_of(unit, stages, self.mesh_of, sums_after=sums_after))
            for unit in self.mesh_of
        }
        self.missing = {unit: len(inputs) for unit, inputs in self.inputs.items()}
        # The units that need a value, by the mesh that they run on.
        self.users: dict[SchedulingUnit, dict[int, list[SchedulingUnit]]] = {
            unit: {} for unit in self.mesh_of
        }
        for unit, inputs in self.inputs.items():
            for each in inputs:
                self.users[each].setdefault(self.mesh_of[unit], []).append(unit)
        self.left = [deque(units) for units in orders]
        self.is_running = [False] * len(orders)
        self.free_links: dict[tuple[int, int], Time] = {}
        self.events: list[tuple[Time, int, Callable[[Time], None]]] = []
        self.count = 0
        self.intervals: dict[SchedulingUnit, Interval] = {}
        self.sendings: dict[tuple[SchedulingUnit, int], Interval] = {}

    def run(self) -> Simulation:
        for mesh in range(len(self.orders)):
            self._start_next(mesh, 0)
        while self.events:
            now, _, act = heapq.heappop(self.events)
            act(now)
        if any(self.left):
            raise UsageError(error(f"the schedule never ends: {self._waiting()}"))
        return Simulation(self.orders, self.intervals, self.sendings)

    def _at(self, time: Time, act: Callable[[Time], None]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, act))

    def _start_next(self, mesh: int, now: Time) -> None:
        """Start the next unit of a mesh if it can run."""
        left = self.left[mesh]
        if self.is_running[mesh] or not left or self.missing[left[0]]:
            return
        unit = left.popleft()
        end = now + self.seconds(unit)
        self.intervals[unit] = Interval(now, end)
        self.is_running[mesh] = True
        self._at(end, lambda time: self._end(unit, mesh, time))

    def _end(self, unit: SchedulingUnit, mesh: int, now: Time) -> None:
        free = now
        for target, users in self.users[unit].items():
            if target == mesh:
                self._arrive(users, now)
                continue
            start = max(now, self.free_links.get((mesh, target), now))
            arrival = start + (self.transfer(unit, mesh, target) if self.transfer else 0)
            self.free_links[mesh, target] = arrival
            self.sendings[unit, target] = Interval(start, arrival)
            self._at(arrival, lambda time, users=users: self._arrive(users, time))
            free = max(free, arrival)
        if self.blocking and free > now:
            self._at(free, lambda time: self._release(mesh, time))
        else:
            self._release(mesh, now)

    def _release(self, mesh: int, now: Time) -> None:
        self.is_running[mesh] = False
        self._start_next(mesh, now)

    def _arrive(self, users: Sequence[SchedulingUnit], now: Time) -> None:
        for user in users:
            self.missing[user] -= 1
            self._start_next(self.mesh_of[user], now)

    def _waiting(self) -> str:
        """Return at which units the meshes wait, and for what."""
        texts: list[str] = []
        for mesh, left in enumerate(self.left):
            if left:
                absent = [each for each in self.inputs[left[0]] if each not in self.intervals]
                names = (self.names[self.mesh_of[each]] for each in absent)
                told = ", ".join(map("{} of {}".format, absent, names))
                texts.append(f"mesh {self.names[mesh]} waits at {left[0]} for {told}")
        return "; ".join(texts)
