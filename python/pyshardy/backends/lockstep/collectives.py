# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The collectives of StableHLO on NumPy arrays, as its specification defines them.

Each function takes the arrays of the members of one group, in the order of the group, and returns
their results, in the same order. Members with equal results share an array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from pyshardy.local_program.tensor_spec import Array

Combine = Callable[[Array, Array], Array]
"""Combines two arrays of one shape elementwise, for example adds them."""


def all_gather(parts: Sequence[Array], dim: int) -> list[Array]:
    """Concatenate the parts along `dim` for all members."""
    return [np.concatenate(parts, axis=dim)] * len(parts)


def all_reduce(parts: Sequence[Array], combine: Combine) -> list[Array]:
    """Combine the parts, from first to last, for all members."""
    return [reduce(combine, parts)] * len(parts)


def reduce_scatter(parts: Sequence[Array], dim: int, combine: Combine) -> list[Array]:
    """Combine the parts, and split the result along `dim`: member i gets shard i."""
    return np.split(reduce(combine, parts), len(parts), axis=dim)


def all_to_all(
    parts: Sequence[Array], split_dim: int, concat_dim: int, split_count: int
) -> list[Array]:
    """Concatenate for member i along `concat_dim` the i-th split along `split_dim` of each part."""
    pieces = [np.split(part, split_count, axis=split_dim) for part in parts]
    return [
        np.concatenate([pieces[sender][receiver] for sender in range(len(parts))], axis=concat_dim)
        for receiver in range(len(parts))
    ]


def ragged_all_to_all(members: Sequence[Sequence[Array]]) -> list[Array]:
    """Send ranges of rows of each member to each one.

    Args:
        members: for each member its rows, the rows that it returns unless they are overwritten,
            and four vectors: where the ranges that it sends begin, their sizes, where they begin
            in the result of the receiver, and the sizes of those that it gets. With n members and
            k ranges for each, ranges i * k to i * k + k - 1 are for member i.

    Raises:
        ValueError: a range isn't within the rows.
    """
    results = [np.array(before) for _, before, *_ in members]
    for rows, _, *vectors in members:
        begins, sizes, ends = (vector.tolist() for vector in vectors[:3])
        for number, (begin, size, end) in enumerate(zip(begins, sizes, ends, strict=True)):
            target = results[number * len(members) // len(sizes)]
            if min(begin, size, end) < 0 or begin + size > len(rows) or end + size > len(target):
                raise ValueError(
                    f"range {number} of {size} rows, from {begin} to {end}, isn't within the "
                    f"{len(rows)} rows of the operand and the {len(target)} rows of the result"
                )
            target[end : end + size] = rows[begin : begin + size]
    return results


def collective_reduce(parts: Sequence[Array], combine: Combine) -> list[Array]:
    """Combine the parts, from first to last, for the first member; the others get zeros."""
    combined = reduce(combine, parts)
    return [combined, *(np.zeros_like(combined) for _ in parts[1:])]


def collective_broadcast(parts: Sequence[Array]) -> list[Array]:
    """Send the part of the first member to all members."""
    return [parts[0]] * len(parts)


def collective_permute(parts: Sequence[Array], pairs: Sequence[tuple[int, int]]) -> list[Array]:
    """Send the part of the source of each pair to its target; other members get zeros.

    Args:
        parts: the arrays of the members.
        pairs: the source and the target of each transfer, as positions in `parts`.
    """
    received: list[Array] = [np.zeros_like(part) for part in parts]
    for source, target in pairs:
        received[target] = parts[source]
    return received
