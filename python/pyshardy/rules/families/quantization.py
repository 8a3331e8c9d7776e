# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between quantized and other numbers."""

from __future__ import annotations

import re

from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, PASS_THROUGH, RuleBuilder
from pyshardy.rules.registry import sharding_rule
from pyshardy.rules.signature import OperationSignature

_QUANTIZED_DIMS = re.compile(r"!quant\.uniform<[^:<>]*:[^:,<>{]+:(\{[^{}]*\}|\d+)")


@sharding_rule(
    "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize", reads=(), beyond_shardy=True
)
def quantization_rule(op: OperationSignature) -> OpShardingRule:
    """Point-wise; a dimension with a scale for each of its elements needs replication.

    The element type contains all scales, so the type of a shard would differ between devices.

    Example:
        stablehlo.uniform_quantize %a
            : (tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:1, {0.1,0.2}>>
        // ([i, j])->([i, j]) {i=4, j=2} need_replication={j}
    """
    quantized = {dim for tensor in op.tensors if tensor for dim in _quantized(tensor.element_type)}
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.point_factor(dim, size, NEED_REPLICATION if dim in quantized else PASS_THROUGH)
    return builder.build()


def _quantized(element_type: str) -> list[int]:
    """Return the dimensions with several scales: `i8:f32:1` or, in blocks, `i8:f32:{0:2, 1:4}`.

    A single scale follows a comma: `i8:f32, 0.1`.
    """
    found = _QUANTIZED_DIMS.match(element_type)
    if found is None:
        return []
    if found[1].isdigit():
        return [int(found[1])]
    return [int(dim) for dim in re.findall(r"(\d+)\s*:", found[1])]
