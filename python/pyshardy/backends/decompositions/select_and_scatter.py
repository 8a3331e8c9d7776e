# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Select-and-scatter: the gradient of pooling."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, array, mapped, where
from pyshardy.irtools.stablehlo_views import WindowsView
from pyshardy.local_program.tensor_spec import Array


@decomposition("select_and_scatter")
def decompose_select_and_scatter(operation: ir.Operation) -> list[Tensor]:
    """Find the element that each window selects, and scatter to these.

    1. All windows visit the same one of their positions at a time: the first one, the second one,
       and so on.
    2. A window keeps its candidate if `select(candidate, visited)`. Otherwise, or if it has no
       candidate, the visited element becomes the candidate. Padding is not visited.
    """
    operand, source, initial = map(Tensor, operation.operands)
    rank = operand.rank
    view = WindowsView(operation)
    window = view.window_dimensions or (1,) * rank
    strides = view.window_strides or (1,) * rank
    padding = view.padding or [(0, 0)] * rank
    size = math.prod(operand.shape)
    places = array(_padded(np.arange(size).reshape(operand.shape), padding))
    low, high = [list(side) for side in zip(*padding, strict=True)]
    padded = operand.pad(low, high)
    chosen = chosen_at = None
    for offset in itertools.product(*map(range, window)):
        ends = [
            first + step * (count - 1) + 1
            for first, step, count in zip(offset, strides, source.shape, strict=True)
        ]
        seen, seen_at = padded.slice(offset, ends, strides), places.slice(offset, ends, strides)
        if chosen is None or chosen_at is None:
            chosen, chosen_at = seen, seen_at
            continue
        keeps = mapped(operation.regions[0], [chosen, seen]) & (chosen_at >= 0)
        keeps = keeps | (seen_at < 0)
        chosen, chosen_at = where(keeps, chosen, seen), where(keeps, chosen_at, seen_at)
    assert chosen_at is not None
    count = math.prod(source.shape)
    numbers = ir.Attribute.parse(
        "#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
        "index_vector_dim = 1>"
    )
    # A window that consists of padding selects -1, which is out of bounds.
    flat = initial.broadcast(size)
    scatter = ir.Operation.create(
        "stablehlo.scatter",
        results=[flat.type],
        operands=[
            flat.value,
            chosen_at.reshape(count, 1).value,
            source.reshape(count).value,
        ],
        attributes={"scatter_dimension_numbers": numbers},
        regions=1,
    )
    copy = operation.clone(ip=False).operation
    copy.regions[1].blocks[0].append_to(scatter.regions[0])
    return [Tensor(scatter.result).reshape(*operand.shape)]


def _padded(places: Array, padding: Sequence[tuple[int, int]]) -> Array:
    """Return positions padded with -1; negative padding removes positions."""
    kept = tuple(
        slice(max(0, -low), size - max(0, -high))
        for size, (low, high) in zip(places.shape, padding, strict=True)
    )
    around = [(max(0, low), max(0, high)) for low, high in padding]
    return np.pad(places[kept], around, constant_values=-1)
