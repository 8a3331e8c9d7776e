# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choice of the axes of a reshape's factors if some axes fit no factor.

On a mesh `<["x"=4, "y"=2]>`, 12 elements reshaped to 6 x 2 have factors of 6 and 2. Of the axes
`{"x", "y"}` of the operand, the first factor takes `"x":(1)2`, and the rest overflows.

The algorithm is that of Shardy's `sdy-insert-explicit-reshards`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, OpShardingRule, TensorMapping, add_or_merge
from pyshardy.propagation.projection import (
    FactorSharding,
    ShardingProjection,
    TensorProjection,
    split_axis,
)


def reshape_axes(
    rule: OpShardingRule, projection: ShardingProjection, mesh: Mesh
) -> tuple[AxisTuple, ...]:
    """Return the axes for each factor that operand and result have in common.

    1. The side with more shards is preferred, the operand if there are as many.
    2. All its axes, including those that overflow, are assigned again to the factors of the
       operand, and to those of the result, in order of their dimensions (`deal_to_all`).
    3. A factor gets the common prefix of both sides, once each is written as a sharding.

    Example: the factors of the reshape above, with a replicated result, get `"x":(1)2` and no axes.

    Args:
        rule: the rule of the reshape.
        projection: its operand and its result by factors.
        mesh: the mesh of both.
    """
    operand, result = projection.tensors
    is_operand = operand.sharding_size(mesh) >= result.sharding_size(mesh)
    preferred = operand if is_operand else result
    axes = [
        axis
        for _, held in sorted(preferred.factors.items())
        for axis in (*held.axes, *held.overflow_axes)
    ]
    dealt = [
        _dealt_anew(tensor, mapping, axes, rule.factor_sizes, mesh)
        for tensor, mapping in zip(projection.tensors, rule.mappings, strict=True)
    ]
    anew = ShardingProjection(dealt, projection.num_operands)
    return tuple(anew.greatest_common_prefix(factor) for factor in range(rule.num_factors))


def deal_to_all(
    axes: Sequence[AxisRef], sizes: Sequence[int], mesh: Mesh
) -> tuple[list[AxisTuple], AxisTuple]:
    """Assign axes to factors of given sizes, in the order of the axes.

    1. An axis is offered to each factor in turn. A factor takes the largest leading sub-axis whose
       size divides both the axis and the unsharded part of the factor.
    2. The rest of the axis is offered to the following factors, and then to all of them again.
    3. An axis of which no factor takes anything ends the assignment.

    Example: `{"x", "y"}` of 4 and 2 to factors of 6 and 2 gives `"x":(1)2` and `"x":(2)2`; `"y"` is
    left.

    Returns:
        The axes of each factor, and the remaining axes.
    """
    dealt: list[AxisTuple] = [()] * len(sizes)
    left = list(sizes)
    for index, full in enumerate(axes):
        rest: AxisRef | None = full
        while rest is not None:
            offered = rest
            for factor, size in enumerate(left):
                shared = math.gcd(size, rest.size(mesh))
                if size == 1 or (shared == 1 and rest.size(mesh) != 1):
                    continue
                taken, rest = _leading_part(rest, shared, mesh)
                left[factor] //= shared
                dealt[factor] = add_or_merge(dealt[factor], taken, mesh)
                if rest is None:
                    break
            if rest == offered:
                return dealt, (offered, *axes[index + 1 :])
    return dealt, ()


def _leading_part(axis: AxisRef, size: int, mesh: Mesh) -> tuple[AxisRef, AxisRef | None]:
    return (axis, None) if size == axis.size(mesh) else split_axis(axis, size, mesh)


def _dealt_anew(
    tensor: TensorProjection,
    mapping: TensorMapping,
    axes: Sequence[AxisRef],
    factor_sizes: Sequence[int],
    mesh: Mesh,
) -> TensorProjection:
    """Return a tensor with axes assigned again to its factors, as in the resulting sharding."""
    factors = [
        factor
        for dim in mapping.dim_mappings
        for factor in dim.factor_indices
        if factor in tensor.factors
    ]
    dealt, left = deal_to_all(axes, [factor_sizes[factor] for factor in factors], mesh)
    anew = TensorProjection(
        {
            factor: FactorSharding(held, True, tensor.factors[factor].is_minor_most)
            for factor, held in zip(factors, dealt, strict=True)
        }
    )
    if left and factors:
        anew.update(factors[-1], dealt[-1], left)
    sharding = anew.sharding(mapping, factor_sizes, "", mesh)
    return TensorProjection.of(mapping, factor_sizes, sharding, mesh)
