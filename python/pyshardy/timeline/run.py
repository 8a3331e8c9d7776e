# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The timeline of a local program: what runs when, what communication is exposed, and why."""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mlir_sdy.diagnostics import SourceLocation, UsageError, error
from mlir_sdy.host import location_of
from mlir_sdy.suggest import did_you_mean
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Displayed, Table, seconds_text
from pyshardy.irtools.functions import ENTRY
from pyshardy.local_program.communication import Collective
from pyshardy.pipeline.collection import collection_paused
from pyshardy.timeline.clock import Clock, Running
from pyshardy.timeline.durations import Durations, ResourceUse
from pyshardy.timeline.memory import Memory, Orders
from pyshardy.timeline.operation_table import OperationTable
from pyshardy.timeline.scheduling import WINDOW, Order, Scheduler

SCHEDULED, WRITTEN = "scheduled", "written"
TimelineOrder = Literal["scheduled", "written"]
"""The order of a timeline: that of a scheduler, or that of the text."""

_DEVICE_SHARE = 0.9
"""The part of the memory of a device that a schedule may use."""


class Event(NamedTuple):
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
        lane: the lanes of a collective, such as `data` or `link`; empty for other operations.
    """

    name: str
    start: float
    seconds: float
    times: int
    flops: float
    collective: int | None
    is_loop: bool
    operation: int
    lane: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class CollectiveTime(Displayed):
    """The time of a collective in a run: `hidden` and `exposed` are `queued` and `busy` together.

    Attributes:
        index: its index among the collectives of the program.
        collective: the collective.
        times: the number of executions.
        busy: the seconds in which it sends.
        queued: the seconds from its starts until its lanes are free.
        exposed: the seconds in which the computation waits for it.
        waiting: the operation that waits, and its place; empty if none does.
        reason: the reason why it is exposed; empty if it isn't.
    """

    index: int
    collective: Collective
    times: int
    busy: float
    queued: float
    exposed: float
    waiting: str
    reason: str

    @property
    def hidden(self) -> float:
        """The seconds in which the computation goes on."""
        return max(0.0, self.queued + self.busy - self.exposed)

    def summary(self) -> str:
        """Return the collective, its exposed time, and the reason in one line."""
        axes = ", ".join(self.collective.axes or ("other groups",))
        of = f"{seconds_text(self.exposed)} of {seconds_text(self.busy)} exposed"
        why = f": {self.reason}" if self.reason else ""
        return f"{self.collective.kind} along {axes}, {of}{why}"

    def plain(self) -> dict[str, object]:
        """Return the times as data for JSON."""
        return {
            "collective": self.index,
            "kind": self.collective.kind,
            "axes": self.collective.axes,
            "location": self.collective.location,
            **{
                name: getattr(self, name)
                for name in ("times", "busy", "queued", "hidden", "exposed", "waiting", "reason")
            },
        }


@dataclass(frozen=True, slots=True, repr=False)
class Timeline(Displayed):
    """The run of a program on a device.

    Attributes:
        seconds: the time of the run.
        events: in the order of their starts; loops precede what they contain.
        memory: the memory in bytes from each second on, with the arguments.
        collectives: the times of all collectives, in the order of the text.
        compute_seconds: the time of the computation alone.
        lane_seconds: the time in which each lane is busy.
        operations: the arithmetic operations.
        nbytes_accessed: the bytes that are read and written.
        orders: the steps of the blocks that run in an order other than that of the text.
    """

    seconds: float
    events: tuple[Event, ...]
    memory: tuple[tuple[float, int], ...]
    collectives: tuple[CollectiveTime, ...]
    compute_seconds: float
    lane_seconds: Mapping[str, float]
    operations: float
    nbytes_accessed: float
    orders: Orders

    @property
    def exposed(self) -> float:
        """The seconds in which the computation waits for collectives."""
        return sum(each.exposed for each in self.collectives)

    @property
    def hidden(self) -> float:
        """The seconds of collectives in which the computation goes on."""
        return sum(each.hidden for each in self.collectives)

    @property
    def peak_bytes(self) -> int:
        """The peak memory, with the arguments."""
        return max((nbytes for _, nbytes in self.memory), default=0)

    def most_exposed(self) -> list[CollectiveTime]:
        """Return the collectives, the longest exposed time first."""
        return sorted(self.collectives, key=lambda each: -each.exposed)

    def summary(self) -> str:
        """Return the time, and the exposed part of it, in one line."""
        return time_text(self.seconds, self.exposed)

    def tables(self) -> list[Table]:
        """Return a table of the collectives, the longest exposed time first.

        Those of equal kind, line and reason are one row, such as those of equal layers.
        """
        groups: defaultdict[tuple[str, ...], list[CollectiveTime]] = defaultdict(list)
        for each in self.most_exposed():
            one = each.collective
            line = _shown_place(one.location)
            key = one.kind, ", ".join(one.axes or ()), line, each.waiting, each.reason
            groups[key].append(each)
        rows = [
            (
                *key[:3],
                sum(each.times for each in group),
                *(
                    seconds_text(sum(getattr(each, which) for each in group))
                    for which in ("busy", "hidden", "exposed")
                ),
                *key[3:],
            )
            for key, group in sorted(
                groups.items(), key=lambda item: -sum(each.exposed for each in item[1])
            )
        ]
        headings = (
            *("collective", "axes", "line", "times", "busy", "hidden", "exposed"),
            *("waiting operation", "reason"),
        )
        return [Table(f"Timeline: {self.summary()}", headings, rows)]

    def plain(self) -> dict[str, object]:
        """Return the times, and those of the collectives, as data for JSON."""
        return {
            "seconds": self.seconds,
            "exposed": self.exposed,
            "hidden": self.hidden,
            "compute_seconds": self.compute_seconds,
            "lane_seconds": self.lane_seconds,
            "collectives": self.most_exposed(),
        }


def time_text(seconds: float, exposed: float) -> str:
    """Return the time of a run, and the part of it in which the computation waits."""
    return f"{seconds_text(seconds)}, {seconds_text(exposed)} of it exposed communication"


def run_timeline(
    use: ResourceUse,
    collectives: Sequence[Collective],
    hardware: Hardware,
    order: TimelineOrder = "scheduled",
) -> Timeline:
    """Return the timeline of a program.

    Args:
        use: the work of the program.
        collectives: its collectives, in the order of the text.
        hardware: the devices and links.
        order: `written` for the order of the text; `scheduled` for that of a scheduler, which may
            use the memory of the device.

    Raises:
        UsageError: there is no such order.
    """
    if order not in (SCHEDULED, WRITTEN):
        hint = did_you_mean(order, (SCHEDULED, WRITTEN))
        message = f"unknown order '{order}': expected '{SCHEDULED}' or '{WRITTEN}'{hint}"
        raise UsageError(error(message))
    with collection_paused():
        durations = Durations(use, collectives, hardware)
        placement = Placement({}, use.memory)
        if order == SCHEDULED:
            placement = place_within(use, durations)
        return _timeline(use, durations, collectives, placement)


# --- Orders that fit into the memory --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Placement:
    """An order of a program.

    Attributes:
        orders: the steps of the blocks that run in an order other than that of the text.
        memory: the memory in this order.
        missing_bytes: the memory by which a faster order exceeds the limit; 0 if it doesn't.
    """

    orders: Orders
    memory: Memory
    missing_bytes: int = 0


def memory_limit(use: ResourceUse, hardware: Hardware, memory: float = 0.0) -> float:
    """Return the bytes that a program may need: a limit, or the default if it is 0.

    That is the larger one of the present peak and nine tenths of the device.
    """
    return memory or max(use.memory.peak, _DEVICE_SHARE * hardware.bytes_of_memory)


def place_within(
    use: ResourceUse,
    durations: Durations,
    memory: float = 0.0,
    *,
    window: float = WINDOW,
    order: Order = "need",
    in_flight: int = 1,
) -> Placement:
    """Return an order in which the peak memory is within a limit, and no block is slower.

    If the peak is higher, collectives start later: the window is divided by 4 up to three times,
    then is zero, first in the given order, then in that of the text. The last resort is the program
    as it is.

    Args:
        use: the work of the program.
        durations: the seconds of its operations.
        memory: the limit in bytes; 0 for the larger one of the present peak and nine tenths of the
            device.
        window: the seconds of computation before its first use at which a collective may start.
        order: the computation that goes first.
        in_flight: the collectives of a lane that may have started before they can run.
    """
    if not durations.transfers:
        return Placement({}, use.memory)
    limit = memory_limit(use, durations.hardware, memory)
    missing = 0
    windows = (window, window / 4, window / 16, window / 64, 0.0)
    orders: dict[Order, None] = {order: None, "program": None}
    for each in orders:
        for wide in windows:
            scheduler = Scheduler(durations, window=wide, order=each, in_flight=in_flight)
            scheduler.schedule_all()
            found = use.memory_in(scheduler.orders)
            if found.peak <= limit:
                return Placement(scheduler.orders, found, missing)
            missing = missing or math.ceil(found.peak - limit)
    return Placement({}, use.memory, missing)


# --- Timelines ------------------------------------------------------------------------------------


def _timeline(
    use: ResourceUse,
    durations: Durations,
    collectives: Sequence[Collective],
    placement: Placement,
) -> Timeline:
    clock, table = Clock(durations, placement.orders), use.table
    main = durations.functions[ENTRY]
    seconds = clock.run(main)
    starts = zip(clock.step_starts, placement.memory.during, strict=True)
    compute, operations, nbytes = 0.0, 0.0, 0.0
    lanes: defaultdict[str, float] = defaultdict(float)
    events: list[Event] = []
    runs: defaultdict[int, list[Running]] = defaultdict(list)
    for each in sorted(clock.running, key=lambda each: each.start):
        flops, index, lane = 0.0, None, ()
        if each.transfer is not None:
            index, lane = each.transfer.index, each.transfer.lanes
            runs[index].append(each)
            for one in lane:
                lanes[one] += each.busy * each.times
        elif not each.is_loop:
            work = use.work.get(each.number) or use.work[each.number + 1]
            flops = work.operations * each.times
            operations += flops
            nbytes += work.nbytes * each.times
            compute += work.seconds(durations.hardware) * each.times
        name = table.names[each.number].removeprefix("stablehlo.")
        if index is not None:
            name = collectives[index].kind
        when = each.start, each.seconds, each.times
        events.append(Event(name, *when, flops, index, each.is_loop, each.number, lane))
    return Timeline(
        seconds,
        tuple(events),
        tuple((start, nbytes) for start, (_, nbytes) in starts),
        tuple(_collective_times(table, collectives, runs, placement.missing_bytes)),
        compute,
        dict(lanes),
        operations,
        nbytes,
        placement.orders,
    )


def _collective_times(
    table: OperationTable,
    collectives: Sequence[Collective],
    runs: Mapping[int, Sequence[Running]],
    missing_bytes: int,
) -> Iterator[CollectiveTime]:
    for index, collective in enumerate(collectives):
        found = runs.get(index, ())
        exposed = sum(each.exposed * each.times for each in found)
        waiting, reason = "", ""
        if exposed > 0.0:
            longest = max(found, key=lambda each: each.exposed * each.times)
            waiting = _place_text(table, longest.waiting)
            reason = _reason(table, longest, collectives, missing_bytes)
        yield CollectiveTime(
            index,
            collective,
            sum(each.times for each in found),
            sum(each.busy * each.times for each in found),
            sum(each.queued * each.times for each in found),
            exposed,
            waiting,
            reason,
        )


def _reason(
    table: OperationTable,
    running: Running,
    collectives: Sequence[Collective],
    missing_bytes: int,
) -> str:
    """Return why a collective is exposed, in one execution."""
    if running.is_synchronous:
        is_variadic = len(table.operands[running.number]) > 1
        return "variadic" if is_variadic else "it is synchronous"
    behind = running.behind
    if behind is not None and behind.transfer is not None and 2 * running.held > running.exposed:
        other = collectives[behind.transfer.index]
        return f"the lane is busy with {_with_place(other.kind, other.location)}"
    if missing_bytes and running.idle > 0.1 * running.busy:
        return f"no memory: needs {missing_bytes:,} bytes more"
    if running.idle <= 0.1 * running.busy:
        if running.producer is None:
            return "nothing independent to compute in this block"
        return f"its operand is computed just before: {_place_text(table, running.producer)}"
    return f"its result is used at once by {_place_text(table, running.waiting)}"


def _place_text(table: OperationTable, number: int | None) -> str:
    if number is None:
        return "the end of the block"
    name = table.names[number].removeprefix("stablehlo.")
    return _with_place(name, location_of(table.operations[number].location))


def _with_place(name: str, place: SourceLocation | None) -> str:
    return name if place is None else f"{name} at {_shown_place(place)}"


def _shown_place(place: SourceLocation | None) -> str:
    """Return the file and the line of a place, without the folder."""
    if place is None:
        return ""
    return f"{os.path.basename(place.filename)}:{place.line}"
