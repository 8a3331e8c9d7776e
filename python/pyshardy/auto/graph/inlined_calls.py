# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The calls that the partitioner will inline, whose arguments are no values of their own.

The program has a copy of a function for each call. Copies with equal shardings become one function
again after propagation, so that only a function that is called once, or that has few operations,
is inlined for certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.irtools.functions import original_name
from pyshardy.irtools.inlining import MOST_OPERATIONS, can_be_inlined, must_stay
from pyshardy.irtools.stablehlo_views import callee_of


class InlinedCalls:
    """Finds the calls that are inlined.

    Args:
        functions: the functions of the program by their names, each of which is called once.
    """

    def __init__(self, functions: Mapping[str, ir.Operation]) -> None:
        self._functions = functions
        self._copies = Counter(map(original_name, functions.values()))

    def replaces(self, call: ir.Operation, function: ir.Operation) -> bool:
        """Whether the partitioner replaces a call by the body of its function."""
        if not can_be_inlined(function) or must_stay(call):
            return False
        return (
            self._copies[original_name(function)] == 1
            or self._count(function, MOST_OPERATIONS) <= MOST_OPERATIONS
        )

    def _count(self, function: ir.Operation, most: int) -> int:
        """Return the operations of a function and of those it calls, or a number above `most`."""
        count = -2  # without the function itself and its terminator
        for operation, name in named_operations_in(function):
            count += 1
            if count > most:
                break
            if name == "func.call":
                callee = self._functions.get(callee_of(operation))
                count += 0 if callee is None else self._count(callee, most - count)
        return count
