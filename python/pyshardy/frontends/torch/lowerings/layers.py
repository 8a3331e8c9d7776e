# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax, attention and normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.frontends.torch.lowerings.products import batched_product
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape


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
    output = softmax_along(build, wide, build.dimensions(wide, dim), is_safe=is_safe)
    return build.convert(output, result)


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
    result = build.binary("divide", exponential, build.broadcast_in_dim(total, shape, kept))
    if not is_safe:
        return result
    is_masked = build.compare("EQ", largest, build.filled_like(largest, -math.inf))
    is_masked = build.broadcast_in_dim(is_masked, shape, kept)
    return build.select(is_masked, build.filled_like(result, 0), result)


def _has_no_dropout(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0,
    *_: Any,
    **__: Any,
) -> bool:
    return dropout_p == 0


@lowering("aten.scaled_dot_product_attention", applies=_has_no_dropout)
def scaled_dot_product_attention(
    build: LoweringBuilder,
    query: ir.Value,
    key: ir.Value,
    value: ir.Value,
    attn_mask: ir.Value | None = None,
    dropout_p: float = 0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> ir.Value:
    """Compute attention, as the decomposition of the same name does."""
    element = element_type_of(query.type)
    query, key, value = (build.widened(each) for each in (query, key, value))
    if enable_gqa:
        heads = shape_of(query.type)[-3]
        key, value = (_with_heads(build, each, heads) for each in (key, value))
    factor = 1 / math.sqrt(shape_of(query.type)[-1]) if scale is None else scale
    scores = batched_product(build, build.scaled(query, factor), key, rhs_dim=-1)
    if is_causal:
        attn_mask = _causal_mask(build, scores)
    if attn_mask is not None:
        scores = _masked(build, scores, attn_mask)
    last = len(shape_of(scores.type)) - 1
    is_safe = attn_mask is not None and not is_causal
    weights = softmax_along(build, scores, [last], is_safe=is_safe)
    return build.convert(batched_product(build, weights, value), element)


def _with_heads(build: LoweringBuilder, value: ir.Value, heads: int) -> ir.Value:
    """Repeat each head, so that there are as many as given."""
    *batch, count, length, width = shape_of(value.type)
    if count == heads:
        return value
    kept = [*range(len(batch) + 1), *range(len(batch) + 2, len(batch) + 4)]
    repeated = build.broadcast_in_dim(value, [*batch, count, heads // count, length, width], kept)
    return build.reshape(repeated, [*batch, heads, length, width])


def _causal_mask(build: LoweringBuilder, scores: ir.Value) -> ir.Value:
    """Return whether keys are at most as late as queries."""
    matrix = with_shape(scores.type, shape_of(scores.type)[-2:])
    positions = with_element(matrix, ir.IntegerType.get_signless(64))
    return build.compare("GE", build.iota(positions, 0), build.iota(positions, 1))


def _masked(build: LoweringBuilder, scores: ir.Value, mask: ir.Value) -> ir.Value:
    """Return scores with minus infinity where a mask is false, or with a mask of numbers added."""
    shape, element = shape_of(scores.type), element_type_of(scores.type)
    if isinstance(element_type_of(mask.type), ir.IntegerType):
        lowest = build.filled_like(scores, -math.inf)
        return build.select(build.expanded(mask, shape), scores, lowest)
    return build.binary("add", scores, build.expanded(build.convert(mask, element), shape))


@lowering("aten.layer_norm")
def layer_norm(
    build: LoweringBuilder,
    value: ir.Value,
    sizes: Sequence[int],
    weight: ir.Value | None = None,
    bias: ir.Value | None = None,
    eps: float = 1e-5,
    *_: bool,
) -> ir.Value:
    """Normalize the last dimensions."""
    rank = len(shape_of(value.type))
    dims = [*range(rank - len(sizes), rank)]
    result = _normalized(build, build.widened(value), dims, eps)
    result = _scaled_and_shifted(build, result, weight, bias, dims)
    return build.convert(result, element_type_of(value.type))


@lowering("aten.group_norm")
def group_norm(
    build: LoweringBuilder,
    value: ir.Value,
    groups: int,
    weight: ir.Value | None = None,
    bias: ir.Value | None = None,
    eps: float = 1e-5,
    *_: bool,
) -> ir.Value:
    """Normalize groups of channels, which are dimension 1."""
    batch, channels, *spatial = shape_of(value.type)
    split = [batch, groups, channels // groups, *spatial]
    wide = build.widened(value)
    result = _normalized(build, build.reshape(wide, split), [*range(2, len(split))], eps)
    result = build.reshape(result, shape_of(value.type))
    result = _scaled_and_shifted(build, result, weight, bias, [1])
    return build.convert(result, element_type_of(value.type))


def _normalized(
    build: LoweringBuilder, value: ir.Value, dims: Sequence[int], eps: float
) -> ir.Value:
    """Return the distances from the mean, divided by the standard deviation."""
    shape = shape_of(value.type)
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    zero = build.filled(ir.RankedTensorType.get([], element_type_of(value.type)), 0)
    count = math.prod(shape[dim] for dim in dims)

    def mean(each: ir.Value) -> ir.Value:
        total = build.reduce(each, zero, dims, "stablehlo.add")
        return build.binary("divide", total, build.filled_like(total, count))

    difference = build.binary("subtract", value, build.broadcast_in_dim(mean(value), shape, kept))
    variance = mean(build.binary("multiply", difference, difference))
    shifted = build.binary("add", variance, build.filled_like(variance, eps))
    scale = build.broadcast_in_dim(build.unary("rsqrt", shifted), shape, kept)
    return build.binary("multiply", difference, scale)


def _scaled_and_shifted(
    build: LoweringBuilder,
    value: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    dims: Sequence[int],
) -> ir.Value:
    """Multiply by a weight and add a bias, which have some of the dimensions."""
    for name, operand in (("multiply", weight), ("add", bias)):
        if operand is not None:
            wide = build.convert(operand, element_type_of(value.type))
            broadcast = build.broadcast_in_dim(wide, shape_of(value.type), dims)
            value = build.binary(name, value, broadcast)
    return value
