# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The run of a program in estimated time: computation on a lane, collectives on lanes of links.

1. Operations run in the order of the steps. A computation starts when the one before it ends.
2. The start of a collective takes no time of the computation. The collective runs when all of its
   lanes (`Hardware.lanes`) are free, in the order of the starts. The computation waits for its end
   at its `DONE` step. A synchronous collective is both at once.
3. A called function runs at its call. A loop runs its condition and body as often as its trip count
   says, once if this is unknown; of branches, the one runs that takes longest.
4. A loop or branch with collectives first waits for the lanes that they need, so that all
   iterations take equally long.
5. While a lane is busy, computation runs at `compute_while_communicating` of its rate.
6. Operations that take no time, such as constants and reshapes, have no event.

Without 5, the time of a run is that of the computation and what collectives expose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyshardy.irtools.loops import trip_count
from pyshardy.local_program.segments import CALLS, CONTROL_FLOW
from pyshardy.timeline.durations import Durations, Transfer
from pyshardy.timeline.memory import Orders
from pyshardy.timeline.operation_table import DONE, RUN, START, Block, BlockStep

_WHILE = "stablehlo.while"
_MOST_CALLS = 100
"""The depth of nested calls at which a function counts as recursive."""


@dataclass(slots=True, eq=False)
class Running:
    """Something that runs: a computation, a collective or a loop.

    Attributes:
        number: its operation.
        start: the second at which it starts.
        seconds: the time of all executions in a row.
        times: the number of executions.
        transfer: the collective; None for others.
        is_loop: whether it contains others.
        queued: the seconds between the start of a collective and its transfer, in one execution.
        busy: the seconds of one transfer.
        exposed: the seconds that the computation waits for one.
        is_synchronous: whether start and end of a collective are one step.
        waiting: the operation that waits longest.
        producer: the operation that computes an operand last, and takes some time.
        held: the seconds from its end, or the start of the block, until the lanes are free.
        behind: the collective that keeps them busy.
        idle: the seconds after both until the start.
    """

    number: int
    start: float
    seconds: float
    times: int
    transfer: Transfer | None = None
    is_loop: bool = False
    queued: float = 0.0
    busy: float = 0.0
    exposed: float = 0.0
    is_synchronous: bool = False
    waiting: int | None = None
    producer: int | None = None
    held: float = 0.0
    behind: Running | None = None
    idle: float = 0.0


@dataclass(slots=True, eq=False)
class _Lane:
    """The second until which a lane is busy, and its last collective."""

    free: float
    last: Running


@dataclass(slots=True, eq=False)
class _Scope:
    """The run of a block: its steps, its start, and when each value was computed by what."""

    steps: Sequence[BlockStep]
    start: float
    made: dict[int, tuple[float, int | None]] = field(
        default_factory=dict[int, "tuple[float, int | None]"]
    )


class Clock:
    """Runs a program in estimated time.

    Args:
        durations: the seconds of its operations.
        orders: the steps of the blocks that run in an order other than that of the text.

    Attributes:
        now: the second until which it has computed.
        running: what has run, in the order in which it was started.
        step_starts: the second of each step of the block at which the run began.
    """

    def __init__(self, durations: Durations, orders: Orders):
        self._durations = durations
        self._table = durations.table
        self._orders = orders
        self._slowed = durations.hardware.compute_while_communicating
        self._lanes: dict[str, _Lane] = {}
        self._in_flight: dict[int, Running] = {}
        self.now = 0.0
        self.running: list[Running] = []
        self.step_starts: list[float] = []

    def run(self, block: Block, depth: int = 0) -> float:
        """Run a block from the start, and return the second at which it and its transfers end."""
        self._run_block(block, 1, depth)
        return max([self.now, *(lane.free for lane in self._lanes.values())])

    def run_one(self, number: int) -> None:
        """Run an operation, with all that is inside of it, by itself."""
        step = BlockStep(RUN, number, number)
        self._run_steps(_Scope([step], self.now), 1, 1)

    def steps_of(self, block: Block) -> Sequence[BlockStep]:
        """Return the steps of a block in their order."""
        return self._orders.get(block) or self._table.written_steps(block)

    def _run_block(self, block: Block, times: int, depth: int) -> None:
        self._run_steps(_Scope(self.steps_of(block), self.now), times, depth)

    def _run_steps(self, scope: _Scope, times: int, depth: int) -> None:
        names, transfers = self._table.names, self._durations.transfers
        compute = self._durations.compute
        for place, step in enumerate(scope.steps):
            if depth == 0:
                self.step_starts.append(self.now)
            phase, number, _ = step
            name = names[number]
            if number in transfers:
                if phase != DONE:
                    self._start(step, times, scope)
                if phase != START:
                    self._wait(place, scope)
            elif phase != RUN:  # an asynchronous slice: computed at its start
                if phase == START and number + 1 in compute:
                    self._compute(number, compute[number + 1], times)
            elif name in CALLS and depth < _MOST_CALLS:
                self._run_block(self._durations.callee(number), times, depth + 1)
            elif name in CONTROL_FLOW:
                self._wait_for_lanes(number)
                self._run_regions(number, name, times, depth)
            elif number in compute:
                self._compute(number, compute[number], times)
            self._note_made(step, scope, number in compute or number in transfers)

    def _note_made(self, step: BlockStep, scope: _Scope, takes_time: bool) -> None:
        """Note when the results of a step are there, through what takes no time."""
        if step.phase == START:
            return
        table = self._table
        made = self.now, step.number
        if not takes_time and step.phase == RUN and not table.blocks_of(step.number):
            made = self._last_made(step.number, scope)
        for result in table.results[step.done]:
            scope.made[result] = made

    def _last_made(self, number: int, scope: _Scope) -> tuple[float, int | None]:
        """Return when the last operand of an operation was computed, and by what."""
        found: tuple[float, int | None] = scope.start, None
        for operand in self._table.operands[number]:
            made = scope.made.get(operand)
            if made is not None and made[0] >= found[0]:
                found = made
        return found

    def _compute(self, number: int, seconds: float, times: int) -> None:
        end = self._end_of_computation(seconds)
        if end > self.now:
            self.running.append(Running(number, self.now, end - self.now, times))
        self.now = end

    def _end_of_computation(self, seconds: float) -> float:
        """Return when a computation from now on ends, which is slower beside transfers."""
        at = self.now
        if self._slowed == 1.0 or not self._in_flight:
            return at + seconds
        flying = sorted((each.start, each.start + each.busy) for each in self._in_flight.values())
        for start, end in flying:
            if end <= at:
                continue
            alone = max(start - at, 0.0)
            if seconds <= alone:
                break
            at, seconds = at + alone, seconds - alone
            beside = (end - at) * self._slowed
            if seconds <= beside:
                return at + seconds / self._slowed
            at, seconds = end, seconds - beside
        return at + seconds

    def _start(self, step: BlockStep, times: int, scope: _Scope) -> None:
        """Put a collective into the queues of its lanes."""
        transfer = self._durations.transfers[step.number]
        ahead = [self._lanes[lane] for lane in transfer.lanes if lane in self._lanes]
        blocking = max(ahead, key=lambda lane: lane.free, default=None)
        start = self.now if blocking is None else max(self.now, blocking.free)
        ready, producer = self._last_made(step.number, scope)
        free = ready if blocking is None else max(ready, blocking.free)
        running = Running(
            step.number,
            start,
            transfer.seconds,
            times,
            transfer,
            queued=start - self.now,
            busy=transfer.seconds,
            producer=producer,
            held=free - ready,
            behind=None if blocking is None else blocking.last,
            idle=max(0.0, self.now - free),
            is_synchronous=step.phase == RUN,
        )
        if transfer.seconds > 0.0:
            self.running.append(running)
            for lane in transfer.lanes:
                self._lanes[lane] = _Lane(start + transfer.seconds, running)
        self._in_flight[step.number] = running

    def _wait(self, place: int, scope: _Scope) -> None:
        step = scope.steps[place]
        running = self._in_flight.pop(step.number, None)
        if running is not None:
            end = running.start + running.busy
            if end > self.now:
                self._expose(running, end, self._user_after(place, scope.steps))

    def _wait_for_lanes(self, number: int) -> None:
        """Wait until the lanes are free that collectives inside of an operation need."""
        needed = [self._lanes.get(lane) for lane in self._durations.lanes_inside(number)]
        last = max(
            (lane for lane in needed if lane is not None), key=lambda lane: lane.free, default=None
        )
        if last is not None and last.free > self.now:
            self._expose(last.last, last.free, number)

    def _expose(self, running: Running, end: float, waiting: int | None) -> None:
        wait = end - self.now
        if running.waiting is None or wait > running.exposed:
            running.waiting = waiting
        running.exposed += wait
        self.now = end

    def _user_after(self, place: int, steps: Sequence[BlockStep]) -> int | None:
        """Return the first operation after a step that uses its results and takes some time."""
        table, durations = self._table, self._durations
        values = {*table.results[steps[place].done]}
        for step in map(steps.__getitem__, range(place + 1, len(steps))):
            if step.phase == DONE:
                continue
            number = step.number
            inside = range(number, table.ends[number])
            if any(operand in values for each in inside for operand in table.operands[each]):
                takes_time = number in durations.compute or number in durations.transfers
                if takes_time or table.blocks_of(number) or not table.results[number]:
                    return number
                values.update(table.results[number])
        return None

    # --- Regions ----------------------------------------------------------------------------------

    def _run_regions(self, operation: int, name: str, times: int, depth: int) -> None:
        at, start = len(self.running), self.now
        blocks = self._table.blocks_of(operation)
        if name != _WHILE:
            self._run_longest(blocks, times, depth)
            count = 1
        else:
            known = trip_count(self._table.operations[operation])
            count = 1 if known is None else known
            for block in blocks:
                is_condition = known is not None and block.region == 0
                self._run_often(block, times, count + 1 if is_condition else count, depth)
        if len(self.running) > at:
            loop = Running(operation, start, self.now - start, times * count, is_loop=True)
            self.running.insert(at, loop)

    def _run_often(self, block: Block, times: int, count: int, depth: int) -> None:
        """Run a block several times: once, and stretch what ran."""
        if not count:
            return
        at, start = len(self.running), self.now
        self._run_block(block, times * count, depth + 1)
        for each in self.running[at:]:
            each.start = start + (each.start - start) * count
            each.seconds *= count
        self.now = start + (self.now - start) * count

    def _run_longest(self, blocks: Sequence[Block], times: int, depth: int) -> None:
        """Run the one of several branches that takes longest."""
        start, before, lanes = self.now, self.running, dict(self._lanes)
        longest: tuple[float, list[Running], dict[str, _Lane]] = start, [], lanes
        for block in blocks:
            self.now, self.running, self._lanes = start, [], dict(lanes)
            self._run_block(block, times, depth + 1)
            if self.now > longest[0] or not longest[1]:
                longest = self.now, self.running, self._lanes
        self.now, ran, self._lanes = longest
        self.running = [*before, *ran]
