# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules as attributes of operations: writing and removing them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import ir
from pyshardy.propagation.relation import Relation
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
        conservative_propagation: whether rules leave dimensions alone that windows and padding
            move over.
        compatible: whether to leave out the rules of operations that C++ Shardy does not know.

    Raises:
        PassError: a rule does not fit its operation.
    """
    lookup = ShardingRuleLookup(conservative=conservative_propagation, compatible=compatible)
    cache = AttributeCache(function.context)
    for operation in _operations_in(function):
        if SHARDING_RULE not in operation.attributes:
            rule = lookup.rule(operation)
            if rule is not None:
                operation.attributes[SHARDING_RULE] = cache[rule]


def drop_rules(operations: Iterable[ir.Operation]) -> None:
    """Remove the sharding rule of each operation, unless a user gave it."""
    for operation in operations:
        attributes = operation.attributes
        if SHARDING_RULE in attributes and not value_of(attributes[SHARDING_RULE]).is_custom_rule:
            del attributes[SHARDING_RULE]


def keep_rules(
    operations: Iterable[tuple[int, ir.Operation]],
    relations: Sequence[Relation | None],
    cache: AttributeCache,
) -> None:
    """Give each operation, which comes with its number, the rule that it was propagated by."""
    for number, operation in operations:
        relation = relations[number]
        if relation is not None and relation.is_of_rule:
            operation.attributes[SHARDING_RULE] = cache[relation.family.rule]


def _operations_in(function: ir.Operation | ir.OpView) -> list[ir.Operation]:
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found
