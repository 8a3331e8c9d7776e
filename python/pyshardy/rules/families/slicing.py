# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that slice, update or pad a tensor.

A dimension that keeps its size passes through; along another one, elements move between shards.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.constants import constant_integers
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, PERMUTATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.slice", reads=())
def slice_rule(op: OperationSignature) -> OpShardingRule:
    """Shards exchange elements along dimensions that change.

    Example:
        stablehlo.slice %a [0:4, 1:5] : (tensor<4x6xf32>) -> tensor<4x4xf32>
        // ([i, j])->([i, j]) {i=4, j=6} permutation={j}
        // conservative: ([i, j])->([i, j]) {i=4, j=6} permutation={j} blocked_propagation={j}
    """
    return (
        RuleBuilder(op)
        .pointwise_where_equal(
            op.operand_shape(), op.result_shape(), PERMUTATION, blocked=op.conservative
        )
        .build()
    )


_PADDING = ("edge_padding_low", "edge_padding_high", "interior_padding")


@sharding_rule("stablehlo.pad", reads=_PADDING)
def pad_rule(op: OperationSignature) -> OpShardingRule:
    """Shards exchange elements along dimensions with padding, even if the size does not change.

    Example:
        stablehlo.pad %a, %b, low = [0, 1, 1], high = [0, 1, -1], interior = [0, 0, 0]
            : (tensor<4x6x5xf32>, tensor<f32>) -> tensor<4x8x5xf32>
        // ([i, j, k], [])->([i, j, k]) {i=4, j=6, k=5} permutation={j, k}
        // conservative: ([i, j, k], [])->([i, j, k]) {i=4, j=6, k=5} permutation={j, k}
        //     blocked_propagation={j}
    """
    builder = RuleBuilder(op)
    sizes = zip(op.operand_shape(), op.result_shape(), strict=True)
    paddings = zip(*map(op.integers, _PADDING), strict=True)
    for dim, ((size, result_size), padding) in enumerate(zip(sizes, paddings, strict=True)):
        if any(padding):
            blocked = op.conservative and size != result_size
            builder.point_factor(dim, size, PERMUTATION, blocked=blocked)
        else:
            builder.point_factor(dim, size)
    return builder.build()


@sharding_rule("stablehlo.dynamic_slice", reads=())
def dynamic_slice_rule(op: OperationSignature) -> OpShardingRule:
    """Sliced dimensions of the operand need replication, since the start is not known.

    Example:
        stablehlo.dynamic_slice %a, %b, %c, sizes = [4, 2]
            : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x2xf32>
        // ([i, j], [], [])->([i, j]) {i=4, j=6} need_replication={j} blocked_propagation={j}
    """
    return _cut_somewhere(op).build()


@sharding_rule("stablehlo.real_dynamic_slice", reads=(), beyond_shardy=True)
def real_dynamic_slice_rule(op: OperationSignature) -> OpShardingRule:
    """Same rule as for `dynamic_slice`; all devices need the starts, limits and strides.

    Example:
        stablehlo.real_dynamic_slice %a, %b, %c, %d
            : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x2xf32>
        // ([i, j], [k], [l], [m])->([i, j]) {i=4, j=6, k=2, l=2, m=2}
        //     need_replication={j, k, l, m} blocked_propagation={j}
    """
    builder = RuleBuilder(op)
    for dim, (size, result_size) in enumerate(
        zip(op.operand_shape(), op.result_shape(), strict=True)
    ):
        changes = size != result_size
        kind = NEED_REPLICATION if changes else PASS_THROUGH
        builder.factor(size, (dim,), (dim,), kind, blocked=changes)
    return builder.replicated_operands(1, 2, 3).build()


def _cut_somewhere(op: OperationSignature) -> RuleBuilder:
    return RuleBuilder(op).pointwise_where_equal(
        op.operand_shape(), op.result_shape(), NEED_REPLICATION, blocked=True
    )


@sharding_rule("stablehlo.dynamic_update_slice", reads=())
def dynamic_update_slice_rule(op: OperationSignature) -> OpShardingRule:
    """Shards exchange elements along dimensions in which the update is smaller.

    Example:
        stablehlo.dynamic_update_slice %a, %b, %c, %d
            : (tensor<4x6xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
        // ([i, j], [i, k], [], [])->([i, j]) {i=4, j=6, k=2} permutation={j, k}
    """
    builder = RuleBuilder(op)
    for dim, (size, update_size) in enumerate(
        zip(op.operand_shape(0), op.operand_shape(1), strict=True)
    ):
        if size == update_size:
            builder.point_factor(dim, size)
        else:
            builder.factor(size, (dim,), (dim,), PERMUTATION)
            builder.factor(update_size, (None, dim), kind=PERMUTATION)
    return builder.build()


def _unpadded_dims(operation: ir.Operation) -> frozenset[int]:
    """Return the dimensions of a dynamic pad along which all paddings are known to be zero."""
    paddings = [constant_integers(value) for value in list(operation.operands)[2:]]
    known = [padding for padding in paddings if padding is not None]
    if len(known) < len(paddings):
        return frozenset()
    return frozenset(
        dim for dim, numbers in enumerate(zip(*known, strict=True)) if not any(numbers)
    )


@sharding_rule("stablehlo.dynamic_pad", reads=(), observes=_unpadded_dims, beyond_shardy=True)
def dynamic_pad_rule(op: OperationSignature) -> OpShardingRule:
    """Dimensions pass through if their paddings are constant zeros; others need replication.

    Example:
        stablehlo.dynamic_pad %a, %b, %c, %d, %e
            : (tensor<4xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>)
            -> tensor<4xf32>
        // ([i], [], [k], [l], [m])->([j]) {i=4, j=4, k=1, l=1, m=1}
        //     need_replication={i, j, k, l, m}
    """
    unpadded = op.observed
    builder = RuleBuilder(op)
    for dim, (size, result_size) in enumerate(
        zip(op.operand_shape(), op.result_shape(), strict=True)
    ):
        if isinstance(unpadded, frozenset) and dim in unpadded:
            builder.factor(size, (dim,), (dim,))
        else:
            builder.factor(size, (dim,), kind=NEED_REPLICATION)
            builder.factor(result_size, (), (dim,), NEED_REPLICATION)
    return builder.replicated_operands(2, 3, 4).build()
