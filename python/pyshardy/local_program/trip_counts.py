# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The number of executions of the operations of a program."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.loops import trip_count
from pyshardy.irtools.stablehlo_views import callee_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.local_program.entry import ENTRY
from pyshardy.local_program.segments import CALLS

_WHILE = "stablehlo.while"


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
            for call in operations_named(CALLS, function):
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
