# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The expansion of `chlo.ragged_dot` to StableHLO, for engines that lack it.

The passes of the host expand only those whose groups have equal sizes in all batches.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.uses import replace_by
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import RaggedDotView
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.irtools.walks import operations_named

RAGGED_DOT = "chlo.ragged_dot"


def expand_ragged_dots(module: ir.Module) -> None:
    """Replace each `chlo.ragged_dot` by a product of all rows with the matrices of all groups.

    The operands get a dimension of groups, along which they are zero for all groups but that of the
    row. Rows behind the last group give zeros.
    """
    for operation in operations_named({RAGGED_DOT}, module):
        with operation.context, operation.location, ir.InsertionPoint(operation):
            expanded = _expanded(operation, StablehloBuilder())
        replace_by(operation, expanded)


def cumulative_sums(builder: StablehloBuilder, numbers: ir.Value) -> ir.Value:
    """Build the cumulative sums along the last dimension."""
    shape = shape_of(numbers.type)
    last = len(shape) - 1
    square = with_shape(numbers.type, [*shape, shape[-1]])
    added = builder.broadcast_in_dim(numbers, shape_of(square), [*range(last), last + 1])
    is_added = builder.compare("LE", builder.iota(square, last + 1), builder.iota(square, last))
    added = builder.select(is_added, added, builder.splat(square, 0))
    zero = builder.splat(with_shape(numbers.type, []), 0)
    return builder.reduce(added, zero, [last + 1], "stablehlo.add")


def _expanded(operation: ir.Operation, builder: StablehloBuilder) -> ir.Value:
    view = RaggedDotView(operation)
    numbers = view.ragged_dot_dimension_numbers
    lhs, rhs, sizes = operation.operands
    left, right = list(numbers.lhs_contracting), list(numbers.rhs_contracting)
    batches = list(numbers.lhs_batching), list(numbers.rhs_batching)
    rank = len(shape_of(lhs.type))
    apart = numbers.sized_apart(rank) if len(shape_of(sizes.type)) > 1 else ()
    rows = (*apart, *numbers.lhs_ragged)
    if numbers.is_contracting:
        of_rhs = [dim for each in rows if (dim := numbers.rhs_dim(each)) is not None]
        lhs = _split(builder, lhs, rows, sizes)
        rhs = _split(builder, rhs, of_rhs, sizes)
        batches = [0, *_behind(batches[0])], [0, *_behind(batches[1])]
        left, right = _behind(left), _behind(right)
    elif not numbers.is_batching:
        lhs = _split(builder, lhs, rows, sizes)
        batches = _behind(batches[0]), batches[1]
        left, right = [*_behind(left), 0], [*right, *numbers.rhs_group]
    attributes = {
        "dot_dimension_numbers": ir.Attribute.parse(
            f"#stablehlo.dot<lhs_batching_dimensions = {batches[0]}, "
            f"rhs_batching_dimensions = {batches[1]}, "
            f"lhs_contracting_dimensions = {left}, rhs_contracting_dimensions = {right}>"
        )
    }
    if precisions := view.precision_config:
        cases = ", ".join(f"#stablehlo<precision {case}>" for case in precisions)
        attributes["precision_config"] = ir.Attribute.parse(f"[{cases}]")
    result = operation.results[0].type
    return builder.create("stablehlo.dot_general", (lhs, rhs), (result,), attributes).result


def _behind(dims: Sequence[int]) -> list[int]:
    """Return dimensions behind a new first one."""
    return [dim + 1 for dim in dims]


def _split(
    builder: StablehloBuilder, value: ir.Value, rows: Sequence[int], sizes: ir.Value
) -> ir.Value:
    """Add a first dimension of groups, with zeros in place of the rows of other groups.

    Args:
        builder: builds the operations.
        value: an operand.
        rows: its dimensions along which groups have sizes of their own, then that of rows.
        sizes: the sizes of groups.
    """
    *apart, ragged = _behind(rows)
    shape = [shape_of(sizes.type)[-1], *shape_of(value.type)]
    ends = cumulative_sums(builder, sizes)
    starts = builder.binary("subtract", ends, sizes)
    position = builder.iota(with_shape(sizes.type, shape), ragged)
    start, end = (builder.broadcast_in_dim(each, shape, [*apart, 0]) for each in (starts, ends))
    is_in_group = builder.binary(
        "and", builder.compare("GE", position, start), builder.compare("LT", position, end)
    )
    spread = builder.broadcast_in_dim(value, shape, range(1, len(shape)))
    return builder.select(is_in_group, spread, builder.splat(spread.type, 0))
