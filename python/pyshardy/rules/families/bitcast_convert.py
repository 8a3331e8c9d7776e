# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reinterpretation of bits."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.bitcast_convert", reads=())
def bitcast_convert_rule(op: OperationSignature) -> OpShardingRule:
    """Conversions between element sizes have an extra last dimension of smaller elements.

    Example:
        stablehlo.bitcast_convert %a : (tensor<4x6xf32>) -> tensor<4x6x2xf16>
        // ([i, j])->([i, j, k]) {i=4, j=6, k=2} need_replication={k}
    """
    operand, result = op.operand_shape(), op.result_shape()
    builder = RuleBuilder(op).pointwise(min(result, operand, key=len))
    if len(result) > len(operand):
        builder.factor(result[-1], (), (len(result) - 1,), NEED_REPLICATION)
    elif len(operand) > len(result):
        builder.factor(operand[-1], (len(operand) - 1,), kind=NEED_REPLICATION)
    return builder.build()
