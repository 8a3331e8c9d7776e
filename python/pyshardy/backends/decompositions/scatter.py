# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatter, one window after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.indices import explicit_indices, index_row
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import (
    Tensor,
    concatenate,
    constant,
    index_type,
    loop,
    mapped,
    where,
)
from pyshardy.irtools.stablehlo_views import ScatterView


@dataclass(frozen=True)
class _Windows:
    """The windows of a scatter, in a list.

    Attributes:
        starts: for each window the index in the operand at which it begins: `[count, rank]`.
        sizes: the shape of a window, of the rank of the operand.
        updates: for each operand `[count, *sizes]`.
    """

    starts: Tensor
    sizes: tuple[int, ...]
    updates: list[Tensor]


@decomposition("scatter")
def decompose_scatter(operation: ir.Operation) -> list[Tensor] | None:
    """Replace a scatter by a loop that combines one update window with the results in each trip.

    1. Elements of windows that are out of bounds are dropped. The operands are therefore padded by
       the size of a window on all sides, and the padding is sliced off at the end.
    2. The start of a window that is outside of the padding is clamped to it.
    """
    count = (len(operation.operands) - 1) // 2
    values = [Tensor(value) for value in operation.operands]
    operands = values[:count]
    windows = _windows(operation, operands[0], values[count], values[count + 1 :])
    elements = [Tensor(result).element for result in operation.results]
    sizes, shape = windows.sizes, operands[0].shape
    if 0 in sizes or windows.starts.shape[0] == 0:
        return [each.to(element) for each, element in zip(operands, elements, strict=True)]
    lowest = constant(0, index_type())
    starts = windows.starts
    low, high = index_row([-size for size in sizes]), index_row(shape)
    starts = where(starts < low, low, where(starts > high, high, starts)) - low
    padded = [
        each.to(element).pad(sizes, sizes) for each, element in zip(operands, elements, strict=True)
    ]
    updates = [each.to(element) for each, element in zip(windows.updates, elements, strict=True)]

    def combine(trip: Tensor, *results: Tensor) -> list[Tensor]:
        row = starts.at(0, trip).reshape(len(sizes))
        corner = [row.along(0, dim, dim + 1).reshape() for dim in range(len(sizes))]
        old = [each.window(corner, sizes) for each in results]
        put = [
            each.window([trip, *[lowest] * len(sizes)], (1, *sizes)).reshape(*sizes)
            for each in updates
        ]
        return [
            each.updated(mapped(operation.regions[0], [*old, *put], index), corner)
            for index, each in enumerate(results)
        ]

    ends = [start + size for start, size in zip(sizes, shape, strict=True)]
    return [each.slice(sizes, ends) for each in loop(starts.shape[0], padded, combine)]


def _windows(
    operation: ir.Operation, operand: Tensor, indices: Tensor, updates: Sequence[Tensor]
) -> _Windows:
    numbers = ScatterView(operation).scatter_dimension_numbers
    vectors = explicit_indices(
        indices, numbers.index_vector_dim, numbers.scatter_indices_batching_dims
    )
    *shape, width = vectors.shape
    count = math.prod(shape)
    rows = vectors.reshape(count, width)
    indexed = [*numbers.scattered_dims_to_operand_dims, *numbers.input_batching_dims]
    nothing = constant(0, index_type(), (count, 1))
    columns = {dim: rows.along(1, at, at + 1) for at, dim in enumerate(indexed)}
    starts = [columns.get(dim, nothing) for dim in range(operand.rank)]
    window_dims = list(numbers.update_window_dims)
    dropped = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
    kept = iter(updates[0].shape[dim] for dim in window_dims)
    sizes = tuple(1 if dim in dropped else next(kept) for dim in range(operand.rank))
    order = [dim for dim in range(updates[0].rank) if dim not in window_dims] + window_dims
    windows = [each.transpose(*order).reshape(count, *sizes) for each in updates]
    # A scalar has no starts; an additional column, sliced off later, avoids a special case.
    corners = concatenate([*starts, nothing], 1).along(1, 0, operand.rank)
    return _Windows(corners, sizes, windows)
