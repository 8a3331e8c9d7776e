# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows with different matrices, such as those of experts.

`offsets` holds the end of each group of rows; rows after the last one belong to none, and give
zeros. Each product is a `chlo.ragged_dot`, of which all dimensions may be sharded: that of groups
(expert parallelism), too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.frontends.torch.lowerings.products import dot_general
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape


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

    | operands               | result      | groups                        |
    |------------------------|-------------|-------------------------------|
    | `(S, K)`, `(G, K, N)`  | `(S, N)`    | of rows                       |
    | `(G, M, K)`, `(K, S)`  | `(M, S)`    | of columns                    |
    | `(M, S)`, `(S, N)`     | `(G, M, N)` | of the contracted dimension   |
    | `(G, M, K)`, `(G, K, N)` | `(G, M, N)` | none: a product of batches  |
    """
    ranks = len(shape_of(lhs.type)), len(shape_of(rhs.type))
    if offsets is None or ranks == (3, 3):
        found = dot_general(build, lhs, rhs, [2], [1], [0], [0])
    elif ranks == (2, 3):
        found = _ragged_dot(build, lhs, rhs, offsets, 0, 1, 1)
    elif ranks == (3, 2):
        found = build.transpose(_ragged_dot(build, rhs, lhs, offsets, 1, 0, 2), [1, 0])
    else:
        found = _ragged_dot(build, lhs, rhs, offsets, 1, 1, 0)
    if bias is not None:
        found = build.binary("add", found, build.expanded(bias, shape_of(found.type)))
    return build.convert(found, element_type_of(build.result_types[0]))


def _ragged_dot(
    build: LoweringBuilder,
    lhs: ir.Value,
    rhs: ir.Value,
    offsets: ir.Value,
    ragged: int,
    lhs_contracting: int,
    rhs_contracting: int,
) -> ir.Value:
    """Build a product of groups of a matrix `lhs` with a matrix, or with one for each group.

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
