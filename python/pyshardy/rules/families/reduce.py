# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions over dimensions."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.reduce", reads=("dimensions",))
def reduce_rule(op: OperationSignature) -> OpShardingRule:
    """Inputs and results share the dimensions that are not reduced; initial values are scalars.

    Example:
        stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1]
            : (tensor<4x6x8xf32>, tensor<f32>) -> tensor<4x8xf32>
        // ([i, j, k], [])->([i, k]) {i=4, j=6, k=8} reduction={j}
    """
    reduced = op.integers("dimensions")
    num_inputs = len(op.results)
    builder = RuleBuilder(op)
    result_dim = 0
    for dim, size in enumerate(op.operand_shape()):
        if dim in reduced:
            builder.factor(size, (dim,) * num_inputs, kind=REDUCTION)
        else:
            builder.factor(size, (dim,) * num_inputs, (result_dim,) * num_inputs)
            result_dim += 1
    return builder.build()
