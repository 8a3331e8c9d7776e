# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that permute, repeat or reduce whole dimensions."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import PASS_THROUGH, REDUCTION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.transpose", reads=("permutation",))
def transpose_rule(op: OperationSignature) -> OpShardingRule:
    """`j i -> i j`."""
    builder = RuleBuilder(op)
    for result_dim, operand_dim in enumerate(op.integers("permutation")):
        builder.factor(op.operand_shape(0)[operand_dim], (operand_dim,), (result_dim,))
    return builder.build()


@sharding_rule("stablehlo.broadcast_in_dim", reads=("broadcast_dimensions",))
def broadcast_in_dim_rule(op: OperationSignature) -> OpShardingRule:
    """`i -> j i`; an operand's dimension of size 1 that is expanded has a factor of its own."""
    operand_dims = {
        result_dim: dim for dim, result_dim in enumerate(op.integers("broadcast_dimensions"))
    }
    builder = RuleBuilder(op)
    for result_dim, size in enumerate(op.result_shape()):
        dim = operand_dims.get(result_dim)
        if dim is not None and op.operand_shape(0)[dim] == 1 and size != 1:
            builder.factor(1, (dim,))
            builder.factor(size, (), (result_dim,))
        else:
            builder.factor(size, (dim,), (result_dim,))
    return builder.build()


@sharding_rule("stablehlo.reduce", reads=("dimensions",))
def reduce_rule(op: OperationSignature) -> OpShardingRule:
    """`i j, () -> i` where `j` is reduced; the same for each of several inputs."""
    reduced = op.integers("dimensions")
    num_inputs = len(op.results)
    builder = RuleBuilder(op)
    result_dim = 0
    for dim, size in enumerate(op.operand_shape(0)):
        if dim in reduced:
            builder.factor(size, (dim,) * num_inputs, (), REDUCTION)
        else:
            builder.factor(size, (dim,) * num_inputs, (result_dim,) * num_inputs, PASS_THROUGH)
            result_dim += 1
    return builder.build()
