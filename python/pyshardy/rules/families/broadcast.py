# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that repeat a tensor along dimensions."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


def _broadcast_in_dim(op: OperationSignature) -> RuleBuilder:
    operand_dims = {
        result_dim: dim for dim, result_dim in enumerate(op.integers("broadcast_dimensions"))
    }
    builder = RuleBuilder(op)
    for result_dim, size in enumerate(op.result_shape()):
        dim = operand_dims.get(result_dim)
        if dim is not None and op.operand_shape()[dim] == 1 and size != 1:
            builder.factor(1, (dim,))
            builder.factor(size, (), (result_dim,))
        else:
            builder.factor(size, (dim,), (result_dim,))
    return builder


@sharding_rule("stablehlo.broadcast_in_dim", reads=("broadcast_dimensions",))
def broadcast_in_dim_rule(op: OperationSignature) -> OpShardingRule:
    """Operand dimensions of size 1 that are expanded have factors of their own.

    Example:
        stablehlo.broadcast_in_dim %a, dims = [2, 0] : (tensor<4x1xf32>) -> tensor<6x3x4xf32>
        // ([l, i])->([j, k, l]) {i=1, j=6, k=3, l=4}
    """
    return _broadcast_in_dim(op).build()


@sharding_rule(
    "stablehlo.dynamic_broadcast_in_dim", reads=("broadcast_dimensions",), beyond_shardy=True
)
def dynamic_broadcast_in_dim_rule(op: OperationSignature) -> OpShardingRule:
    """Same rule as for the static operation; all devices need the sizes of the result.

    Example:
        stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [1]
            : (tensor<4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
        // ([j], [k])->([i, j]) {i=6, j=4, k=2} need_replication={k}
    """
    return _broadcast_in_dim(op).replicated_operands(1).build()


@sharding_rule("stablehlo.broadcast", reads=("broadcast_sizes",), beyond_shardy=True)
def broadcast_rule(op: OperationSignature) -> OpShardingRule:
    """New dimensions precede those of the operand.

    Example:
        stablehlo.broadcast %a, sizes = [6] : (tensor<4xf32>) -> tensor<6x4xf32>
        // ([j])->([i, j]) {i=6, j=4}
    """
    num_new = len(op.integers("broadcast_sizes"))
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.factor(size, (dim - num_new if dim >= num_new else None,), (dim,))
    return builder.build()


BROADCASTING_OPERATIONS = tuple(
    f"chlo.broadcast_{name}"
    for name in """
        add and atan2 compare complex divide maximum minimum multiply next_after or polygamma power
        remainder select shift_left shift_right_arithmetic shift_right_logical subtract xor zeta
    """.split()  # noqa: SIM905 (a list would be taller than the screen)
)
"""Operations that repeat their operands to the shape of the result."""


@sharding_rule(
    *BROADCASTING_OPERATIONS,
    reads=("broadcast_dimensions",),
    beyond_shardy=True,
)
def broadcasting_rule(op: OperationSignature) -> OpShardingRule:
    """Dimensions are counted from the last one, unless `broadcast_dimensions` says otherwise.

    Example:
        chlo.broadcast_add %a, %b : (tensor<4x1xf32>, tensor<6xf32>) -> tensor<4x6xf32>
        // ([i, k], [j])->([i, j]) {i=4, j=6, k=1} need_replication={k}
    """
    shape = op.result_shape()
    given = op.integers("broadcast_dimensions")
    builder = RuleBuilder(op)
    dims: list[dict[int, int]] = []
    for index in range(len(op.operands)):
        rank = len(op.operand_shape(index))
        is_lower = rank < len(shape)
        targets = given if given and is_lower else range(len(shape) - rank, len(shape))
        dims.append({target: dim for dim, target in enumerate(targets)})
    for target, size in enumerate(shape):
        shared = [
            dim if dim is not None and op.operand_shape(index)[dim] == size else None
            for index, dim in enumerate(of.get(target) for of in dims)
        ]
        builder.factor(size, shared, (target,))
    for index, of in enumerate(dims):
        for target, dim in of.items():
            if op.operand_shape(index)[dim] != shape[target]:
                builder.factor(1, (*[None] * index, dim), kind=NEED_REPLICATION)
    return builder.build()
