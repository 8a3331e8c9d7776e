# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials, divided by their sum along a dimension."""

from __future__ import annotations

import math
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten._softmax", "aten.softmax.int")
def softmax(build: LoweringBuilder, value: ir.Value, dim: int, *_: Any) -> ir.Value:
    """Divide exponentials by their sum."""
    return _softmax(build, value, dim, is_safe=False)


@lowering("aten._safe_softmax")
def safe_softmax(build: LoweringBuilder, value: ir.Value, dim: int, *_: Any) -> ir.Value:
    """Divide exponentials by their sum; the results are 0 where all numbers are minus infinity."""
    return _softmax(build, value, dim, is_safe=True)


def _softmax(build: LoweringBuilder, value: ir.Value, dim: int, *, is_safe: bool) -> ir.Value:
    result = element_type_of(build.result_types[0])
    wide = build.widened(build.convert(value, result))
    shape, element = shape_of(wide.type), element_type_of(wide.type)
    dims = build.dimensions(wide, dim)
    kept = [each for each in range(len(shape)) if each not in dims]
    scalar = ir.RankedTensorType.get([], element)
    largest = build.reduce(wide, build.filled(scalar, -math.inf), dims, "stablehlo.maximum")
    shifted = build.binary("subtract", wide, build.broadcast_in_dim(largest, shape, kept))
    exponential = build.unary("exponential", shifted)
    total = build.reduce(exponential, build.filled(scalar, 0), dims, "stablehlo.add")
    made = build.binary("divide", exponential, build.broadcast_in_dim(total, shape, kept))
    if is_safe:
        is_masked = build.compare("EQ", largest, build.filled_like(largest, -math.inf))
        is_masked = build.broadcast_in_dim(is_masked, shape, kept)
        made = build.select(is_masked, build.filled_like(made, 0), made)
    return build.convert(made, result)
