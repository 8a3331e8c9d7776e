# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows of one operand with different matrices of the other."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.ragged_dot_numbers import RaggedDotNumbers
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("chlo.ragged_dot", reads=("ragged_dot_dimension_numbers",), beyond_shardy=True)
def ragged_dot_rule(op: OperationSignature) -> OpShardingRule:
    """A `dot_general` whose ragged dimension is cut into groups of given sizes.

    1. The ragged dimension (free, contracting or batching) and the dimension of groups need
       replication, since the start of a group depends on the sizes of all groups before it.
    2. Batch dimensions need replication if each batch has its own sizes.
    3. Other dimensions behave as those of `dot_general`.
    4. The result has a dimension of groups, its first one, if the ragged one is contracting.

    Example:
        "chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
            lhs_batching_dimensions = [], rhs_batching_dimensions = [],
            lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
            lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
            : (tensor<4x6xf32>, tensor<2x6x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
        // ([i, k], [l, k, j], [m])->([i, j]) {i=4, j=5, k=6, l=2, m=2}
        //     reduction={k} need_replication={i, l, m}
    """
    numbers = RaggedDotNumbers.parse(op.text("ragged_dot_dimension_numbers"))
    lhs_batch, rhs_batch = numbers.lhs_batching, numbers.rhs_batching
    lhs_contracting, rhs_contracting = numbers.lhs_contracting, numbers.rhs_contracting
    ragged, groups = numbers.lhs_ragged, numbers.rhs_group
    lhs, rhs = op.operand_shape(0), op.operand_shape(1)
    sizes_by_batch = len(op.operand_shape(2)) > 1

    builder = RuleBuilder(op)
    result_dim = 0
    if numbers.is_contracting:
        builder.factor(op.result_shape()[0], (), (0,), NEED_REPLICATION)
        result_dim = 1
    for left, right in zip(lhs_batch, rhs_batch, strict=True):
        kind = NEED_REPLICATION if sizes_by_batch or left in ragged else PASS_THROUGH
        builder.factor(lhs[left], (left, right), (result_dim,), kind)
        result_dim += 1
    for dim, size in enumerate(lhs):
        if dim not in (*lhs_batch, *lhs_contracting):
            kind = NEED_REPLICATION if dim in ragged else PASS_THROUGH
            builder.factor(size, (dim,), (result_dim,), kind)
            result_dim += 1
    for dim, size in enumerate(rhs):
        if dim not in (*rhs_batch, *rhs_contracting, *groups):
            builder.factor(size, (None, dim), (result_dim,))
            result_dim += 1
    for left, right in zip(lhs_contracting, rhs_contracting, strict=True):
        kind = NEED_REPLICATION if left in ragged else REDUCTION
        builder.factor(lhs[left], (left, right), kind=kind)
    for dim in groups:
        builder.factor(rhs[dim], (None, dim), kind=NEED_REPLICATION)
    return builder.replicated_operands(2).build()
