# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Softmax, attention and normalization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir, stablehlo
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.ragged_dots import RAGGED_DOT
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


# PyTorch merges the batch dimensions of products, and the importer broadcasts weights to them;
# either keeps batch dimensions and heads from being sharded by different axes. Products of groups
# of rows with different matrices, such as those of experts, are a `chlo.ragged_dot`, of which all
# dimensions may be sharded: that of groups (expert parallelism), too.


@lowering("aten.matmul")
def matmul(build: LoweringBuilder, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
    """Multiply matrices or vectors."""
    lhs_rank, rhs_rank = len(shape_of(lhs.type)), len(shape_of(rhs.type))
    if lhs_rank == 1 or rhs_rank == 1:
        return dot_general(build, lhs, rhs, [lhs_rank - 1], [max(rhs_rank - 2, 0)])
    return batched_product(build, lhs, rhs)


def batched_product(
    build: LoweringBuilder, lhs: ir.Value, rhs: ir.Value, rhs_dim: int = -2
) -> ir.Value:
    """Multiply matrices.

    1. The batch dimensions that both operands have are those of the `dot_general`.
    2. A batch dimension of one operand that the other lacks, or has with size 1, is free: it stays
       a dimension of that operand only.

    Args:
        build: the builder.
        lhs: the matrices on the left.
        rhs: the matrices on the right.
        rhs_dim: the dimension of `rhs` to sum over: -2, or -1 for transposed matrices.
    """
    lhs_shape, rhs_shape = shape_of(lhs.type), shape_of(rhs.type)
    rank = max(len(lhs_shape), len(rhs_shape)) - 2
    lhs_sizes, rhs_sizes = (
        [1] * (rank + 2 - len(shape)) + list(shape[:-2]) for shape in (lhs_shape, rhs_shape)
    )
    # Positions in the result of the batch dimensions, by where they come from.
    shared = [dim for dim in range(rank) if lhs_sizes[dim] == rhs_sizes[dim]]
    of_lhs = [dim for dim in range(rank) if dim not in shared and rhs_sizes[dim] == 1]
    of_rhs = [dim for dim in range(rank) if dim not in shared and dim not in of_lhs]
    lhs = _with_dims(build, lhs, [lhs_sizes[dim] for dim in sorted((*shared, *of_lhs))])
    rhs = _with_dims(build, rhs, [rhs_sizes[dim] for dim in sorted((*shared, *of_rhs))])
    lhs_batch = [sorted((*shared, *of_lhs)).index(dim) for dim in shared]
    rhs_batch = [sorted((*shared, *of_rhs)).index(dim) for dim in shared]
    contracting = [len(shape_of(lhs.type)) - 1], [len(shape_of(rhs.type)) + rhs_dim]
    product = dot_general(build, lhs, rhs, *contracting, lhs_batch, rhs_batch)
    positions = [*shared, *of_lhs, rank, *of_rhs, rank + 1]  # in the result, of its dimensions
    if positions == sorted(positions):
        return product
    return build.transpose(product, [positions.index(dim) for dim in range(rank + 2)])


@lowering("aten.addmm")
def addmm(
    build: LoweringBuilder,
    bias: ir.Value,
    lhs: ir.Value,
    rhs: ir.Value,
    *,
    beta: float = 1,
    alpha: float = 1,
) -> ir.Value:
    """Multiply matrices, and add a tensor; a factor of 0 leaves it out."""
    product = build.scaled(dot_general(build, lhs, rhs, [1], [0]), alpha)
    if not beta:
        return product
    added = build.expanded(build.scaled(bias, beta), shape_of(product.type))
    return build.binary("add", product, added)


@lowering("aten.linear")
def linear(
    build: LoweringBuilder, value: ir.Value, weight: ir.Value, bias: ir.Value | None = None
) -> ir.Value:
    """Multiply by a transposed matrix, and add a vector."""
    last = len(shape_of(value.type)) - 1
    product = dot_general(build, value, weight, [last], [len(shape_of(weight.type)) - 1])
    if bias is None:
        return product
    dims = [last] if shape_of(bias.type) else []
    return build.binary("add", product, build.broadcast_in_dim(bias, shape_of(product.type), dims))


def dot_general(
    build: LoweringBuilder,
    lhs: ir.Value,
    rhs: ir.Value,
    lhs_contracting: Sequence[int],
    rhs_contracting: Sequence[int],
    lhs_batch: Sequence[int] = (),
    rhs_batch: Sequence[int] = (),
) -> ir.Value:
    """Build a product; the result has the batch dimensions, then those of `lhs` and of `rhs`."""
    lhs_shape, rhs_shape = shape_of(lhs.type), shape_of(rhs.type)
    free = [
        *(size for dim, size in enumerate(lhs_shape) if dim not in (*lhs_batch, *lhs_contracting)),
        *(size for dim, size in enumerate(rhs_shape) if dim not in (*rhs_batch, *rhs_contracting)),
    ]
    numbers = stablehlo.DotDimensionNumbers.get(
        list(lhs_batch), list(rhs_batch), list(lhs_contracting), list(rhs_contracting)
    )
    result = with_shape(lhs.type, [*(lhs_shape[dim] for dim in lhs_batch), *free])
    attributes = {"dot_dimension_numbers": numbers}
    return build.create("stablehlo.dot_general", (lhs, rhs), (result,), attributes).result


def _with_dims(build: LoweringBuilder, value: ir.Value, batch: Sequence[int]) -> ir.Value:
    """Reshape a batch of matrices to batch dimensions of given sizes."""
    shape = [*batch, *shape_of(value.type)[-2:]]
    return value if shape == list(shape_of(value.type)) else build.reshape(value, shape)


@lowering("transformers.grouped_mm_fallback")
def rows_by_groups(
    build: LoweringBuilder, rows: ir.Value, matrices: ir.Value, offsets: ir.Value
) -> ir.Value:
    """Multiply each row `(S, K)` by the matrix `(G, K, N)` of its group."""
    return _ragged_dot(build, rows, matrices, offsets, 0, 1, 1)


@lowering("transformers.grouped_mm_fallback_backward")
def rows_by_groups_backward(
    build: LoweringBuilder,
    rows: ir.Value,
    matrices: ir.Value,
    offsets: ir.Value,
    gradient: ir.Value,
) -> Sequence[ir.Value]:
    """Return the gradients of rows and matrices."""
    of_rows = _ragged_dot(build, gradient, matrices, offsets, 0, 1, 2)
    of_matrices = _ragged_dot(build, rows, gradient, offsets, 0, 0, 0)
    return of_rows, of_matrices


@lowering("aten._grouped_mm", "pyshardy.grouped_mm")
def grouped_mm(
    build: LoweringBuilder,
    lhs: ir.Value,
    rhs: ir.Value,
    offsets: ir.Value | None = None,
    bias: ir.Value | None = None,
    out_dtype: Any = None,
) -> ir.Value:
    """Multiply matrices in groups: of rows, of columns, or of the contracted dimension.

    `offsets` holds the end of each group of rows; rows after the last one belong to none, and give
    zeros.

    | operands               | result      | groups                        |
    |------------------------|-------------|-------------------------------|
    | `(S, K)`, `(G, K, N)`  | `(S, N)`    | of rows                       |
    | `(G, M, K)`, `(K, S)`  | `(M, S)`    | of columns                    |
    | `(M, S)`, `(S, N)`     | `(G, M, N)` | of the contracted dimension   |
    | `(G, M, K)`, `(G, K, N)` | `(G, M, N)` | none: a product of batches  |
    """
    ranks = len(shape_of(lhs.type)), len(shape_of(rhs.type))
    if offsets is None or ranks == (3, 3):
        result = dot_general(build, lhs, rhs, [2], [1], [0], [0])
    elif ranks == (2, 3):
        result = _ragged_dot(build, lhs, rhs, offsets, 0, 1, 1)
    elif ranks == (3, 2):
        result = build.transpose(_ragged_dot(build, rhs, lhs, offsets, 1, 0, 2), [1, 0])
    else:
        result = _ragged_dot(build, lhs, rhs, offsets, 1, 1, 0)
    if bias is not None:
        result = build.binary("add", result, build.expanded(bias, shape_of(result.type)))
    return build.convert(result, element_type_of(build.result_types[0]))


def _ragged_dot(
    build: LoweringBuilder,
    lhs: ir.Value,
    rhs: ir.Value,
    offsets: ir.Value,
    ragged: int,
    lhs_contracting: int,
    rhs_contracting: int,
) -> ir.Value:
    """Build a product of groups of a matrix `lhs` with a matrix, or a matrix for each group.

    Args:
        build: builds the operations.
        lhs: the matrix that is cut into groups.
        rhs: a matrix; or matrices, along dimension 0.
        offsets: the ends of the groups.
        ragged: the dimension of `lhs` that is cut.
        lhs_contracting: the contracting dimension of `lhs`.
        rhs_contracting: the contracting dimension of `rhs`.
    """
    starts = build.pad(offsets, build.splat(with_shape(offsets.type, []), 0), low=[1], high=[-1])
    sizes = build.binary("subtract", offsets, starts)
    lhs_shape, rhs_shape = shape_of(lhs.type), shape_of(rhs.type)
    first = len(rhs_shape) - 2  # of the dimensions of a matrix
    groups = shape_of(offsets.type) if ragged == lhs_contracting else ()
    result = [*groups, lhs_shape[1 - lhs_contracting], rhs_shape[2 * first + 1 - rhs_contracting]]
    numbers = ir.Attribute.parse(
        f"#chlo.ragged_dot<lhs_contracting_dimensions = [{lhs_contracting}], "
        f"rhs_contracting_dimensions = [{rhs_contracting}], lhs_ragged_dimensions = [{ragged}], "
        f"rhs_group_dimensions = {[*range(first)]}>"
    )
    attributes = {"ragged_dot_dimension_numbers": numbers}
    operands = lhs, rhs, sizes
    return build.create(RAGGED_DOT, operands, (with_shape(lhs.type, result),), attributes).result
