# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that reorder dimensions or elements of a tensor."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import PASS_THROUGH, PERMUTATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.transpose", reads=("permutation",))
def transpose_rule(op: OperationSignature) -> OpShardingRule:
    """Dimensions are permuted.

    Example:
        stablehlo.transpose %a, dims = [2, 0, 1] : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
        // ([j, k, i])->([i, j, k]) {i=5, j=2, k=3}
    """
    builder = RuleBuilder(op)
    for result_dim, operand_dim in enumerate(op.integers("permutation")):
        builder.factor(op.operand_shape()[operand_dim], (operand_dim,), (result_dim,))
    return builder.build()


@sharding_rule("stablehlo.reverse", reads=("dimensions",))
def reverse_rule(op: OperationSignature) -> OpShardingRule:
    """Shards are permuted along reversed dimensions.

    Example:
        stablehlo.reverse %a, dims = [1] : tensor<4x6xf32>
        // ([i, j])->([i, j]) {i=4, j=6} permutation={j}
    """
    reversed_dims = op.integers("dimensions")
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.point_factor(dim, size, PERMUTATION if dim in reversed_dims else PASS_THROUGH)
    return builder.build()
