# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The data that devices send in a collective."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

_SHARES: dict[str, Callable[[int], Fraction]] = {
    "all_gather": lambda n: Fraction(n - 1),
    "all_reduce": lambda n: Fraction(2 * (n - 1), n),
    "all_slice": lambda _: Fraction(0),
    "all_to_all": lambda n: Fraction(n - 1, n),
    "collective_broadcast": lambda n: Fraction(min(n - 1, 1)),
    "collective_permute": lambda n: Fraction(min(n, 1)),
    "reduce_scatter": lambda n: Fraction(n - 1, n),
}


def share_sent(kind: str, group_size: int) -> Fraction:
    """Return the minimum that a device sends in a collective, as a multiple of its operand.

    In a group of *n* devices:

    | kind                   | share       | explanation                 |
    |------------------------|-------------|-----------------------------|
    | `all_gather`           | n - 1       | (n - 1) / n of its result   |
    | `all_reduce`           | 2 (n - 1)/n | a reduce-scatter and gather |
    | `all_slice`            | 0           | each device has its part    |
    | `all_to_all`           | (n - 1)/n   | all but the own part        |
    | `collective_broadcast` | 1           | 0 in groups of one          |
    | `collective_permute`   | 1           | 0 if no device sends        |
    | `reduce_scatter`       | (n - 1)/n   | all but the own part        |

    Args:
        kind: the collective, without its dialect.
        group_size: the number of devices that exchange data with each other.
    """
    return _SHARES[kind](group_size)
