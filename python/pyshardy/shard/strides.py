# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grids found from groups of devices.

Devices that a collective joins are, in any program made for a grid, those along some of its axes.
Seen from the ids, an axis is a *digit*: so many devices at a distance, its stride.

| group              | digits, the slowest first   |
|--------------------|-----------------------------|
| 0, 1, 2, 3         | 4 at stride 1               |
| 0, 4               | 2 at stride 4               |
| 0, 3, 1, 4, 2, 5   | 3 at stride 1, 2 at stride 3 |

A grid whose axes are those between all places where digits begin and end has axes for all groups.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mlir_sdy.shard.values import Axes, Grid


class Digit(NamedTuple):
    """So many devices at a distance from each other."""

    size: int
    stride: int


def digits_of(group: Sequence[int]) -> tuple[Digit, ...] | None:
    """The digits that a group counts through, the slowest first; None if it doesn't count.

    A group of one device has none.
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
    """The group that counts through some digits from a device on."""
    places = itertools.product(*(range(digit.size) for digit in digits))
    return [
        first + sum(at * digit.stride for at, digit in zip(place, digits, strict=True))
        for place in places
    ]


def grid_for(digits: Iterable[Digit], devices: int) -> Grid | None:
    """The grid with the fewest axes such that each digit is made of whole ones.

    1. The devices are cut into blocks of 1, of all of them, and of the sizes between which each
       digit counts: its stride, and its stride times its size.
    2. Each of these numbers must divide the next one: None if one doesn't.

    For 2 digits at stride 4 of 8 devices, and 2 at stride 1: cuts at 1, 2, 4, 8, a grid of 2x2x2.
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
    """The axes of a grid from `grid_for` that digits are made of, in their order."""
    strides = list(itertools.accumulate(reversed(grid.shape), lambda a, b: a * b, initial=1))
    stride_of = list(reversed(strides[:-1]))
    return tuple(
        axis
        for digit in digits
        for axis in grid.all_axes
        if digit.stride <= stride_of[axis] < digit.stride * digit.size
    )


def axes_apart(pairs: Iterable[tuple[int, int]], grid: Grid) -> Axes:
    """The axes along which the two devices of any pair differ."""
    found: set[int] = set()
    for source, target in pairs:
        places = zip(grid.coordinates(source), grid.coordinates(target), strict=True)
        found |= {axis for axis, (one, other) in enumerate(places) if one != other}
    return tuple(sorted(found))
