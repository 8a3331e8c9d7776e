# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops whose collectives run beside another iteration than their own.

With T iterations, a collective `fetch(i)` that is early and a sum `sum(x)` that is late:

    f = fetch(0)
    first iteration, uses f and makes x, without the sum           // if it is peeled
    f = fetch(1)
    while i < T - 1 carrying (.., f, x):
        start fetch(i + 1); start sum(x)
        .. body, uses f and makes x' ..
        done of both; write the sum to the place of iteration i - 1
        return (.., f', x')
    last iteration, uses f; write the sum of the one before        // if it is peeled
    write sum(x)

If the last iteration isn't peeled, it fetches for itself again. If the first one isn't, it writes
the sum of zeros to its own place, which the second one overwrites. A loop of which at most one
iteration is left becomes straight code.

All iterations are copies of the body. What is inserted has the location of what it replaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in, terminator_of
from mlir_sdy.uses import defining_operation, operands_inside, replace_by
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import COLLECTIVES
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.communication import PEELED
from pyshardy.timeline.async_collectives import await_result, start_copy
from pyshardy.timeline.loop_collectives import BARRIER, CHEAP, Early, Late, LoopCollectives

_WHILE = "stablehlo.while"
_SHARDING = "sdy.sharding"

_Values = dict[ir.Value, ir.Value]
"""Values of the body, and what stands for them in a copy."""


def pipeline_loop(
    found: LoopCollectives,
    early: Sequence[Early],
    late: Sequence[Late],
    *,
    first: bool,
    last: bool,
) -> None:
    """Replace a loop by one in which collectives run beside another iteration.

    Args:
        found: the collectives of the loop, which has at least 2 iterations.
        early: those to fetch early, with those that they need.
        late: those to complete late; if the first iteration isn't peeled, only such as are written.
        first: whether to peel the first iteration.
        last: whether to peel the last iteration.
    """
    _Pipelined(found, early, late).build(first=first, last=last)


@dataclass(slots=True, eq=False)
class _State:
    """The values that go from an iteration to the next one.

    Attributes:
        carried: what the loop carries.
        fetched: the results of the early collectives.
        waiting: what the late sums of the iteration before are of.
    """

    carried: list[ir.Value]
    fetched: list[ir.Value]
    waiting: list[ir.Value]


class _Pipelined:
    """The rewriting of one loop."""

    def __init__(self, found: LoopCollectives, early: Sequence[Early], late: Sequence[Late]):
        assert found.counter is not None, "only loops with a counter are pipelined"
        self._loop, self._counter = found.loop, found.counter
        self._body = found.loop.regions[1].blocks[0]
        self._early = [each.operation for each in early]
        self._late = late
        self._is_in_loop, self._counted = False, set[ir.Operation]()
        self._build = StablehloBuilder()
        self._returned = list(terminator_of(self._body).operands)
        self._kept, self._read = self._operations_to_copy()
        self._carried = [each for each in self._early if each.results[0] in self._read]

    def _operations_to_copy(self) -> tuple[list[ir.Operation], set[ir.Value]]:
        """Return the operations that aren't moved and are needed, and the values that are read."""
        written = {each.index for each in self._late}
        read = {value for index, value in enumerate(self._returned) if index not in written}
        read.update(each.operation.operands[0] for each in self._late)
        moved = {*self._early, *(each.operation for each in self._late)}
        moved.update(operation for each in self._late for operation in each.tail)
        operations = [view.operation for view in self._body.operations][:-1]
        kept: list[ir.Operation] = []
        for operation in reversed(operations):
            if operation in moved:
                continue
            if operation.name not in CHEAP or any(each in read for each in operation.results):
                kept.append(operation)
                if operation.name == BARRIER:
                    pairs = zip(operation.operands, operation.results, strict=True)
                    read.update(operand for operand, result in pairs if result in read)
                else:
                    read.update(operands_inside(operation))
        return kept[::-1], read

    # --- The new loop -----------------------------------------------------------------------------

    def build(self, *, first: bool, last: bool) -> None:
        """Replace the loop."""
        loop, counter = self._loop, self._counter
        with loop.location, ir.InsertionPoint(loop):
            left = range(int(first), counter.trips - last)
            is_loop_left = len(left) > (1 if first else 0)
            if is_loop_left:
                self._counted.update(operations_named(COLLECTIVES, loop))
            carried = list(loop.operands)
            state = _State(carried, self._fetch(carried), [])
            if first:
                self._peel(state, 0)
            elif self._late:
                kinds = [each.operation.operands[0].type for each in self._late]
                state.waiting = [self._build.splat(kind, 0) for kind in kinds]
            if is_loop_left:
                state = self._new_loop(state, first=first, last=last)
            elif left:
                self._peel(state, 1)
            if last:
                state.carried[counter.index] = self._number(counter.last)
                self._peel(state, counter.trips - 1)
            results = [*state.carried]
            for late, value in zip(self._late, state.waiting, strict=True):
                state.carried[counter.index] = self._number(counter.last)
                results[late.index] = self._write(late, self._summed(late, value), state.carried)
        replace_by(loop, *results)

    def _peel(self, state: _State, number: int) -> None:
        """Copy an iteration, by its number from 0, and fetch for the next one."""
        start, step = self._counter.start, self._counter.step
        sums, before = list[ir.Value](), None
        if number and self._late:
            before = self._number(start + (number - 1) * step)
            sums = [*map(self._summed, self._late, state.waiting)]
        state.carried, state.waiting = self._iteration(state, sums, before)
        if number + 1 < self._counter.trips:
            state.carried[self._counter.index] = self._number(start + (number + 1) * step)
            state.fetched = self._fetch(state.carried)

    def _new_loop(self, state: _State, *, first: bool, last: bool) -> _State:
        """Build the loop of the iterations that aren't peeled."""
        loop = self._loop
        operands = [*state.carried, *state.fetched, *state.waiting]
        locations = [each.location for each in self._body.arguments]
        locations += [each.location for each in self._carried]
        locations += [each.operation.location for each in self._late]
        kinds = [each.type for each in operands]
        attributes = {name: each for name, each in loop.attributes.items() if name != _SHARDING}
        made = self._build.create(_WHILE, operands, kinds, attributes, regions=2)
        self._is_in_loop = True
        condition, body = (each.blocks.append(*kinds, arg_locs=locations) for each in made.regions)
        with ir.InsertionPoint(condition):
            self._fill_condition(condition, last)
        with ir.InsertionPoint(body):
            self._fill_body(self._state_of(body.arguments), first=first, last=last)
        self._is_in_loop = False
        return self._state_of(made.results)

    def _state_of(self, values: Sequence[ir.Value]) -> _State:
        count, every = len(self._body.arguments), list(values)
        more = count + len(self._carried)
        return _State(every[:count], every[count:more], every[more:])

    def _fill_condition(self, block: ir.Block, is_last_peeled: bool) -> None:
        """Copy the condition; if the last iteration is peeled, it ends a step before."""
        old = self._loop.regions[0].blocks[0]
        values: _Values = dict(zip(old.arguments, block.arguments, strict=False))
        compare = defining_operation(terminator_of(old).operands[0])
        for view in old.operations:
            copy = self._copied(view.operation, values)
            if is_last_peeled and view.operation == compare:
                with ir.InsertionPoint(copy), copy.location:
                    copy.operands[1] = self._number(self._counter.end - self._counter.step)

    def _fill_body(self, state: _State, *, first: bool, last: bool) -> None:
        counter, carried = self._counter, state.carried
        now, step = carried[counter.index], self._number(counter.step)
        sums = [*map(start_copy, (late.operation for late in self._late), state.waiting)]
        ahead = [*carried]
        if self._early:
            ahead[counter.index] = self._build.binary("add", now, step)
            if not last:
                end = self._number(counter.last)
                ahead[counter.index] = self._build.binary("minimum", ahead[counter.index], end)
        starts = self._fetch(ahead, is_asynchronous=True)
        before = now
        if self._late and not first:
            second = self._number(counter.start + counter.step)
            before = self._build.binary("maximum", before, second)
        if self._late:
            before = self._build.binary("subtract", before, step)
        returned, unfinished = self._iteration(state, sums, before)
        finished = [await_result(each) for each in starts]
        self._build.return_values([*returned, *finished, *unfinished])

    def _number(self, number: int) -> ir.Value:
        """Build a value of the counter."""
        return self._build.splat(self._body.arguments[self._counter.index].type, number)

    # --- Copies of the body -----------------------------------------------------------------------

    def _fetch(
        self, carried: Sequence[ir.Value], *, is_asynchronous: bool = False
    ) -> list[ir.Value]:
        """Copy the early collectives for an iteration, and return the results of the carried ones.

        Args:
            carried: what the loop carries in this iteration.
            is_asynchronous: whether to start the carried ones only, and return the futures.
        """
        values = self._arguments(carried)
        starts: _Values = {}
        for operation in self._early:
            operand = self._known(operation.operands[0], values, starts)
            if is_asynchronous:
                starts[operation.results[0]] = start_copy(operation, operand)
            else:
                values[operation.results[0]] = self._copied(operation, values).results[0]
        return [(starts or values)[each.results[0]] for each in self._carried]

    def _known(
        self, value: ir.Value, values: _Values, starts: Mapping[ir.Value, ir.Value]
    ) -> ir.Value:
        """Copy what computes a value that is known ahead, and return the copy."""
        waiting = [value]
        while waiting:
            last = waiting[-1]
            maker = defining_operation(last)
            if last in values or maker is None or maker.block != self._body:
                waiting.pop()
                continue
            if last in starts:
                values[last] = await_result(starts[last])
                continue
            operands = list(maker.operands)
            if maker.name == BARRIER:
                operands = [maker.operands[ir.OpResult(last).result_number]]
            missing = [each for each in operands if each not in values and _is_in(each, self._body)]
            if missing:
                waiting += missing
            elif maker.name == BARRIER:
                values[last] = values.get(operands[0], operands[0])
            else:
                self._copied(maker, values)
        return values.get(value, value)

    def _iteration(
        self, state: _State, sums: Sequence[ir.Value], before: ir.Value | None
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """Copy the body.

        Args:
            state: what goes into the iteration.
            sums: the late sums of the iteration before: the values, or the futures.
            before: the counter of the iteration before, if there are sums.

        Returns:
            What the loop carries out of it, without its own late sums, and what these are of.
        """
        values = self._arguments(state.carried)
        values.update(zip((each.results[0] for each in self._carried), state.fetched, strict=True))
        for operation in self._kept:
            if operation.name == BARRIER:
                self._copy_barrier(operation, values)
            else:
                self._copied(operation, values)
        returned = [values.get(each, each) for each in self._returned]
        operands = [late.operation.operands[0] for late in self._late]
        past = [*state.carried]
        if before is not None:
            past[self._counter.index] = before
        for late in self._late:
            returned[late.index] = state.carried[late.index]
        for late, value in zip(self._late, sums, strict=False):
            returned[late.index] = self._write(late, await_result(value), past)
        return returned, [values.get(each, each) for each in operands]

    def _copy_barrier(self, operation: ir.Operation, values: _Values) -> None:
        """Copy a barrier for the results that are read."""
        pairs = [
            (values.get(operand, operand), result)
            for operand, result in zip(operation.operands, operation.results, strict=True)
            if result in self._read
        ]
        if pairs:
            with operation.location:
                made = self._build.optimization_barrier([operand for operand, _ in pairs])
            values.update(zip((result for _, result in pairs), made, strict=True))

    def _summed(self, late: Late, value: ir.Value) -> ir.Value:
        return self._copied(late.operation, {late.operation.operands[0]: value}).results[0]

    def _write(self, late: Late, value: ir.Value, carried: Sequence[ir.Value]) -> ir.Value:
        """Copy what is done with a sum, and return the value that it is written to.

        Args:
            late: the collective.
            value: the sum.
            carried: what the loop carries in the iteration that the sum belongs to, with the value.
        """
        values = self._arguments(carried)
        values[late.operation.results[0]] = value
        for operation in late.tail:
            for operand in operation.operands:
                self._known(operand, values, {})
            self._copied(operation, values)
        return values[late.tail[-1].results[0]]

    def _copied(self, operation: ir.Operation, values: _Values) -> ir.Operation:
        """Copy an operation here with other operands, and note its results.

        Of the copies of a collective, all but one are marked: that in the loop, or the first one.
        """
        copy = operation.clone().operation
        for original, each in zip(operations_in(operation), operations_in(copy), strict=True):
            for index, operand in enumerate(each.operands):
                if operand in values:
                    each.operands[index] = values[operand]
            if not self._is_in_loop and each.operation.name in COLLECTIVES:
                if original.operation in self._counted:
                    set_discardable(each.operation, PEELED, ir.UnitAttr.get())
                self._counted.add(original.operation)
        values.update(zip(operation.results, copy.results, strict=True))
        return copy

    def _arguments(self, carried: Sequence[ir.Value]) -> _Values:
        return dict(zip(self._body.arguments, carried, strict=True))


def _is_in(value: ir.Value, block: ir.Block) -> bool:
    maker = defining_operation(value)
    return maker is not None and maker.block == block
