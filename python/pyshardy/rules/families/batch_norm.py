# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batch normalization: one dimension of features, each with a scale, an offset and statistics."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature, TensorType


@sharding_rule("stablehlo.batch_norm_inference", reads=("feature_index",))
def batch_norm_inference_rule(op: OperationSignature) -> OpShardingRule:
    """Elements are independent, given the statistics.

    Example:
        "stablehlo.batch_norm_inference"(%a, %b, %c, %d, %e) <{epsilon = 0.0 : f32,
            feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>)
            -> tensor<4x6xf32>
        // ([i, j], [j], [j], [j], [j])->([i, j]) {i=4, j=6}
    """
    feature = op.integer("feature_index")
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        of_feature = 0 if dim == feature else None
        builder.factor(size, (dim, *[of_feature] * 4), (dim,))
    return builder.build()


@sharding_rule(
    "stablehlo.batch_norm_training",
    "stablehlo.batch_norm_grad",
    reads=("feature_index",),
    beyond_shardy=True,
)
def batch_norm_rule(op: OperationSignature) -> OpShardingRule:
    """Dimensions other than features need replication: statistics and gradients reduce over them.

    Example:
        "stablehlo.batch_norm_training"(%a, %b, %c) <{epsilon = 0.0 : f32,
            feature_index = 1 : i64}>
            : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
            -> (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>)
        // ([i, j], [j], [j])->([i, j], [j], [j]) {i=4, j=6} need_replication={i}
    """
    feature = op.integer("feature_index")
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        operands, results = (
            [_dim_of(tensor, dim, feature) for tensor in tensors]
            for tensors in (op.operands, op.results)
        )
        kind = PASS_THROUGH if dim == feature else NEED_REPLICATION
        builder.factor(size, operands, results, kind)
    return builder.build()


def _dim_of(tensor: TensorType | None, dim: int, feature: int) -> int | None:
    """Return the dimension of a tensor for `dim` of the data; vectors have only features."""
    if tensor is not None and tensor.rank == 1:
        return 0 if dim == feature else None
    return dim
