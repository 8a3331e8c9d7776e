# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules as attributes of operations: finding, writing and removing them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir_sdy.attribute_search import operations_with
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from pyshardy.irtools.analyses import is_computed, module_analysis
from pyshardy.propagation.relation import Relation
from pyshardy.rules import SHARDING_RULE


def _is_left(known: bool, current: bool) -> bool:
    return known or not current


@module_analysis("sharding-rules", holds=_is_left)
def has_rules(module: ir.Operation) -> bool:
    """Whether an operation in a module may have its rule as an attribute.

    The analysis holds after passes that erase operations, or remove the attribute.
    """
    return bool(operations_with(SHARDING_RULE, module))


def may_have_rules(module: ir.Operation) -> bool:
    """Whether operations may have rules, without a look at them: True if it isn't known."""
    return not is_computed("sharding-rules", module) or has_rules(module)


def drop_rules(operations: Iterable[ir.Operation]) -> None:
    """Remove the sharding rule of each operation, unless a user gave it."""
    for operation in operations:
        rule = get_discardable(operation, SHARDING_RULE)
        if rule is not None and not value_of(rule).is_custom_rule:
            remove_discardable(operation, SHARDING_RULE)


def keep_rules(
    operations: Iterable[tuple[int, ir.Operation]],
    relations: Sequence[Relation | None],
    cache: AttributeCache,
) -> None:
    """Give each operation, which comes with its number, the rule that it was propagated by."""
    for number, operation in operations:
        relation = relations[number]
        if relation is not None and relation.is_of_rule:
            set_discardable(operation, SHARDING_RULE, cache[relation.family.rule])
