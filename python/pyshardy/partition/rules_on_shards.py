# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules of operations whose local forms allow more than their sharding rules say.

Sharding rules say what propagates, and are those of Shardy. Where the local form of an operation
can do with a dimension that the rule wants whole, the partitioner goes by the rules here.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, REDUCTION, RuleBuilder
from pyshardy.rules.signature import OperationSignature, TensorType


def rule_on_shards(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """The rule by which an operation is partitioned: its sharding rule, or one that allows more."""
    if operation.name == "stablehlo.dynamic_slice" and not rule.is_custom_rule:
        return _dynamic_slice_rule(operation)
    return rule


def _dynamic_slice_rule(operation: ir.Operation) -> OpShardingRule:
    """Devices take what they have of a slice, and add that up.

    Example:
        stablehlo.dynamic_slice %a, %b, %c, sizes = [4, 2]
            : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
        // ([i, j], [], [])->([i, k]) {i=4, j=6, k=2} reduction={j} need_replication={k}
    """
    sizes, lengths = (
        tuple(ir.RankedTensorType(value.type).shape)
        for value in (operation.operands[0], operation.results[0])
    )
    builder = RuleBuilder(_signature(operation))
    for dim, (size, length) in enumerate(zip(sizes, lengths, strict=True)):
        if size == length:
            builder.factor(size, (dim,), (dim,))
        else:
            builder.factor(size, (dim,), kind=REDUCTION)
            builder.factor(length, (), (dim,), NEED_REPLICATION)
    return builder.build()


def _signature(operation: ir.Operation) -> OperationSignature:
    operands, results = (
        tuple(TensorType.of(value.type) for value in values)
        for values in (operation.operands, operation.results)
    )
    return OperationSignature(operation.name, operands, results, operation)
