# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The values of a block whose collectives can run late, beside other computation.

Such a value isn't needed before the end of the block: all its users are elementwise operations,
operations that move elements, sums, updates and functions of these, whose results aren't needed
before either, and the end itself. In the program around loops, there is also a product or a loop
after it. Examples are gradients of weights, which an optimizer changes and the program returns, and
those of a layer, which a loop writes into its stacked gradients or adds up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in, terminator_of
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_ADD, _CALL, _UPDATE = "stablehlo.add", "func.call", "stablehlo.dynamic_update_slice"
_LIGHT = {
    *ELEMENTWISE_OPERATIONS,
    *(f"stablehlo.{name}" for name in ("broadcast_in_dim", "concatenate", "pad", "reduce")),
    *(f"stablehlo.{name}" for name in ("reshape", "reverse", "slice", "transpose")),
    "sdy.sharding_constraint",
    _UPDATE,
}

HEAVY = frozenset(
    {
        *("chlo.ragged_dot", "stablehlo.convolution", "stablehlo.dot"),
        *("stablehlo.dot_general", "stablehlo.while"),
    }
)
"""The operations beside which communication can run."""


class LateValues:
    """Finds values that aren't needed before the end of a block.

    Args:
        functions: the functions of the program by name.
    """

    def __init__(self, functions: Mapping[str, ir.Operation]):
        self._functions = functions
        self._light: dict[str, bool] = {}

    def of(self, block: ir.Block, is_late: Sequence[bool], *, is_followed: bool) -> set[ir.Value]:
        """Return the results of operations of a block that aren't needed before its end.

        Args:
            block: the block.
            is_late: for each value that it returns whether it isn't needed soon after the end.
            is_followed: whether computation follows, as that of another iteration.
        """
        found: set[ir.Value] = set()
        followed: set[ir.Value] = set()
        if not any(is_late):
            return found
        end = terminator_of(block)
        for view in reversed([*block.operations][:-1]):
            operation = view.operation
            for result in operation.results:
                uses = list(result.uses)
                if uses and all(
                    is_late[use.operand_number]
                    if (user := use.owner.operation) == end
                    else self._is_light(user) and all(each in found for each in user.results)
                    for use in uses
                ):
                    found.add(result)
                    if is_followed:
                        followed.add(result)
            is_followed = is_followed or operation.name in HEAVY
        return followed

    def is_only_written(self, argument: ir.Value) -> bool:
        """Whether an iteration only writes to a value that a loop carries, or adds to it."""
        for use in argument.uses:
            user = use.owner.operation
            if user.name == _UPDATE:
                if use.operand_number:
                    return False
            elif user.name != _ADD and not (user.name == _CALL and self._is_light(user)):
                return False
        return True

    def _is_light(self, operation: ir.Operation) -> bool:
        """Whether an operation changes or moves elements only, as those of a light function do."""
        if operation.name != _CALL:
            return operation.name in _LIGHT
        name = callee_of(operation)
        if name not in self._light:
            inside = operations_in(self._functions[name]) if name in self._functions else ()
            self._light[name] = all(
                self._is_light(each.operation) if each.name == _CALL else each.name not in HEAVY
                for each in inside
            )
        return self._light[name]
