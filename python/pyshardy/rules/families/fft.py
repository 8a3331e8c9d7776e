# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms."""

from __future__ import annotations

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


@sharding_rule("stablehlo.fft", reads=("fft_length",))
def fft_rule(op: OperationSignature) -> OpShardingRule:
    """The transformed dimensions, the last ones, need replication.

    The last one is blocked if its size changes, as in transforms of real numbers.

    Example:
        stablehlo.fft %a, type = RFFT, length = [6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
        // ([i, j])->([i, j]) {i=4, j=6} need_replication={j} blocked_propagation={j}
    """
    shape = op.operand_shape()
    first = len(shape) - len(op.integers("fft_length"))
    last = len(shape) - 1
    builder = RuleBuilder(op).pointwise(shape[:first])
    for dim in range(first, len(shape)):
        changes = dim == last and shape[dim] != op.result_shape()[dim]
        builder.point_factor(dim, shape[dim], NEED_REPLICATION, blocked=changes)
    return builder.build()
