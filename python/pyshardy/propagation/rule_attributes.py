# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules as attributes of operations: writing and removing them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from pyshardy.propagation.relation import Relation
from pyshardy.rules import SHARDING_RULE


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
