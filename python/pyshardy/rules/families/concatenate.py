# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concatenation."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.constants import behind_slice
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, PERMUTATION, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature


def _rearranges_slices(operation: ir.Operation) -> bool:
    """Whether a concatenation rearranges parts of tensors.

    1. All operands are slices, or
    2. all are slices of one tensor or, except for at least one slice, the tensor itself.
    """
    found = [behind_slice(operand) for operand in operation.operands]
    if all(is_slice for _, is_slice in found):
        return True
    source = found[0][0]
    return any(is_slice for _, is_slice in found) and all(value == source for value, _ in found)


@sharding_rule("stablehlo.concatenate", reads=("dimension",), observes=_rearranges_slices)
def concatenate_rule(op: OperationSignature) -> OpShardingRule:
    """The concatenated dimension has one factor in all operands and in the result.

    It is a permutation factor if slices are rearranged, since shards exchange elements; otherwise
    it needs replication.

    Example:
        stablehlo.concatenate %a, %b, dim = 1
            : (tensor<4x6xf32>, tensor<4x2xf32>) -> tensor<4x8xf32>
        // ([i, j], [i, j])->([i, j]) {i=4, j=8} need_replication={j}
        // conservative: ([i, j], [i, k])->([i, l]) {i=4, j=1, k=1, l=1}
    """
    concatenated = op.integer("dimension")
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        if dim != concatenated:
            builder.point_factor(dim, size, PASS_THROUGH)
        elif not op.conservative:
            builder.point_factor(dim, size, PERMUTATION if op.observed else NEED_REPLICATION)
    return builder.build()
