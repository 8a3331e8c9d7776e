# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting by a network of compare-and-exchange rounds."""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, array, iota, loop, mapped, where
from pyshardy.irtools.stablehlo_views import SortView


@decomposition("sort")
def decompose_sort(operation: ir.Operation) -> list[Tensor]:
    """Sort by rounds in which elements are exchanged with partners (`exchange_partners`).

    1. Of a pair, the element that is ordered first goes to the lower position.
    2. Element a is ordered before b if the comparator returns true for (a, b), or if it returns
       false for (b, a) and a was before b in the operand. Equal elements keep their order.
    """
    operands = [Tensor(operand) for operand in operation.operands]
    axis = SortView(operation).dimension % operands[0].rank
    size = operands[0].shape[axis]
    if size < 2:
        return operands
    comparator = operation.regions[0]
    rounds = array(exchange_partners(size))
    column = [1] * operands[0].rank
    column[axis] = size
    places = iota(size)
    origins = places.reshape(*column).broadcast(*operands[0].shape)

    def exchange(trip: Tensor, origin: Tensor, *state: Tensor) -> list[Tensor]:
        partner = rounds.at(0, trip).reshape(size)
        columns = [origin, *state]
        others = [each.take(axis, partner) for each in columns]
        other_first = _comes_first(comparator, others, columns)
        is_lower = (places < partner).reshape(*column)
        is_paired = (~places.equals(partner)).reshape(*column)
        moves = is_paired & _same(other_first, is_lower)
        return [where(moves, new, old) for new, old in zip(others, columns, strict=True)]

    return loop(rounds.shape[0], [origins, *operands], exchange)[1:]


def exchange_partners(size: int) -> np.ndarray:
    """Return Batcher's network, which merges sorted sequences of increasing length.

    Row r has the partner of each position in round r; a position without one is its own partner.

    Example: 4 positions take the rounds `[1, 0, 3, 2]`, `[2, 3, 0, 1]` and `[0, 2, 1, 3]`.
    """
    greatest = 1 << (size - 1).bit_length() - 1
    rounds: list[np.ndarray] = []
    length = greatest
    while length:
        distance, phase, step = length, 0, greatest
        while True:
            partner = np.arange(size)
            low = np.arange(size - distance)
            low = low[(low & length) == phase]
            partner[low], partner[low + distance] = low + distance, low
            rounds.append(partner)
            if step == length:
                break
            distance, phase, step = step - length, length, step // 2
        length //= 2
    return np.array(rounds, np.int64)


def _comes_first(comparator: ir.Region, left: list[Tensor], right: list[Tensor]) -> Tensor:
    """Return the mask of positions at which `left` is ordered before `right`.

    The first tensor of both holds the original positions.
    """
    pairs = list(zip(left[1:], right[1:], strict=True))
    before = mapped(comparator, [each for pair in pairs for each in pair])
    behind = mapped(comparator, [each for pair in pairs for each in reversed(pair)])
    return before | (~behind & (left[0] < right[0]))


def _same(first: Tensor, second: Tensor) -> Tensor:
    """Return the mask of positions at which two booleans are equal."""
    shape = first.shape
    return (first & second.broadcast(*shape)) | ~(first | second.broadcast(*shape))
