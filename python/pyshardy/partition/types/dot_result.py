# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choice to reshard the result of a matrix product after its partial sums are completed.

In this mode, a partitioner that runs after Shardy decides on most reshards itself. This case is
handled before it: with the left operand sharded by `[{"q"}, {"p"}]`, the right one by
`[{"p"}, {}]` and the result by `[{"p"}, {}]`, it is cheaper to compute the result in `[{"q"}, {}]`,
to complete it over `"p"` on that smaller shard, and to reshard it afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.model import AxisRef, AxisTuple, OpShardingRule, Shape, lists_overlap
from pyshardy.propagation.projection import ShardingProjection

DOT_OPERATIONS = frozenset({"stablehlo.dot", "stablehlo.dot_general"})


def better_result_axes(
    rule: OpShardingRule, projection: ShardingProjection, shapes: Sequence[Shape]
) -> tuple[int, AxisTuple] | None:
    """Return the factor of a product to compute with the axes of its operand, and these axes.

    None unless all of these hold:

    1. Factors of both operands are sharded alike in both.
    2. No axis shards two factors that are not contracted.
    3. Of these, exactly one has other axes in the result than in the operands, where it has some.
    4. The result has no more elements than the operand with that factor, the larger if both do.
    5. In the result, that factor has just the axes of all contracting factors in order.

    Args:
        rule: the rule of the product.
        projection: the shardings of both operands and the result by factors.
        shapes: their global shapes.
    """
    lhs, rhs, result = projection.tensors
    contracted: list[AxisRef] = []
    differing: list[int] = []
    seen: list[AxisRef] = []
    for factor in range(rule.num_factors):
        holders = [tensor for tensor in (lhs, rhs) if factor in tensor.factors]
        if not holders or any(t.axes(factor) != holders[0].axes(factor) for t in holders):
            return None
        axes = holders[0].axes(factor)
        if factor in rule.reduction_factors:
            contracted += axes
            continue
        if lists_overlap(axes, seen):
            return None
        seen += axes
        if result.axes(factor) != axes:
            differing.append(factor)
    if len(differing) != 1:
        return None
    factor = differing[0]
    sizes = [
        math.prod(shape)
        for tensor, shape in zip((lhs, rhs), shapes, strict=False)
        if factor in tensor.factors
    ]
    axes = lhs.axes(factor) or rhs.axes(factor)
    if not axes or math.prod(shapes[2]) > max(sizes):
        return None
    if not contracted or result.axes(factor) != tuple(contracted):
        return None
    return factor, axes
