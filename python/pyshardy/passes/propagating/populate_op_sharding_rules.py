# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-populate-op-sharding-rules`: write sharding rules as attributes."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import ir
from pyshardy.rules import SHARDING_RULE, ShardingRuleLookup


def populate_op_sharding_rules(
    function: ir.Operation | ir.OpView,
    *,
    conservative_propagation: bool = False,
    compatible: bool = False,
) -> None:
    """Give each operation of a function that has no rule the registered one.

    Args:
        function: the function, which is changed in place.
        conservative_propagation: whether rules omit dimensions of windows and padding.
        compatible: whether to leave out the rules of operations that C++ Shardy does not know.

    Raises:
        PassError: a rule does not fit its operation.
    """
    lookup = ShardingRuleLookup(conservative=conservative_propagation, compatible=compatible)
    cache = AttributeCache(function.context)
    for operation in _operations_in(function):
        if not has_discardable(operation, SHARDING_RULE):
            rule = lookup.rule(operation)
            if rule is not None:
                set_discardable(operation, SHARDING_RULE, cache[rule])


def _operations_in(function: ir.Operation | ir.OpView) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
