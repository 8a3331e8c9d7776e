# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention: values of positions, weighted by the products of queries and keys."""

from __future__ import annotations

import math
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.frontends.torch.lowerings.products import batched_product
from pyshardy.frontends.torch.lowerings.softmax import softmax_along
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape


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
