# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on sizes and positions along one dimension."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule(
    "stablehlo.get_dimension_size",
    "stablehlo.set_dimension_size",
    reads=("dimension",),
    beyond_shardy=True,
)
def dimension_size_rule(op: OperationSignature) -> OpShardingRule:
    """The dimension whose size is read or set needs replication.

    Example:
        stablehlo.get_dimension_size %a, dim = 1 : (tensor<4x6xf32>) -> tensor<i32>
        // ([i, j])->([]) {i=4, j=6} need_replication={j}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        kind = NEED_REPLICATION if dim == op.integer("dimension") else PASS_THROUGH
        builder.point_factor(dim, size, kind)
    return builder.build()


@sharding_rule("stablehlo.dynamic_iota", reads=("iota_dimension",), beyond_shardy=True)
def dynamic_iota_rule(op: OperationSignature) -> OpShardingRule:
    """The counted dimension needs replication; all devices need the shape.

    Example:
        stablehlo.dynamic_iota %a, dim = 1 : (tensor<2xi32>) -> tensor<4x6xi32>
        // ([k])->([i, j]) {i=4, j=6, k=2} need_replication={j, k}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        kind = NEED_REPLICATION if dim == op.integer("iota_dimension") else PASS_THROUGH
        builder.factor(size, (), (dim,), kind)
    return builder.replicated_operands(0).build()
