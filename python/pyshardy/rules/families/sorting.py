# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that order the elements along one dimension."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import CUSTOM_CALL, sharding_rule
from pyshardy.rules.signature import OperationSignature, RuleError


@sharding_rule("stablehlo.sort", reads=("dimension",))
def sort_rule(op: OperationSignature) -> OpShardingRule:
    """The sorted dimension needs replication; the others are independent.

    If no other dimension can be sharded, it is also blocked.

    Example:
        "stablehlo.sort"(%a) <{dimension = 1 : i64}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %0 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %0 : tensor<i1>
        }) : (tensor<4x6xf32>) -> tensor<4x6xf32>
        // ([i, j])->([i, j]) {i=4, j=6} need_replication={j}
    """
    shape = op.operand_shape()
    # The default, -1, counts from the end.
    sorted_dim = op.integer("dimension", default=-1) % len(shape)
    alone = all(size == 1 for dim, size in enumerate(shape) if dim != sorted_dim)
    builder = RuleBuilder(op)
    for dim, size in enumerate(shape):
        if dim == sorted_dim:
            builder.point_factor(dim, size, NEED_REPLICATION, blocked=alone)
        else:
            builder.point_factor(dim, size)
    return builder.build()


@sharding_rule("chlo.top_k", reads=(), beyond_shardy=True)
def top_k_rule(op: OperationSignature) -> OpShardingRule:
    """The last dimension is searched and needs replication, even if all of it is returned.

    Example:
        chlo.top_k(%a, k = 2) : tensor<4x6xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
        // ([i, j])->([i, j], [i, j]) {i=4, j=6} need_replication={j} blocked_propagation={j}
    """
    *batch, size = op.operand_shape()
    return (
        RuleBuilder(op)
        .pointwise(batch)
        .point_factor(len(batch), size, NEED_REPLICATION, blocked=True)
        .build()
    )


@sharding_rule(CUSTOM_CALL, target="mhlo.topk", reads=(), if_fits=True)
@sharding_rule(CUSTOM_CALL, target="TopK", reads=(), if_fits=True)
def top_k_call_rule(op: OperationSignature) -> OpShardingRule:
    """The dimension that becomes smaller is searched.

    Example:
        stablehlo.custom_call @mhlo.topk(%a)
            : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
        // ([i, j])->([i, j], [i, j]) {i=4, j=6} need_replication={j} blocked_propagation={j}
    """
    return (
        RuleBuilder(op)
        .pointwise_where_equal(
            op.operand_shape(), op.result_shape(), NEED_REPLICATION, blocked=True
        )
        .build()
    )


@sharding_rule(CUSTOM_CALL, target="ApproxTopK", reads=(), if_fits=True)
@sharding_rule(CUSTOM_CALL, target="PartialReduce", reads=(), if_fits=True)
def approximate_top_k_rule(op: OperationSignature) -> OpShardingRule:
    """Each shard is searched separately: the searched dimension has different factors in results.

    Operands with the shape of the first one are searched together; others are initial values.

    Example:
        stablehlo.custom_call @ApproxTopK(%a, %b, %c, %d)
            : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>)
            -> (tensor<4x2xf32>, tensor<4x2xi32>)
        // ([i, j], [i, j], [], [])->([i, k], [i, k]) {i=4, j=6, k=2}
        //     need_replication={k} blocked_propagation={k}
    """
    shape, result_shape = op.operand_shape(), op.result_shape()
    if len(shape) != len(result_shape):
        raise RuleError(f"shapes {list(shape)} and {list(result_shape)} must have the same rank")
    operands, results = (
        [tensor is not None and tensor.shape == first for tensor in tensors]
        for tensors, first in ((op.operands, shape), (op.results, result_shape))
    )
    builder = RuleBuilder(op)
    for dim, (size, result_size) in enumerate(zip(shape, result_shape, strict=True)):
        of_operands, of_results = (
            [dim if is_searched else None for is_searched in tensors]
            for tensors in (operands, results)
        )
        if size == result_size:
            builder.factor(size, of_operands, of_results)
        else:
            builder.factor(size, of_operands)
            builder.factor(result_size, (), of_results, NEED_REPLICATION, blocked=True)
    return builder.build()
