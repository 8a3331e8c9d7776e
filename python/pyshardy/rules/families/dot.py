# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products that contract dimensions."""

from __future__ import annotations

from mlir_sdy.host import stablehlo
from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import REDUCTION, RuleBuilder
from pyshardy.rules.notation import RuleNotation, rule
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.dot_general", reads=("dot_dimension_numbers",))
def dot_general_rule(op: OperationSignature) -> OpShardingRule:
    """`b m k, b k n -> b m n` with any number of batch, free and contracting dimensions.

    Example:
        stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2] x [0]
            : (tensor<2x3x5xf32>, tensor<5x2x7xf32>) -> tensor<2x3x7xf32>
        // ([i, j, l], [l, i, k])->([i, j, k]) {i=2, j=3, k=7, l=5} reduction={l}
    """
    numbers = op.dimension_numbers(stablehlo.DotDimensionNumbers, "dot_dimension_numbers")
    lhs, rhs = op.operand_shape(0), op.operand_shape(1)
    batch = list(zip(numbers.lhs_batching_dimensions, numbers.rhs_batching_dimensions, strict=True))
    contracting = list(
        zip(numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions, strict=True)
    )
    lhs_bound = {left for left, _ in batch + contracting}
    rhs_bound = {right for _, right in batch + contracting}
    dims: list[tuple[int, int | None, int | None]] = [
        *((lhs[left], left, right) for left, right in batch),
        *((size, dim, None) for dim, size in enumerate(lhs) if dim not in lhs_bound),
        *((size, None, dim) for dim, size in enumerate(rhs) if dim not in rhs_bound),
    ]
    builder = RuleBuilder(op)
    for result_dim, (size, left, right) in enumerate(dims):
        builder.factor(size, (left, right), (result_dim,))
    for left, right in contracting:
        builder.factor(lhs[left], (left, right), kind=REDUCTION)
    return builder.build()


_DOTS = {
    (1, 1): rule("k, k -> ()", reduction="k"),
    (1, 2): rule("k, k n -> n", reduction="k"),
    (2, 1): rule("m k, k -> m", reduction="k"),
    (2, 2): rule("m k, k n -> m n", reduction="k"),
}


@sharding_rule("stablehlo.dot", reads=())
def dot_rule(op: OperationSignature) -> RuleNotation:
    """The product of vectors and matrices.

    Example:
        stablehlo.dot %a, %b : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4xf32>
        // ([i, j], [j])->([i]) {i=4, j=6} reduction={j}
    """
    return _DOTS[len(op.operand_shape(0)), len(op.operand_shape(1))]
