# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grids derived from groups of devices.

In a program for a grid, the groups of a collective extend along some axes of the grid. In terms of
device ids, an axis is a *digit*: a number of devices at a distance, its stride.

| group              | digits, the slowest first   |
|--------------------|-----------------------------|
| 0, 1, 2, 3         | 4 at stride 1               |
| 0, 4               | 2 at stride 4               |
| 0, 3, 1, 4, 2, 5   | 3 at stride 1, 2 at stride 3 |

A grid that is split at the start and end of every digit has axes for all groups.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mlir_sdy.shard.values import Axes, Grid


class Digit(NamedTuple):
    """A number of devices at a constant distance."""

    size: int
    stride: int


def digits_of(group: Sequence[int]) -> tuple[Digit, ...] | None:
    """Return the digits of a group, the slowest first; None if the group has no such form.

    A group of one device has no digits.
    """
    digits: list[Digit] = []
    rest = list(group)
    while len(rest) > 1:
        stride = rest[1] - rest[0]
        size = next(
            (at for at in range(1, len(rest)) if rest[at] != rest[0] + at * stride), len(rest)
        )
        if stride < 1 or len(rest) % size:
            return None
        digits.append(Digit(size, stride))
        rest = rest[::size]
    digits.reverse()
    return tuple(digits) if _counted(digits, group[0]) == list(group) else None


def _counted(digits: Sequence[Digit], first: int) -> list[int]:
    """Return the group of some digits that starts at a device."""
    places = itertools.product(*(range(digit.size) for digit in digits))
    return [
        first + sum(at * digit.stride for at, digit in zip(place, digits, strict=True))
        for place in places
    ]


def grid_for(digits: Iterable[Digit], devices: int) -> Grid | None:
    """Return the grid with the fewest axes such that each digit consists of full axes.

    1. The boundaries of axes are 1, the number of devices, and for each digit its stride and its
       stride times its size.
    2. Each boundary must divide the next one; otherwise the result is None.

    Digits of 2 at stride 4 and of 2 at stride 1, for 8 devices: boundaries 1, 2, 4, 8, grid 2x2x2.
    """
    cuts = {1, devices}
    for digit in digits:
        cuts |= {digit.stride, digit.stride * digit.size}
    sizes: list[int] = []
    for before, after in itertools.pairwise(sorted(cuts)):
        if after % before:
            return None
        sizes.append(after // before)
    return Grid(tuple(reversed(sizes)) or (1,))


def axes_of_digits(digits: Iterable[Digit], grid: Grid) -> Axes:
    """Return the axes of a grid from `grid_for` that digits consist of, in their order."""
    strides = list(itertools.accumulate(reversed(grid.shape), lambda a, b: a * b, initial=1))
    stride_of = list(reversed(strides[:-1]))
    return tuple(
        axis
        for digit in digits
        for axis in grid.all_axes
        if digit.stride <= stride_of[axis] < digit.stride * digit.size
    )


def axes_apart(pairs: Iterable[tuple[int, int]], grid: Grid) -> Axes:
    """Return the axes along which the two devices of any pair differ."""
    found: set[int] = set()
    for source, target in pairs:
        places = zip(grid.coordinates(source), grid.coordinates(target), strict=True)
        found |= {axis for axis, (one, other) in enumerate(places) if one != other}
    return tuple(sorted(found))
