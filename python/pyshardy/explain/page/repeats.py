# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeats in sequences: the layers of a program without scopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_LONGEST = 2000
"""The maximum length of a unit; it bounds the time for long programs."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part of a sequence in which a unit of elements occurs several times in a row.

    Attributes:
        start: the first position.
        length: the length of the unit.
        count: the number of units.
    """

    start: int
    length: int
    count: int

    @property
    def end(self) -> int:
        """The position after the last unit."""
        return self.start + self.length * self.count


def repeats_in(sequence: Sequence[int], shortest: int) -> list[Repeat]:
    """Return disjoint repeats in a sequence, the longest first found, sorted by position.

    1. A repeat has at least three units of at least `shortest` elements.
    2. The repeat that covers the most elements is taken first; of equal ones that with the shorter
       unit. The others must not overlap with it.

    `[7, 1, 2, 1, 2, 1, 2, 9]` with `shortest=2` has one repeat: start 1, length 2, count 3.

    Args:
        sequence: the elements.
        shortest: the minimum length of a unit.
    """
    tokens = np.asarray(sequence, dtype=np.int64)
    found: list[Repeat] = []
    for length in range(shortest, min(_LONGEST, len(tokens) // 3) + 1):
        found += _with_length(tokens, length)
    found.sort(key=lambda each: (each.start - each.end, each.length))
    taken: list[Repeat] = []
    is_free = np.ones(len(tokens), dtype=bool)
    for each in found:
        if is_free[each.start : each.end].all():
            is_free[each.start : each.end] = False
            taken.append(each)
    return sorted(taken, key=lambda each: each.start)


def _with_length(tokens: npt.NDArray[np.int64], length: int) -> list[Repeat]:
    """Return the repeats with a unit of a given length."""
    is_equal = np.concatenate(([False], tokens[:-length] == tokens[length:], [False]))
    edges = np.flatnonzero(np.diff(is_equal.astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    is_long = ends - starts >= 2 * length
    return [
        Repeat(int(start), length, int(end - start) // length + 1)
        for start, end in zip(starts[is_long], ends[is_long], strict=True)
    ]
