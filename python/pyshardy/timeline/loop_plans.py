# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of loops that gain time beside another iteration, and fit the memory.

1. The time of an iteration is that of its body in the order of `scheduling`, before and after. The
   body after is that before, in which nothing waits for an early collective, a late one waits for
   nothing, and the end waits for both.
2. The collectives of a loop are moved if it becomes faster by `min_gain`, with the first fetch and
   the last sum, which are beside no other iteration; the late ones if they gain as much again. If
   that gains as much, too, the first iteration is peeled, and its collectives stay in it.
3. If the peak memory exceeds the limit, those with the least exposed time per byte stay.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from mlir_sdy.host import ir
from pyshardy.display import counted, seconds_text
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.walks import operations_named
from pyshardy.timeline.clock import Clock
from pyshardy.timeline.durations import Durations
from pyshardy.timeline.loop_collectives import LoopCollectives, loop_collectives
from pyshardy.timeline.loop_iterations import pipeline_loop
from pyshardy.timeline.memory import memory_of
from pyshardy.timeline.scheduling import Scheduler

_WHILE = "stablehlo.while"
_FEW_TRIPS = 16
"""The number of iterations below which a peeled one is worth its size."""
_MOST_EXTRA = 0.02
"""The part of a loop's time that may be sent in excess where no iteration is peeled."""

Peel = Literal["auto", "true", "false"]


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """The collectives that are moved in a loop.

    Attributes:
        found: its collectives.
        early: the indices of those that are fetched early, among `found.early`.
        late: the indices of those that are completed late, among `found.late`.
        first: whether the first iteration is peeled.
        last: whether the last one is.
        reasons: why the others stay.
        before: the seconds of the loop before.
        after: the seconds of the loop after.
        worth: the exposed seconds per byte of each collective that may be moved.
    """

    found: LoopCollectives
    early: tuple[int, ...] = ()
    late: tuple[int, ...] = ()
    first: bool = False
    last: bool = False
    reasons: Mapping[ir.Operation, str] = field(default_factory=dict[ir.Operation, str])
    before: float = 0.0
    after: float = 0.0
    worth: Mapping[ir.Operation, float] = field(default_factory=dict[ir.Operation, float])

    @property
    def moved(self) -> list[ir.Operation]:
        """The collectives that are moved, the early ones first."""
        early = [self.found.early[index].operation for index in self.early]
        return early + [self.found.late[index].operation for index in self.late]

    def remarks(self) -> list[tuple[ir.Operation, str]]:
        """Return for each collective what happens to it, and why, as the end of a sentence."""
        gain = f"the loop takes {seconds_text(self.after)} instead of {seconds_text(self.before)}"
        peeled = ["first"] * self.first + ["last"] * self.last
        gain += f", the {' and the '.join(peeled)} iteration peeled" if peeled else ""
        late = len(self.early)
        told = [(each, f"is prefetched: {gain}") for each in self.moved[:late]]
        told += [(each, f"is completed an iteration later: {gain}") for each in self.moved[late:]]
        others = [*self.found.others, *self.reasons.items()]
        return told + [(each, f"is not prefetched: {reason}") for each, reason in others]


class LoopPlanner:
    """Plans the loops of a program.

    Args:
        durations: the seconds of its operations.
        peel: whether iterations are peeled; `auto` unless the loop has many iterations, and a body
            of more than `max_peel` operations.
        max_peel: the number of operations of a body that may always be copied.
        reductions: whether sums are completed late.
        min_gain: the part of its time that a loop must gain.
    """

    def __init__(
        self,
        durations: Durations,
        *,
        peel: Peel = "auto",
        max_peel: int = 500,
        reductions: bool = True,
        min_gain: float = 0.02,
    ):
        self._durations, self._table = durations, durations.table
        self._peel: Peel = peel
        self._max_peel, self._reductions, self._min_gain = max_peel, reductions, min_gain

    def plans(self, allowed: Collection[ir.Operation] | None = None) -> list[LoopPlan]:
        """Return a plan for each loop, in the order of the text.

        Args:
            allowed: the collectives that may be moved; None for all.
        """
        table = self._table
        loops = [number for number, name in enumerate(table.names) if name == _WHILE]
        return [self._plan(number, allowed) for number in loops]

    def _plan(self, number: int, allowed: Collection[ir.Operation] | None) -> LoopPlan:
        found = loop_collectives(self._table.operations[number])
        if found.counter is None or not (found.early or found.late):
            return LoopPlan(found)
        body = _Body(self._durations, number)
        trips, peel = found.counter.trips, self._is_peeled(number, found, body)
        early: list[ir.Operation] = []
        for each in found.early:
            if (allowed is None or each.operation in allowed) and {*each.needs} <= {*early}:
                early.append(each.operation)
        late = [
            each.operation
            for each in found.late
            if self._reductions
            and (peel or each.is_written)
            and (allowed is None or each.operation in allowed)
        ]
        before, exposed = body.run([], [])
        best, needed = before * trips, before * trips * (1 - self._min_gain)
        after, first = best, False
        if early:
            after, first = self._seconds(body, found, before, early, [], peel)
            early, best = (early, after) if after <= needed else ([], best)
        if late:
            both, _ = self._seconds(body, found, before, early, late, peel)
            is_better = both <= best * (1 - self._min_gain)
            after = min(after, both)
            late, best = (late, both) if is_better else ([], best)
        why = (
            f"the loop would take {seconds_text(after)} instead of {seconds_text(best)}, "
            f"which gains less than {self._min_gain:.0%}"
        )
        candidates = [each.operation for each in (*found.early, *found.late)]
        return LoopPlan(
            found,
            tuple(index for index, each in enumerate(found.early) if each.operation in early),
            tuple(index for index, each in enumerate(found.late) if each.operation in late),
            peel and bool(late or (early and first)),
            peel and bool(early),
            {each: why for each in candidates if each not in (*early, *late)},
            before * trips,
            best,
            {
                each: exposed.get(body.numbers[each], 0.0) / body.bytes_of(each)
                for each in (*early, *late)
            },
        )

    def _seconds(
        self,
        body: _Body,
        found: LoopCollectives,
        before: float,
        early: Sequence[ir.Operation],
        late: Sequence[ir.Operation],
        peel: bool,
    ) -> tuple[float, bool]:
        """Return the seconds of a loop after, and whether its first iteration should be peeled."""
        assert found.counter is not None, "the loop has a counter"
        trips, (after, _) = found.counter.trips, body.run(early, late)
        whole = body.seconds_of([*early, *late]) + trips * after
        peeled = before + body.seconds_of(late) + (trips - 1) * after
        if not peel:
            return whole, False
        part = 1 - self._min_gain
        is_worth = whole > before * trips * part or peeled <= whole * part
        return (peeled, True) if late or is_worth else (whole, False)

    def _is_peeled(self, number: int, found: LoopCollectives, body: _Body) -> bool:
        if self._peel != "auto":
            return self._peel == "true"
        assert found.counter is not None, "the loop has a counter"
        size = self._table.ends[number] - number
        if found.counter.trips < _FEW_TRIPS or size <= self._max_peel:
            return True
        seconds, _ = body.run([], [])
        extra = body.seconds_of([each.operation for each in found.early])
        return extra >= _MOST_EXTRA * seconds * found.counter.trips


class _Body:
    """The body of a loop, in time.

    Args:
        durations: the seconds of the operations.
        loop: the loop.

    Attributes:
        numbers: the numbers of its collectives.
    """

    def __init__(self, durations: Durations, loop: int):
        self._durations = durations
        self._table = table = durations.table
        self._block = table.blocks_of(loop)[1]
        *_, self._terminator = table.directly_in(self._block)
        self.numbers = {
            table.operations[number]: number
            for number in table.directly_in(self._block)
            if number in durations.transfers
        }

    def bytes_of(self, operation: ir.Operation) -> int:
        """Return the size of the larger one of the operand and the result of a collective."""
        table, number = self._table, self.numbers[operation]
        values = *table.operands[number], *table.results[number]
        return max(1, *(table.sizes[each].nbytes for each in values))

    def seconds_of(self, operations: Sequence[ir.Operation]) -> float:
        """Return the seconds in which collectives send, once."""
        transfers = self._durations.transfers
        return sum(transfers[self.numbers[each]].seconds for each in operations)

    def run(
        self, early: Sequence[ir.Operation], late: Sequence[ir.Operation]
    ) -> tuple[float, dict[int, float]]:
        """Return the seconds of an iteration, and the exposed ones of each of its collectives."""
        operands = self._operands(
            [self.numbers[each] for each in early], [self.numbers[each] for each in late]
        )
        durations = self._durations.with_operands(operands)
        scheduler = Scheduler(durations)
        scheduler.schedule_within(self._block)
        clock = Clock(durations, scheduler.orders)
        seconds = clock.run(self._block, 1)
        return seconds, {each.number: each.exposed for each in clock.running if each.transfer}

    def _operands(self, early: Sequence[int], late: Sequence[int]) -> Sequence[Sequence[int]]:
        """Return the operands of the body after: carried values are negative numbers."""
        table = self._table
        operands = list(table.operands)
        carried = {table.results[number][0]: -1 - number for number in early}
        fetching = self._fetching(early)
        for number in self._block.inside:
            if number not in fetching and any(each in carried for each in operands[number]):
                operands[number] = [carried.get(each, each) for each in operands[number]]
        unfinished = [operands[number][0] for number in late]
        for number in late:
            operands[number] = (-1 - number,)
        operands[self._terminator] = [*operands[self._terminator], *carried, *unfinished]
        return operands

    def _fetching(self, early: Sequence[int]) -> set[int]:
        """Return the operations from which operands of early collectives are computed."""
        table = self._table
        makers = {
            result: number
            for number in table.directly_in(self._block)
            for result in table.results[number]
        }
        found, waiting = set(early), list(early)
        while waiting:
            for operand in table.operands[waiting.pop()]:
                maker = makers.get(operand)
                if maker is not None and maker not in found:
                    found.add(maker)
                    waiting.append(maker)
        return found


def plans_within(planner: LoopPlanner, module: ir.Module, limit: float) -> Sequence[LoopPlan]:
    """Return plans with which the peak memory is within a limit.

    Args:
        planner: what plans the loops.
        module: the program.
        limit: the memory in bytes.
    """
    plans = planner.plans()
    worth = {each: value for plan in plans for each, value in plan.worth.items()}
    missing = _peak(module, plans) - limit if worth else 0
    if missing <= 0:
        return plans
    order = sorted(worth, key=lambda each: -worth[each])
    fewer, least, most = planner.plans(()), 0, len(order)
    while least + 1 < most:
        middle = (least + most) // 2
        tried = planner.plans(order[:middle])
        if _peak(module, tried) <= limit:
            fewer, least = tried, middle
        else:
            most = middle
    why = f"no memory: needs {counted(math.ceil(missing), 'byte')} more"
    staying = dict.fromkeys(order[least:], why)
    return [
        replace(
            plan, reasons={each: staying.get(each, plan.reasons[each]) for each in plan.reasons}
        )
        for plan in fewer
    ]


def _peak(module: ir.Module, plans: Sequence[LoopPlan]) -> int:
    """Return the peak memory of a program whose loops are pipelined."""
    copy = copy_of(module)
    carry_out(copy, plans)
    return memory_of(copy).peak


def carry_out(module: ir.Module, plans: Sequence[LoopPlan]) -> None:
    """Pipeline the loops of a program.

    Args:
        module: the program that has been planned, or a copy of it.
        plans: a plan for each loop, in the order of the text.
    """
    loops = operations_named({_WHILE}, module)
    chosen = [
        (plan, loop_collectives(loop))
        for plan, loop in zip(plans, loops, strict=True)
        if plan.early or plan.late
    ]
    for plan, found in reversed(chosen):  # inner loops first
        early = [found.early[index] for index in plan.early]
        late = [found.late[index] for index in plan.late]
        pipeline_loop(found, early, late, first=plan.first, last=plan.last)
