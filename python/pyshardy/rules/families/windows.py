# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that move a window over a tensor, and reductions."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PERMUTATION, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature

_WINDOW = ("window_dimensions", "window_strides", "padding")


@sharding_rule("stablehlo.reduce_window", reads=_WINDOW)
def reduce_window_rule(op: OperationSignature) -> OpShardingRule:
    """Windows extend into neighboring shards along the dimensions that they move over.

    Example:
        "stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1, 3>,
            padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.maximum %x, %y : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
        // ([i, j], [])->([i, j]) {i=4, j=6} permutation={j}
        // conservative: ([i, j], [])->([i, j]) {i=4, j=6} permutation={j} blocked_propagation={j}
    """
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        if _is_untouched(op, dim):
            builder.point_factor(dim, size)
        else:
            builder.point_factor(dim, size, PERMUTATION, blocked=op.conservative)
    return builder.build()


@sharding_rule("stablehlo.select_and_scatter", reads=_WINDOW)
def select_and_scatter_rule(op: OperationSignature) -> OpShardingRule:
    """A source element is scattered to one position in its window of the operand.

    Example:
        "stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 1, 2>,
            window_strides = array<i64: 1, 2>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %0 : tensor<i1>
        }, {
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.add %x, %y : tensor<f32>
          stablehlo.return %0 : tensor<f32>
        }) : (tensor<4x6xf32>, tensor<4x3xf32>, tensor<f32>) -> tensor<4x6xf32>
        // ([i, k], [i, j], [])->([i, k]) {i=4, j=3, k=6} need_replication={j} permutation={k}
    """
    blocked = op.conservative
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        if _is_untouched(op, dim):
            builder.point_factor(dim, size)
        else:
            source_size = op.operand_shape(1)[dim]
            builder.factor(source_size, (None, dim), kind=NEED_REPLICATION, blocked=blocked)
            builder.factor(size, (dim,), (dim,), PERMUTATION, blocked=blocked)
    return builder.build()


def _is_untouched(op: OperationSignature, dim: int) -> bool:
    """Whether windows are single elements along a dimension: size and stride 1, no padding."""
    padding = op.integers("padding")[2 * dim : 2 * dim + 2]
    sizes = op.integers("window_dimensions")[dim : dim + 1]
    strides = op.integers("window_strides")[dim : dim + 1]
    return not any(padding) and all(number == 1 for number in (*sizes, *strides))


# --- Reductions over dimensions -------------------------------------------------------------------


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
