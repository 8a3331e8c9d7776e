# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding something once for all operations whose forms on shards are alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, TensorSharding
from pyshardy.partition.compatibility.dot_result import DOT_OPERATIONS
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.operation_view import OperationView

Found = TypeVar("Found")
Shardings = tuple[TensorSharding | None, ...]

_REDUCE = "stablehlo.reduce"


class SignatureMemo(Generic[Found]):
    """What depends on nothing but the form of an operation and how its tensors are sharded.

    1. The form depends on the rule of an operation, and on nothing else, if that lets all factors
       pass, or is the rule of a matrix product, which is always completed by a sum.
    2. A `stablehlo.reduce` is completed by what its body combines values by, as well.
    3. What permutes, and whatever else reduces, has a form of its own each time.

    Args:
        rules: finds sharding rules.
    """

    def __init__(self, rules: ShardingRuleLookup):
        self._rules = rules
        self._goes_by_rule: dict[Hashable, bool] = {}
        # With the shardings: what is kept here is not taken for something else.
        self._found: dict[Hashable, tuple[Shardings, Found]] = {}

    def of(
        self,
        known: OperationView,
        shardings: Shardings,
        find: Callable[[ir.Operation, Shardings], Found],
    ) -> Found:
        """What `find` says of an operation, asked once for all of its form and shardings.

        Args:
            known: the operation.
            shardings: those of its operands, then results. They are told apart by identity, as
                most are those of attributes, made once for each.
            find: is asked.
        """
        operation = known.operation
        rule_key = self._rules.rule_key(known)
        if rule_key is None:
            return find(operation, shardings)
        combining = None
        if known.name == _REDUCE:
            combining = combining_operations(operation.regions[0].blocks[0])
            if combining is None:
                return find(operation, shardings)
        key = (*rule_key, combining, *map(id, shardings))
        before = self._found.get(key)
        if before is not None:
            return before[1]
        found = find(operation, shardings)
        if combining is not None or self._is_by_rule(known, rule_key):
            self._found[key] = shardings, found
        return found

    def _is_by_rule(self, known: OperationView, rule_key: Hashable) -> bool:
        goes_by_rule = self._goes_by_rule.get(rule_key)
        if goes_by_rule is None:
            goes_by_rule = _goes_by_rule(known.name, self._rules.rule(known.operation))
            self._goes_by_rule[rule_key] = goes_by_rule
        return goes_by_rule


def _goes_by_rule(name: str, rule: OpShardingRule | None) -> bool:
    return (
        rule is None
        or name in DOT_OPERATIONS
        or not (rule.reduction_factors or rule.permutation_factors or rule.need_replication_factors)
    )
