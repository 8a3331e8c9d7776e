# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that compute constants from constants."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.host import ir
from mlir_sdy.op_classes import view_as
from pyshardy.irtools.call_graph import CallGraph
from pyshardy.irtools.functions import has_static_shape, original_name
from pyshardy.irtools.stablehlo_views import callee_of
from pyshardy.propagation.elementwise import (
    ELEMENTWISE_IF_SHAPES_EQUAL,
    ELEMENTWISE_OPERATIONS,
)

CONSTANTS = frozenset({"sdy.constant", "stablehlo.iota"})
"""The operations with which constant expressions begin."""

BROADCAST = "stablehlo.broadcast_in_dim"
NAMED_COMPUTATION = "sdy.named_computation"
SHARDING_GROUP = "sdy.sharding_group"

# Constraints are not copied.
_PRESERVING = ELEMENTWISE_OPERATIONS - {"sdy.sharding_constraint"} | {
    BROADCAST,
    "stablehlo.reshape",
    "stablehlo.slice",
}
_ALLOWED_IN_BODIES = CONSTANTS | {
    SHARDING_GROUP,
    "func.return",
    "sdy.return",
    "stablehlo.return",
}


class ConstantExpressions:
    """Determines the operations of a module that compute constants from constants.

    1. Element-wise operations, broadcasts, reshapes and slices do, if they can't fail: operations
       on several operands of dynamic shape fail if their sizes differ.
    2. Named computations and calls do, if their body has only such operations, constants and
       sharding groups. Bodies must have been passed to a `learn` method before; computations of one
       name, and functions of one original name, must all be such.
    3. No other operations do. Calls of declarations, for example, may have any effect.
    """

    def __init__(self, graph: CallGraph):
        self._original_names = {
            name: original_name(function) for name, function in graph.functions.items()
        }
        self._learned: set[str] = set()
        self._other_functions: set[str] = set()
        self._other_computations: set[str] = set()
        self._called = {
            self._original_names.get(callee_of(call))
            for calls in graph.calls.values()
            for call in calls
        }

    def learn_function(self, name: str, function: ir.Operation) -> None:
        """Determine whether the function of that name computes constants from constants."""
        original = self._original_names[name]
        if original in self._called and not self._is_constant(function.regions[0]):
            self._other_functions.add(original)
        self._learned.add(name)  # last: a function that calls itself is not constant

    def learn_computation(self, computation: ir.Operation) -> None:
        """Determine whether a named computation computes constants from constants."""
        if not self._is_constant(computation.regions[0]):
            self._other_computations.add(_name_of(computation))

    def preserves(self, operation: ir.Operation) -> bool:
        """Whether an operation computes constants from constants."""
        name = operation.name
        if name in _PRESERVING:
            operands = operation.operands
            return len(operands) < 2 or all(has_static_shape(operand.type) for operand in operands)
        if name == "func.call":
            callee = callee_of(operation)
            return (
                callee in self._learned
                and self._original_names[callee] not in self._other_functions
            )
        if name == NAMED_COMPUTATION:
            return _name_of(operation) not in self._other_computations
        if name == ELEMENTWISE_IF_SHAPES_EQUAL:
            shapes = [
                ir.ShapedType(value.type).shape
                for value in (operation.operands[0], operation.results[0])
            ]
            return shapes[0] == shapes[1]
        return False

    def _is_constant(self, body: ir.Region) -> bool:
        # Other operations with regions don't, so their regions are skipped.
        return all(
            view.operation.name in _ALLOWED_IN_BODIES or self.preserves(view.operation)
            for block in body.blocks
            for view in block.operations
        )


def _name_of(computation: ir.Operation) -> str:
    return view_as(sdy.NamedComputationOp, computation).name.value
