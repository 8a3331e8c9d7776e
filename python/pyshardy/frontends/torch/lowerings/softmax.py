# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exponentials, divided by their sum along a dimension."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.tensor_types import element_type_of, shape_of


@lowering("aten._softmax", "aten.softmax.int")
def softmax(build: LoweringBuilder, value: ir.Value, dim: int, *_: Any) -> ir.Value:
    """Divide exponentials by their sum."""
    return _converted_softmax(build, value, dim, is_safe=False)


@lowering("aten._safe_softmax")
def safe_softmax(build: LoweringBuilder, value: ir.Value, dim: int, *_: Any) -> ir.Value:
    """Divide exponentials by their sum; the results are 0 where all numbers are minus infinity."""
    return _converted_softmax(build, value, dim, is_safe=True)


def _converted_softmax(
    build: LoweringBuilder, value: ir.Value, dim: int, *, is_safe: bool
) -> ir.Value:
    result = element_type_of(build.result_types[0])
    wide = build.widened(build.convert(value, result))
    made = softmax_along(build, wide, build.dimensions(wide, dim), is_safe=is_safe)
    return build.convert(made, result)


def softmax_along(
    build: LoweringBuilder, value: ir.Value, dims: Sequence[int], *, is_safe: bool
) -> ir.Value:
    """Divide exponentials by their sum along dimensions.

    Args:
        build: the builder.
        value: the exponents.
        dims: the dimensions.
        is_safe: whether the results are 0, and not NaN, where all numbers are minus infinity.
    """
    shape = shape_of(value.type)
    kept = [each for each in range(len(shape)) if each not in dims]
    scalar = ir.RankedTensorType.get([], element_type_of(value.type))
    largest = build.reduce(value, build.filled(scalar, -math.inf), dims, "stablehlo.maximum")
    shifted = build.binary("subtract", value, build.broadcast_in_dim(largest, shape, kept))
    exponential = build.unary("exponential", shifted)
    total = build.reduce(exponential, build.filled(scalar, 0), dims, "stablehlo.add")
    made = build.binary("divide", exponential, build.broadcast_in_dim(total, shape, kept))
    if not is_safe:
        return made
    is_masked = build.compare("EQ", largest, build.filled_like(largest, -math.inf))
    is_masked = build.broadcast_in_dim(is_masked, shape, kept)
    return build.select(is_masked, build.filled_like(made, 0), made)
