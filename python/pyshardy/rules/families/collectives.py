# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of the input program that change shapes.

Collectives that keep the shape are point-wise, see `pointwise`. A dimension that is gathered, split
or scattered has different factors in operand and result.
"""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.all_gather", reads=("all_gather_dim",))
def all_gather_rule(op: OperationSignature) -> OpShardingRule:
    """The dimension gathered is larger in the result.

    Example:
        "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64,
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
            : (tensor<4x6xf32>) -> tensor<4x12xf32>
        // ([i, j])->([i, k]) {i=4, j=6, k=12} need_replication={j, k}
    """
    return _with_changed_dims(op, op.integer("all_gather_dim"))


@sharding_rule("stablehlo.reduce_scatter", reads=("scatter_dimension",))
def reduce_scatter_rule(op: OperationSignature) -> OpShardingRule:
    """The dimension scattered is smaller in the result.

    Example:
        "stablehlo.reduce_scatter"(%a) <{scatter_dimension = 1 : i64,
            replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4x12xf32>) -> tensor<4x6xf32>
        // ([i, j])->([i, k]) {i=4, j=12, k=6} need_replication={j, k}
    """
    return _with_changed_dims(op, op.integer("scatter_dimension"))


@sharding_rule("stablehlo.all_to_all", reads=("split_dimension", "concat_dimension"))
def all_to_all_rule(op: OperationSignature) -> OpShardingRule:
    """A dimension is split, and a dimension, maybe the same, is concatenated.

    Example:
        "stablehlo.all_to_all"(%a) <{split_dimension = 0 : i64, concat_dimension = 2 : i64,
            split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
            : (tensor<8x3x5xf32>) -> tensor<4x3x10xf32>
        // ([j, i, l])->([k, i, m]) {i=3, j=8, k=4, l=5, m=10} need_replication={j, k, l, m}
    """
    changed = (op.integer("split_dimension"), op.integer("concat_dimension"))
    return _with_changed_dims(op, *dict.fromkeys(changed))


def _with_changed_dims(op: OperationSignature, *changed: int) -> OpShardingRule:
    """Return point factors, with separate ones of operands and results for changed dimensions."""
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.operand_shape()):
        if dim not in changed:
            builder.point_factor(dim, size)
    for dim in changed:
        builder.point_factor(dim, op.operand_shape()[dim], NEED_REPLICATION, on_results=False)
        builder.point_factor(dim, op.result_shape()[dim], NEED_REPLICATION, on_operands=False)
    return builder.build()
