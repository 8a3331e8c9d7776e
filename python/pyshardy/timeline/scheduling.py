# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of a block in which the computation waits least for collectives.

This is list scheduling in the time of `clock`:

1. The priority of an operation is the longest path from it to the end of the block, collectives
   counted. When the computation is free, it takes the ready operation of the highest priority, by
   the order of the text among equal ones. In another try, the collectives that queue behind one as
   they are needed later count, too, and the slices that only collectives need go first.
2. When the lanes of a collective are free while that operation runs, the ready collective of the
   highest priority starts, right before the operation. One that is ready later but is needed sooner
   therefore isn't kept waiting by the many whose operands are arguments.
3. The wait for a collective stands before its first user.
4. A collective starts at most `window` seconds of computation before its first use, or before that
   of one that queues behind it. This bounds the memory of what is fetched early. An order without a
   window tells where that use is. What leaves the block may start at any time, unless the window is
   zero.
5. Operations with effects keep their order, and nothing moves across them. An optimization barrier
   orders what it takes before what uses its results, which dependences do.
6. A collective with several operands can't be asynchronous: it runs at once.

Blocks without collectives keep their order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Literal

from pyshardy.timeline.clock import Clock
from pyshardy.timeline.durations import Durations
from pyshardy.timeline.operation_table import DONE, RUN, START, Block, BlockStep

WINDOW = 3e-3
"""The seconds of computation before its first use at which a collective may start."""

_FEW_STEPS, _MOST_ROUNDS = 2_000, 8

_LITTLE = 0.1
"""The part of the time of a collective that is worth spending at once to start it early."""

Order = Literal["need", "program"]
"""The computation that goes first: that with the longest path to the end, or the first one."""


@dataclass(slots=True, eq=False)
class _Node:
    """A computation or a collective of a block.

    Attributes:
        step: its step in the order of the text; the start of an asynchronous collective.
        place: its place in the text.
        seconds: its time.
        lanes: the lanes that it needs.
        is_transfer: whether it can run beside the computation.
        users: the nodes that need it.
        missing: the number of nodes that it needs and that haven't ended.
        waits: the collectives that it needs.
        behind: the seconds by which the collectives that queue behind it are later than its users.
        priority: the seconds of the longest path from it to the end.
        first_use: the seconds of computation before its first use.
        is_awaited: whether the wait for it has been emitted.
        begin: the second at which a collective has its lanes.
    """

    step: BlockStep
    place: int
    seconds: float
    lanes: tuple[str, ...]
    is_transfer: bool
    users: list[_Node] = field(default_factory=list["_Node"])
    missing: int = 0
    waits: list[_Node] = field(default_factory=list["_Node"])
    behind: float = 0.0
    priority: float = 0.0
    first_use: float = math.inf
    is_awaited: bool = False
    begin: float = 0.0


class Scheduler:
    """Orders the blocks of a program.

    Args:
        durations: the seconds of its operations.

    Attributes:
        orders: the steps of the blocks that have been ordered.
    """

    def __init__(
        self,
        durations: Durations,
        *,
        window: float = WINDOW,
        order: Order = "need",
        in_flight: int = 1,
    ):
        self._durations = durations
        self._table = durations.table
        self._window = window
        self._order: Order = order
        self._in_flight = in_flight
        self._seconds: dict[int, float] = {}
        self._seen: set[int] = set()
        self.orders: dict[Block, Sequence[BlockStep]] = {}

    def schedule_all(self) -> None:
        """Order all blocks with collectives, inner ones and callees first."""
        for function in self._durations.functions.values():
            self.schedule_within(function)

    def schedule_within(self, block: Block) -> None:
        """Order a block and those inside of it, unless that has been done."""
        if block.inside.start in self._seen:
            return
        self._seen.add(block.inside.start)
        has_transfers = False
        for number in self._table.directly_in(block):
            if number in self._durations.transfers:
                has_transfers = True
            elif self._durations.lanes_inside(number):
                for inner in self._blocks_inside(number):
                    self.schedule_within(inner)
        if has_transfers:
            self._schedule(block)

    def _blocks_inside(self, number: int) -> Sequence[Block]:
        if self._table.names[number] == "func.call":
            return [self._durations.callee(number)]
        return self._table.blocks_of(number)

    def _schedule(self, block: Block) -> None:
        """Order a block, unless that makes it slower.

        A synchronous block can't become slower, as its computation waits only while a collective
        runs. Small blocks are ordered again, with other ties or by lanes, while that gains
        something.
        """
        written = self._table.written_steps(block)
        slowed = self._durations.hardware.compute_while_communicating < 1.0
        is_small = len(written) <= _FEW_STEPS
        if not (is_small or slowed or any(step.phase != RUN for step in written)):
            self.orders = {**self.orders, block: self._ordered_block(written)}
            return
        best = Clock(self._durations, self.orders).run(block, 1)
        steps, by_lane, in_vain = written, False, 0
        is_new = all(step.phase == RUN for step in written)
        for _ in range(_MOST_ROUNDS if is_small else 1):
            tried = self._ordered_block(steps, by_lane)
            orders = {**self.orders, block: tried}
            seconds = Clock(self._durations, orders).run(block, 1)
            if seconds < best * (1 - 1e-12) or (is_new and seconds <= best):
                best, steps, self.orders, in_vain = seconds, tried, orders, 0
            elif in_vain:
                return
            else:
                by_lane, in_vain = not by_lane, 1
            is_new = False

    def _ordered_block(self, steps: Sequence[BlockStep], by_lane: bool = False) -> list[BlockStep]:
        return [step for part in self._parts(steps) for step in self._ordered(part, by_lane)]

    def _parts(self, steps: Sequence[BlockStep]) -> Iterator[list[BlockStep]]:
        """Yield the steps of a block, cut behind the operations across which nothing moves."""
        part: list[BlockStep] = []
        for step in steps:
            part.append(step)
            if self._durations.keeps_its_place(step.number):
                yield part
                part = []
        if part:
            yield part

    def _ordered(self, part: Sequence[BlockStep], by_lane: bool) -> list[BlockStep]:
        """Return the steps of a part in a better order; the last one stays the last."""
        if not any(step.number in self._durations.transfers for step in part):
            return list(part)
        *nodes, last = self._nodes(part)
        _find_priorities(nodes)
        if by_lane:
            _queue_in_lanes(nodes)
            _find_priorities(nodes)
            _hurry_to_lanes(nodes)
        if self._window < math.inf:
            without = _List(nodes, self._order, math.inf, self._in_flight)
            without.run()
            last.first_use = -math.inf if self._window else without.computed
            _find_first_uses(nodes)
            _reset(nodes)
        found = _List(nodes, self._order, self._window, self._in_flight).run()
        found += [_done(node) for node in nodes if node.is_transfer and not node.is_awaited]
        return [*found, last.step]

    def _nodes(self, part: Sequence[BlockStep]) -> list[_Node]:
        """Return the operations of a part, with what they need."""
        table, durations = self._table, self._durations
        made_by: dict[int, _Node] = {}
        nodes: list[_Node] = []
        for step in part:
            if step.phase == DONE:
                continue
            number = step.number
            transfer = durations.transfers.get(number)
            node = _Node(step, len(nodes), 0.0, (), False)
            if transfer is not None:
                node.seconds, node.lanes = transfer.seconds, transfer.lanes
                node.is_transfer = step.phase == START or self._is_simple(number)
            else:
                node.seconds = self._seconds_of(number)
                node.lanes = tuple(durations.lanes_inside(number))
            needed: set[int] = set()
            inner = range(number, table.ends[number]) if transfer is None else (number,)
            for each in inner:
                for operand in table.operands[each]:
                    maker = made_by.get(operand)
                    if maker is not None and maker.place not in needed:
                        needed.add(maker.place)
                        maker.users.append(node)
                        if maker.is_transfer:
                            node.waits.append(maker)
            node.missing = len(needed)
            for result in (*table.results[number], *table.results[step.done]):
                made_by[result] = node
            nodes.append(node)
        return nodes

    def _is_simple(self, number: int) -> bool:
        """Whether a collective can be asynchronous: it has an operand and a result."""
        return len(self._table.operands[number]) == 1 and len(self._table.results[number]) == 1

    def _seconds_of(self, number: int) -> float:
        """Return the time of a computation, with all that is in its regions or its callee."""
        known = self._durations.compute.get(number)
        if known is not None:
            return known
        if not self._durations.has_inside(number):
            return 0.0
        if number not in self._seconds:
            clock = Clock(self._durations, self.orders)
            clock.run_one(number)
            self._seconds[number] = clock.now
        return self._seconds[number]


def _find_priorities(nodes: Sequence[_Node]) -> None:
    for node in reversed(nodes):
        longest = max([user.priority for user in node.users], default=0.0)
        node.priority = node.seconds + node.behind + longest


def _queue_in_lanes(nodes: Sequence[_Node]) -> None:
    """Count the collectives that run on the same lanes after each, as they are needed later."""
    queues: dict[tuple[str, ...], float] = {}
    for node in sorted(
        (each for each in nodes if each.is_transfer), key=lambda each: each.priority - each.seconds
    ):
        longest = node.priority - node.seconds
        node.behind = max(0.0, queues.get(node.lanes, 0.0) - longest)
        queues[node.lanes] = node.priority + node.behind


def _hurry_to_lanes(nodes: Sequence[_Node]) -> None:
    """Let computations go first that only collectives need, and that take little of their time."""
    fed: dict[int, float] = {}
    for node in reversed(nodes):
        if node.is_transfer:
            fed[node.place] = node.seconds
        elif node.users:
            seconds = min([fed.get(user.place, 0.0) for user in node.users])
            if node.seconds < _LITTLE * seconds:
                fed[node.place], node.priority = seconds, math.inf


def _reset(nodes: Sequence[_Node]) -> None:
    """Prepare nodes that have been ordered to be ordered again."""
    for node in nodes:
        node.missing, node.is_awaited = 0, False
    for node in nodes:
        for user in node.users:
            user.missing += 1


def _find_first_uses(nodes: Sequence[_Node]) -> None:
    """Find the first use of each collective, through operations that take no time.

    `first_use` is the time at which each operation ran in an order without a window.
    """
    for node in reversed(nodes):
        if node.seconds == 0.0 or node.is_transfer:
            uses = [user.first_use for user in node.users]
            node.first_use = min(uses, default=math.inf)


def _done(node: _Node) -> BlockStep:
    node.is_awaited = True
    return BlockStep(DONE, node.step.number, node.step.done)


class _List:
    """One run of list scheduling.

    Args:
        nodes: the operations, without the last one.
        order: the computation that goes first.
        window: as in the description of the module.
        in_flight: the collectives of a lane that may have started before they can run.

    Attributes:
        computed: the seconds of computation that have run.
    """

    def __init__(self, nodes: Sequence[_Node], order: Order, window: float, in_flight: int):
        self._nodes = nodes
        self._most_early = in_flight - 1
        self._window = window
        self._key: Callable[[_Node], float] = (
            (lambda node: -node.priority) if order == "need" else (lambda node: node.place)
        )
        self._steps: list[BlockStep] = []
        self._now = self.computed = 0.0
        self._free: dict[str, float] = {}
        self._ready: list[tuple[float, int]] = []
        self._early: list[tuple[float, int]] = []
        """Collectives whose window hasn't begun, by its begin."""
        self._transfers: dict[tuple[str, ...], list[tuple[float, int]]] = {}
        """Ready collectives by their lanes."""
        self._num_queued = 0
        self._flying: list[tuple[float, int]] = []

    def run(self) -> list[BlockStep]:
        for node in self._nodes:
            if not node.missing:
                self._make_ready(node)
        remaining = len(self._nodes)
        while remaining:
            self._land()
            self._open_windows()
            if self._ready:
                node = self._nodes[heappop(self._ready)[1]]
                if self._num_queued:
                    remaining -= self._launch(self._now + node.seconds)
                remaining -= 1
                self._run_node(node)
            else:
                launched = self._launch(self._now)
                if not launched and not self._flying:
                    self._open_next_window()
                elif not launched:
                    self._now = max(self._now, self._flying[0][0])
                remaining -= launched
        return self._steps

    def _make_ready(self, node: _Node) -> None:
        if not node.is_transfer:
            heappush(self._ready, (self._key(node), node.place))
        else:
            begin = -math.inf
            if self._window < math.inf:
                begin = node.first_use - node.behind - self._window
            heappush(self._early, (begin, node.place))

    def _open_windows(self) -> None:
        while self._early and self._early[0][0] <= self.computed:
            self._open_next_window()

    def _open_next_window(self) -> None:
        _, place = heappop(self._early)
        node = self._nodes[place]
        queue = self._transfers.setdefault(node.lanes, [])
        heappush(queue, (-node.priority, place))
        self._num_queued += 1

    def _launch(self, end: float) -> int:
        """Start the collectives whose lanes are free before a time, and return their number."""
        count = 0
        while True:
            best: tuple[float, float, int] | None = None
            for lanes, queue in self._transfers.items():
                if queue:
                    begin = max([self._now, *(self._free.get(lane, 0.0) for lane in lanes)])
                    if begin < end or begin == self._now == end or self._may_queue(lanes, end):
                        best = min(best or (math.inf, 0.0, 0), (begin, *queue[0]))
            if best is None:
                return count
            begin, _, place = best
            node = self._nodes[place]
            heappop(self._transfers[node.lanes])
            self._num_queued -= 1
            self._await_operands(node)
            self._steps.append(BlockStep(START, node.step.number, node.step.done))
            node.begin = begin
            for lane in node.lanes:
                self._free[lane] = begin + node.seconds
            heappush(self._flying, (begin + node.seconds, place))
            count += 1

    def _may_queue(self, lanes: tuple[str, ...], end: float) -> bool:
        """Whether one more collective may start before its lanes are free."""
        if not self._most_early:
            return False
        flying = (self._nodes[place] for _, place in self._flying)
        waiting = [each for each in flying if each.lanes == lanes and each.begin >= end]
        return len(waiting) < self._most_early

    def _run_node(self, node: _Node) -> None:
        self._await_operands(node)
        self._steps.append(BlockStep(RUN, node.step.number, node.step.done))
        begin = max([self._now, *[self._free.get(lane, 0.0) for lane in node.lanes]])
        node.first_use = self.computed
        self._now = begin + node.seconds
        self.computed += node.seconds
        for lane in node.lanes:
            self._free[lane] = self._now
        self._finish(node)

    def _land(self) -> None:
        """Finish the collectives that have ended."""
        while self._flying and self._flying[0][0] <= self._now:
            self._finish(self._nodes[heappop(self._flying)[1]])

    def _finish(self, node: _Node) -> None:
        for user in node.users:
            user.missing -= 1
            if not user.missing and user.place < len(self._nodes):
                self._make_ready(user)

    def _await_operands(self, node: _Node) -> None:
        for each in node.waits:
            if not each.is_awaited:
                self._steps.append(_done(each))
