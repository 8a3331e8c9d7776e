# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trip counts of loops, and the number of executions of operations."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.traversal import terminator_of
from mlir_sdy.uses import defining_operation
from pyshardy.irtools.constants import uniform_element
from pyshardy.irtools.functions import ENTRY
from pyshardy.irtools.stablehlo_views import CompareView, callee_of, symbol_name
from pyshardy.irtools.walks import operations_named

_CONSTANTS = frozenset({"stablehlo.constant", "sdy.constant"})
_COUNTING = {"LT": 0, "LE": 1}
_WHILE = "stablehlo.while"


@dataclass(frozen=True, slots=True)
class Counter:
    """The counter of a loop: the value that its condition compares with a constant.

    Attributes:
        index: its index among the values that the loop carries.
        start: its first value.
        step: what each iteration adds to it; positive.
        end: the constant.
        trips: the number of iterations.
    """

    index: int
    start: int
    step: int
    end: int
    trips: int

    @property
    def last(self) -> int:
        """Its value in the last iteration."""
        return self.start + (self.trips - 1) * self.step


def loop_counter(loop: ir.Operation) -> Counter | None:
    """Return the counter of a `stablehlo.while`; None if its number of iterations isn't known.

    1. The condition compares a loop-carried value with a constant, by LT or LE.
    2. The value starts as a constant, and each iteration adds the same constant to it.

    `while(%i = 2) : %i < 9` with `%i + 3` runs its body for 2, 5 and 8: 3 times.
    """
    condition, body = (region.blocks[0] for region in loop.regions)
    compare = defining_operation(_returned(condition)[0])
    if compare is None or compare.name != "stablehlo.compare":
        return None
    direction = CompareView(compare).comparison_direction
    counter = compare.operands[0]
    if direction not in _COUNTING or counter not in list(condition.arguments):
        return None
    index = ir.BlockArgument(counter).arg_number
    add = defining_operation(_returned(body)[index])
    if add is None or add.name != "stablehlo.add" or add.operands[0] != body.arguments[index]:
        return None
    start = _number(loop.operands[index], loop)
    end = _number(compare.operands[1], loop)
    step = _number(add.operands[1], loop)
    if start is None or end is None or step is None or step <= 0:
        return None
    trips = max(0, -((start - end - _COUNTING[direction]) // step))
    return Counter(index, start, step, end, trips)


def trip_count(loop: ir.Operation) -> int | None:
    """Return the number of iterations of a `stablehlo.while`; None if it is not known."""
    counter = loop_counter(loop)
    return None if counter is None else counter.trips


def least_trips(loop: ir.Operation) -> int:
    """Return the number of iterations of a `stablehlo.while`, at least 1; 2 if it is not known."""
    counted = trip_count(loop)
    return 2 if counted is None else max(counted, 1)


def carries_unchanged(loop: ir.Operation, index: int) -> bool:
    """Whether each iteration of a `stablehlo.while` returns a value as it got it."""
    body = loop.regions[1].blocks[0]
    return terminator_of(body).operands[index] == body.arguments[index]


def _returned(block: ir.Block) -> list[ir.Value]:
    return list(terminator_of(block).operands)


def _number(value: ir.Value, loop: ir.Operation) -> int | None:
    """Return the constant integer of a scalar, also if a loop carries it unchanged, or None."""
    if isinstance(value, ir.BlockArgument):
        if value.owner.owner.operation != loop:
            return None
        index = value.arg_number
        if not carries_unchanged(loop, index):
            return None
        value = loop.operands[index]
    number = uniform_element(value)
    return number.value if isinstance(number, ir.IntegerAttr) else None


class Repetitions:
    """The number of executions of the operations of a program in one run.

    1. An operation in a function is executed once for each call of the function.
    2. An operation in the body of a loop is executed once per iteration; in its condition, once
       more. The trip count is known if a counter runs from a constant to a constant (`trip_count`).
    3. Branches count as taken.

    Args:
        module: the program, entered at `@main`.
    """

    def __init__(self, module: ir.Module):
        self._functions = {
            symbol_name(view.operation): view.operation
            for view in module.body.operations
            if view.operation.name == "func.func"
        }
        self._calls: dict[str, list[ir.Operation]] = {name: [] for name in self._functions}
        for function in self._functions.values():
            for call in operations_named({"func.call"}, function):
                self._calls.setdefault(callee_of(call), []).append(call)
        self._of_functions: dict[str, int | None] = {}
        self._of_blocks: dict[ir.Block, int | None] = {}

    def of(self, operation: ir.Operation) -> int | None:
        """Return the number of executions of an operation; None if unknown."""
        block = operation.block
        if block not in self._of_blocks:
            self._of_blocks[block] = self._in_block_of(operation)
        return self._of_blocks[block]

    def _in_block_of(self, operation: ir.Operation) -> int | None:
        count: int | None = 1
        inner = operation
        while (parent := inner.parent) is not None and parent.name != "func.func":
            outer = parent.operation
            if outer.name == _WHILE:
                count = _times(count, _trips_of_region(outer, inner))
            inner = outer
        if parent is None:
            return count
        return _times(count, self._of_function(symbol_name(parent.operation)))

    def _of_function(self, name: str) -> int | None:
        if name not in self._of_functions:
            self._of_functions[name] = None  # the depth of a recursion is unknown
            count: int | None = 1 if name == ENTRY else 0
            for call in self._calls[name]:
                once = self.of(call)
                count = None if count is None or once is None else count + once
            self._of_functions[name] = count
        return self._of_functions[name]


def _trips_of_region(loop: ir.Operation, inner: ir.Operation) -> int | None:
    trips = trip_count(loop)
    if trips is not None and inner.block == loop.regions[0].blocks[0]:
        return trips + 1
    return trips


def _times(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first * second
