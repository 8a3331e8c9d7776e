# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memoization for operations with equal signatures."""

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
_BY_RULE = DOT_OPERATIONS | {"stablehlo.reshape"}


class SignatureMemo(Generic[Found]):
    """Memoized results of a function of the signature and the shardings of an operation.

    1. The signature of an operation is its rule if all factors are pass-through, if it is the
       rule of a matrix product, which is always completed by a sum, or that of a reshape, which has
       no attributes.
    2. The signature of a `stablehlo.reduce` includes the operation by which its body combines
       values.
    3. Other operations with permutation factors, and other reductions, are not memoized.

    Args:
        rules: finds sharding rules.
    """

    def __init__(self, rules: ShardingRuleLookup):
        self._rules = rules
        self._goes_by_rule: dict[Hashable, bool] = {}
        # The shardings are kept as well: otherwise their addresses could be reused.
        self._found: dict[Hashable, tuple[Shardings, Found]] = {}

    def of(
        self,
        known: OperationView,
        shardings: Shardings,
        find: Callable[[ir.Operation, Shardings], Found],
    ) -> Found:
        """Return the result of `find`, which is called once for each signature and shardings.

        Args:
            known: the operation.
            shardings: those of its operands, then results. They are compared by identity, as most
                come from attributes, with one object for each.
            find: the function.
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
        or name in _BY_RULE
        or not (rule.reduction_factors or rule.permutation_factors or rule.need_replication_factors)
    )
