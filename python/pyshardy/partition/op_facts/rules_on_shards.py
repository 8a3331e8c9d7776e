# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for partitioning of operations whose local forms allow more than their sharding rules."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.op_facts.record import record_of
from pyshardy.rules.signature import OperationSignature, TensorType


def rule_on_shards(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return the rule by which an operation is partitioned: its sharding rule, or a wider one."""
    widen = record_of(operation.name).rule_on_shards
    return rule if widen is None or rule.is_custom_rule else widen(operation, rule)


def signature_of(operation: ir.Operation) -> OperationSignature:
    """Return the signature of an operation, from which rules are built."""
    operands, results = (
        tuple(TensorType.of(value.type) for value in values)
        for values in (operation.operands, operation.results)
    )
    return OperationSignature(operation.name, operands, results, operation)
