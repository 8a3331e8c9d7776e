# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting by a network of exchanges."""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, array, iota, loop, mapped, where


@decomposition("sort")
def decompose_sort(operation: ir.Operation) -> list[Tensor]:
    """Each round exchanges elements with their partners (`exchange_partners`).

    1. In a pair, the element that comes before the other goes to the lower place.
    2. One comes before another if the comparator says so, or if it doesn't say so of them the
       other way round and the one stood before the other at the start. So equal elements keep
       their order.
    """
    operands = [Tensor(operand) for operand in operation.operands]
    dimension = operation.attributes.get("dimension")  # the last one if none is said
    axis: int = (-1 if dimension is None else dimension.value) % operands[0].rank
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
    """The network that merges sorted sequences of ever greater length, after Batcher.

    Row r has for each place the place with which it exchanges in round r: itself, if it rests.

    Example: 4 places take the rounds `[1, 0, 3, 2]`, `[2, 3, 0, 1]` and `[0, 2, 1, 3]`.
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
    """Where `left` comes before `right`, both with their first places in front."""
    pairs = list(zip(left[1:], right[1:], strict=True))
    before = mapped(comparator, [each for pair in pairs for each in pair])
    behind = mapped(comparator, [each for pair in pairs for each in reversed(pair)])
    return before | (~behind & (left[0] < right[0]))


def _same(first: Tensor, second: Tensor) -> Tensor:
    """Where two truth values are equal."""
    shape = first.shape
    return (first & second.broadcast(*shape)) | ~(first | second.broadcast(*shape))
