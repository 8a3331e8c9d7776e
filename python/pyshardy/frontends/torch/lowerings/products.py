# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices, as single operations without merged dimensions.

PyTorch merges the batch dimensions of products, and the importer broadcasts weights to them; either
keeps batch dimensions and heads from being sharded by different axes. Products of groups of rows
with different matrices, such as those of experts, are a `chlo.ragged_dot`, of which all dimensions
may be sharded: that of groups (expert parallelism), too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir, stablehlo
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape


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
