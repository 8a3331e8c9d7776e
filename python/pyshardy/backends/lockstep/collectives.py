# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of StableHLO on NumPy arrays, as its specification defines them.

Each function takes what the members of one group hold, in the order of the group, and returns
what they hold afterwards, in the same order. Members that end with the same values share an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from pyshardy.local_program.tensor_spec import Array

Combine = Callable[[Array, Array], Array]
"""What adds (multiplies, ...) two arrays of one shape elementwise."""


def all_gather(parts: Sequence[Array], dim: int) -> list[Array]:
    """Everybody gets all parts, joined along `dim`."""
    return [np.concatenate(parts, axis=dim)] * len(parts)


def all_reduce(parts: Sequence[Array], combine: Combine) -> list[Array]:
    """Everybody gets the parts combined, from first to last."""
    return [reduce(combine, parts)] * len(parts)


def reduce_scatter(parts: Sequence[Array], dim: int, combine: Combine) -> list[Array]:
    """Member i gets piece i along `dim` of the parts combined."""
    return np.split(reduce(combine, parts), len(parts), axis=dim)


def all_to_all(
    parts: Sequence[Array], split_dim: int, concat_dim: int, split_count: int
) -> list[Array]:
    """Member i gets piece i along `split_dim` of each part, joined along `concat_dim`."""
    pieces = [np.split(part, split_count, axis=split_dim) for part in parts]
    return [
        np.concatenate([pieces[sender][receiver] for sender in range(len(parts))], axis=concat_dim)
        for receiver in range(len(parts))
    ]


def collective_reduce(parts: Sequence[Array], combine: Combine) -> list[Array]:
    """The first member gets the parts combined, from first to last; the others get zeros."""
    combined = reduce(combine, parts)
    return [combined, *(np.zeros_like(combined) for _ in parts[1:])]


def collective_broadcast(parts: Sequence[Array]) -> list[Array]:
    """Everybody gets the part of the first member."""
    return [parts[0]] * len(parts)


def collective_permute(parts: Sequence[Array], pairs: Sequence[tuple[int, int]]) -> list[Array]:
    """The target of a pair gets the part of its source; who isn't a target gets zeros.

    Args:
        parts: what the members hold.
        pairs: the source and the target of each transfer, as positions in `parts`.
    """
    received: list[Array] = [np.zeros_like(part) for part in parts]
    for source, target in pairs:
        received[target] = parts[source]
    return received
