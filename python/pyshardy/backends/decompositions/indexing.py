# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatter window by window; gather with explicit, clamped indices; interior padding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import (
    Tensor,
    array,
    concatenate,
    constant,
    create,
    index_type,
    iota,
    loop,
    mapped,
    where,
)
from pyshardy.irtools.stablehlo_views import GatherView, PadView, ScatterView


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
    """Replace a scatter by a loop that combines an update window with the results in each trip.

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
    low, high = _index_row([-size for size in sizes]), _index_row(shape)
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
    vectors = _explicit_indices(
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


# --- Gather ---------------------------------------------------------------------------------------


@decomposition("gather")
def decompose_gather(operation: ir.Operation) -> list[Tensor]:
    """Replace a gather by one without batching dimensions and without indices out of bounds.

    1. Batches become indices, and the index vectors are the last dimension.
    2. The start of a slice that is partly out of bounds is clamped.
    """
    view = GatherView(operation)
    numbers = view.dimension_numbers
    operand, indices = map(Tensor, operation.operands)
    batches = list(numbers.operand_batching_dims)
    vectors = _explicit_indices(
        indices, numbers.index_vector_dim, numbers.start_indices_batching_dims
    )
    indexed = [*numbers.start_index_map, *batches]
    sizes = view.slice_sizes
    if indexed:
        last = _index_row([operand.shape[dim] - sizes[dim] for dim in indexed])
        vectors = where(vectors < 0, 0, where(vectors > last, last, vectors))
    explicit = ir.Attribute.parse(
        f"#stablehlo.gather<offset_dims = {list(numbers.offset_dims)}, "
        f"collapsed_slice_dims = {sorted([*numbers.collapsed_slice_dims, *batches])}, "
        f"start_index_map = {indexed}, index_vector_dim = {vectors.rank - 1}>"
    )
    attributes = {**dict(operation.attributes.items()), GatherView.dimension_numbers.name: explicit}
    return [create("gather", (operand, vectors), Tensor(operation.result).type, attributes)]


def _explicit_indices(
    indices: Tensor, index_vector_dim: int, batching_dims: Sequence[int]
) -> Tensor:
    """Return indices whose last dimension is that of index vectors, batches included.

    1. The dimension of index vectors becomes the last one; there is one for scalar indices, too.
    2. Along a dimension of batches, an index is added to each vector: the number of the batch.

    Example: `[[5, 6]]` of batches along dimension 1 and vectors along dimension 0 becomes
    `[[5, 0], [6, 1]]`.
    """
    wide = indices.to(index_type())
    if index_vector_dim == wide.rank:
        wide = wide.reshape(*wide.shape, 1)
    others = [dim for dim in range(wide.rank) if dim != index_vector_dim]
    vectors = wide.transpose(*others, index_vector_dim)
    *shape, _ = vectors.shape
    places = [iota(indices.shape[dim]) for dim in batching_dims]
    numbers = [
        place.broadcast_in_dim((*shape, 1), [others.index(dim)])
        for place, dim in zip(places, batching_dims, strict=True)
    ]
    return concatenate([vectors, *numbers], vectors.rank - 1)


def _index_row(numbers: Sequence[int]) -> Tensor:
    """Numbers as a vector of indices."""
    return array(np.array(numbers, np.int64))


# --- Padding --------------------------------------------------------------------------------------


@decomposition("pad")
def decompose_pad(operation: ir.Operation) -> list[Tensor] | None:
    """Replace interior padding by k elements by high padding and reshapes.

    1. The dimension is reshaped to rows of one element, and these are padded to 1 + k elements and
       flattened. This leaves k superfluous elements at the end of the dimension.
    2. The low and high padding follow.

    Example: `[1, 2]` with two 0 between is `[[1, 0, 0], [2, 0, 0]]`, and so `[1, 0, 0, 2]`.
    """
    data, filler = map(Tensor, operation.operands)
    amounts = PadView(operation)
    interior = amounts.interior_padding
    if not any(interior):
        return None
    for axis, between in enumerate(interior):
        before, size, behind = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
        if between and size:
            rows = data.reshape(*before, size, 1, *behind)
            high = [0] * rows.rank
            high[axis + 1] = between
            spread = rows.pad([0] * rows.rank, high, filler)
            line = spread.reshape(*before, size * (1 + between), *behind)
            data = line.along(axis, 0, size * (1 + between) - between)
    return [data.pad(amounts.edge_padding_low, amounts.edge_padding_high, filler)]
