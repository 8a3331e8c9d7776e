# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Selection along one dimension, as in PyTorch."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.torch_index_select", reads=("dim", "batch_dims"), beyond_shardy=True)
def torch_index_select_rule(op: OperationSignature) -> OpShardingRule:
    """Elements of one dimension, which needs replication, at the positions in an index.

    The first `batch_dims` dimensions are those of all tensors. In the result, the other
    dimensions of the index take the place of the one selected from.

    Example:
        "stablehlo.torch_index_select"(%a, %b) <{dim = 1 : i64, batch_dims = 1 : i64}>
            : (tensor<4x6x8xf32>, tensor<4x3xi32>) -> tensor<4x3x8xf32>
        // ([i, l, k], [i, j])->([i, j, k]) {i=4, j=3, k=8, l=6} need_replication={l}
    """
    dim, num_batch = op.integer("dim"), op.integer("batch_dims")
    operand, index = op.operand_shape(0), op.operand_shape(1)
    num_selected = len(index) - num_batch
    builder = RuleBuilder(op)
    for at, size in enumerate(op.result_shape()):
        if at < num_batch:
            builder.factor(size, (at, at), (at,))
        elif at < dim:
            builder.factor(size, (at,), (at,))
        elif at < dim + num_selected:
            builder.factor(size, (None, at - dim + num_batch), (at,))
        else:
            builder.factor(size, (at - num_selected + 1,), (at,))
    return builder.factor(operand[dim], (dim,), kind=NEED_REPLICATION).build()
