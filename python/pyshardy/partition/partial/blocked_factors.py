# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Factors along which devices can't compute an operation on their shards alone.

1. Factors that need replication, and those that need elements of other shards. If the operation
   has a form with an exchange (see `halo`), that has replaced it before.
2. Factors that are reduced, if partial results can't be completed (see `completion_of`).
3. For some operations also pass-through factors, which their records state.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.partial.reductions import completion_of


def blocked_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the factors that must not be sharded for the operation to be computed on shards.

    Args:
        operation: the operation.
        rule: its rule.
    """
    blocked = {*rule.need_replication_factors, *rule.permutation_factors}
    blocked |= uncompletable_factors(operation, rule)
    find_blocked = record_of(operation.name).blocked_factors
    if find_blocked is not None:
        blocked.update(find_blocked(operation, rule))
    return frozenset(blocked)


def uncompletable_factors(operation: ir.Operation, rule: OpShardingRule) -> frozenset[int]:
    """Return the reduced factors of an operation if its partial results can't be completed."""
    if not rule.reduction_factors or completion_of(operation) is not None:
        return frozenset()
    return frozenset(rule.reduction_factors)


def factors_of(rule: OpShardingRule, tensor: int, dim: int) -> tuple[int, ...]:
    """Return the factors of a dimension of an operand or, after these, of a result."""
    return rule.mappings[tensor].dim_mappings[dim].factor_indices
