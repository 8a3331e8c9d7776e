# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of groups of rows with different matrices, such as those of experts.

`offsets` holds the end of each group of rows; rows after the last one belong to none, and give
zeros. Each is one `stablehlo.dot_general` with all groups, whose operand is zero for the rows of
other groups. So the dimension of groups may be sharded (expert parallelism), as all others may:
`chlo.ragged_dot` needs it replicated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.frontends.torch.lowerings.products import dot_general
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape


@lowering("transformers.grouped_mm_fallback")
def rows_by_groups(
    build: LoweringBuilder, rows: ir.Value, matrices: ir.Value, offsets: ir.Value
) -> ir.Value:
    """Multiply each row `(S, K)` by the matrix `(G, K, N)` of its group."""
    return dot_general(build, _split(build, rows, 0, offsets), matrices, [1, 2], [0, 1])


@lowering("transformers.grouped_mm_fallback_backward")
def rows_by_groups_backward(
    build: LoweringBuilder,
    rows: ir.Value,
    matrices: ir.Value,
    offsets: ir.Value,
    gradient: ir.Value,
) -> Sequence[ir.Value]:
    """Return the gradients of rows and matrices."""
    of_rows = dot_general(build, _split(build, gradient, 0, offsets), matrices, [1, 2], [0, 2])
    # The operand has the dimensions (S, G, K).
    of_matrices = dot_general(build, _split(build, rows, 0, offsets), gradient, [0], [0])
    return of_rows, of_matrices


@lowering("aten._grouped_mm")
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
        found = dot_general(build, _split(build, lhs, 0, offsets), rhs, [1, 2], [0, 1])
    elif ranks == (3, 2):
        found = dot_general(build, lhs, _split(build, rhs, 1, offsets), [0, 2], [2, 0])
    else:
        # The operand has the dimensions (M, S, G).
        product = dot_general(build, _split(build, lhs, 1, offsets), rhs, [1], [0])
        found = build.transpose(product, [1, 0, 2])
    if bias is not None:
        found = build.binary("add", found, build.expanded(bias, shape_of(found.type)))
    return build.convert(found, element_type_of(build.result_types[0]))


def _split(build: LoweringBuilder, value: ir.Value, dim: int, offsets: ir.Value) -> ir.Value:
    """Add a dimension of groups after a dimension, with zeros in place of other groups."""
    shape = shape_of(value.type)
    groups = shape_of(offsets.type)[0]
    split = [*shape[: dim + 1], groups, *shape[dim + 1 :]]
    wide = with_shape(offsets.type, [shape[dim], groups])
    starts = build.pad(offsets, build.splat(with_shape(offsets.type, []), 0), low=[1], high=[-1])
    position = build.iota(wide, 0)
    is_after_start = build.compare(
        "GE", position, build.broadcast_in_dim(starts, [shape[dim], groups], [1])
    )
    is_before_end = build.compare(
        "LT", position, build.broadcast_in_dim(offsets, [shape[dim], groups], [1])
    )
    is_in_group = build.binary("and", is_after_start, is_before_end)
    kept = [each for each in range(len(split)) if each != dim + 1]
    spread = build.broadcast_in_dim(value, split, kept)
    chosen = build.broadcast_in_dim(is_in_group, split, [dim, dim + 1])
    return build.select(chosen, spread, build.filled_like(spread, 0))
