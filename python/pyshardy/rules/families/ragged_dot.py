# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows of the left operand with different matrices of the right."""

from __future__ import annotations

from mlir_sdy.model import FactorType, OpShardingRule
from pyshardy.irtools.stablehlo_views.linear_algebra import RaggedDotNumbers
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("chlo.ragged_dot", reads=("ragged_dot_dimension_numbers",), beyond_shardy=True)
def ragged_dot_rule(op: OperationSignature) -> OpShardingRule:
    """A `dot_general` whose ragged dimension is cut into groups of given sizes.

    1. Devices need the sizes of all groups, since the start of a group depends on those before it.
       Along dimensions with sizes of their own, they are sharded like both operands. If the ragged
       dimension is a batching one, the result doesn't depend on the sizes.
    2. A row has the matrix of one group: the dimension of groups of the right operand is reduced.
    3. If the ragged dimension is contracting, the first dimension of the result is that of groups.
    4. Other dimensions, the ragged one too, behave as those of `dot_general`.

    Example:
        "chlo.ragged_dot"(%a, %b, %c) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<
            lhs_batching_dimensions = [], rhs_batching_dimensions = [],
            lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
            lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}>
            : (tensor<4x6xf32>, tensor<2x6x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
        // ([j, k], [l, k, i], [m])->([j, i]) {i=5, j=4, k=6, l=2, m=2}
        //     reduction={k, l} need_replication={m}
    """
    numbers = RaggedDotNumbers.parse(op.text("ragged_dot_dimension_numbers"))
    lhs, rhs, sizes = (op.operand_shape(index) for index in range(3))
    *batches, num_groups = sizes
    apart = numbers.sized_apart(len(lhs)) if batches else ()

    builder = RuleBuilder(op)

    def of_lhs(dim: int, kind: FactorType = PASS_THROUGH) -> None:
        size_dim = apart.index(dim) if dim in apart else None
        result_dim = numbers.result_dim(dim, len(lhs))
        builder.factor(lhs[dim], (dim, numbers.rhs_dim(dim), size_dim), (result_dim,), kind)

    if numbers.is_contracting:
        builder.factor(op.result_shape()[0], (), (0,))
    free = numbers.rhs_free(len(rhs))
    for result_dim, dim in enumerate(free, len(op.result_shape()) - len(free)):
        builder.factor(rhs[dim], (None, dim), (result_dim,))
    # Behind columns, since choices of equal cost prefer later factors: the next product takes rows.
    for dim in (*numbers.lhs_batching, *numbers.lhs_free(len(lhs))):
        of_lhs(dim)
    for dim in numbers.lhs_contracting:
        of_lhs(dim, REDUCTION)
    for dim in numbers.rhs_group:
        builder.factor(rhs[dim], (None, dim), kind=REDUCTION)
    of_sizes = PASS_THROUGH if numbers.is_batching else NEED_REPLICATION
    return builder.factor(num_groups, (None, None, -1), kind=of_sizes).build()
