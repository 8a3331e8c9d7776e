# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What operations have in common whose forms on shards are alike."""

from __future__ import annotations

from collections.abc import Hashable

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.dot_result import DOT_OPERATIONS
from pyshardy.partition.monoids import combining_operations
from pyshardy.rules import ShardingRuleLookup


class FormKeys:
    """Keys of operations: those with equal keys have the same form for the same shardings.

    1. The form depends on the rule of an operation, and on nothing else, if that lets all factors
       pass, or is the rule of a matrix product, which is always completed by a sum.
    2. A `stablehlo.reduce` is completed by what its body combines values by, as well.
    3. What permutes, and whatever else reduces, has a form of its own each time, and no key.

    Args:
        rules: finds sharding rules.
    """

    def __init__(self, rules: ShardingRuleLookup):
        self._rules = rules
        self._go_by_rule: dict[Hashable, bool] = {}

    def key(self, operation: ir.Operation, name: str) -> Hashable | None:
        """The key of an operation of a name; None if it has none."""
        key = self._rules.rule_key(operation, name)
        if key is None:
            return None
        if name == "stablehlo.reduce":
            combining = combining_operations(operation.regions[0].blocks[0])
            return None if combining is None else (key, combining)
        goes_by_rule = self._go_by_rule.get(key)
        if goes_by_rule is None:
            goes_by_rule = _goes_by_rule(name, self._rules.rule(operation))
            self._go_by_rule[key] = goes_by_rule
        return key if goes_by_rule else None


def _goes_by_rule(name: str, rule: OpShardingRule | None) -> bool:
    return (
        rule is None
        or name in DOT_OPERATIONS
        or not (rule.reduction_factors or rule.permutation_factors or rule.need_replication_factors)
    )
