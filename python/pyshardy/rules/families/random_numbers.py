# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.rng_bit_generator", reads=())
def rng_bit_generator_rule(op: OperationSignature) -> OpShardingRule:
    """The state needs replication; the output shares no factors with it.

    Example:
        stablehlo.rng_bit_generator %a, algorithm = THREE_FRY
            : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x6xui32>)
        // ([i])->([i], [j, k]) {i=2, j=4, k=6} need_replication={i} blocked_propagation={i}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        builder.factor(size, (dim,), (dim,), NEED_REPLICATION, blocked=True)
    for dim, size in enumerate(op.result_shape(1)):
        builder.factor(size, (), (None, dim))
    return builder.build()


@sharding_rule("stablehlo.rng", reads=(), beyond_shardy=True)
def rng_rule(op: OperationSignature) -> OpShardingRule:
    """Numbers are independent; all devices need the shape.

    Example:
        stablehlo.rng %a, %b, %c, distribution = UNIFORM
            : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
        // ([], [], [k])->([i, j]) {i=4, j=6, k=2} need_replication={k}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.factor(size, (), (dim,))
    return builder.replicated_operands(2).build()
