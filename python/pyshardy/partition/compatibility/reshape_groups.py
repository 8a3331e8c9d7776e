# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of dimensions of a reshape that hold the same elements on both sides."""

from __future__ import annotations

import math

from pyshardy.partition.compatibility.factor_axes import Shape

Group = tuple[range, range]
"""The dimensions before a reshape, and those after it."""


def reshape_groups(source: Shape, target: Shape) -> list[Group]:
    """Return the shortest runs of dimensions of both shapes with the same number of elements.

    `(12, 24, 5)` and `(8, 36, 5)` fall into the groups `(12, 24)` with `(8, 36)`, and `5` with `5`.
    """
    groups: list[Group] = []
    source_start = target_start = 0
    while source_start < len(source) or target_start < len(target):
        source_end = min(source_start + 1, len(source))
        target_end = min(target_start + 1, len(target))
        while True:
            left = math.prod(source[source_start:source_end])
            right = math.prod(target[target_start:target_end])
            if left < right and source_end < len(source):
                source_end += 1
            elif right < left and target_end < len(target):
                target_end += 1
            else:
                break
        groups.append((range(source_start, source_end), range(target_start, target_end)))
        source_start, target_start = source_end, target_end
    return groups


def passes_through(group: Group, source: Shape, target: Shape) -> bool:
    """Whether at most one dimension on each side of a group has a size above 1."""
    return all(
        len(large_dims(dims, shape)) <= 1
        for dims, shape in zip(group, (source, target), strict=True)
    )


def large_dims(dims: range, shape: Shape) -> list[int]:
    """Return the dimensions of a side of a group whose size is above 1."""
    return [dim for dim in dims if shape[dim] != 1]


def pads_alike(source: Shape, wide_source: Shape, target: Shape, wide_target: Shape) -> bool:
    """Whether a reshape between padded shapes leaves padding at the end of each dimension.

    In each group (see `reshape_groups`), only the first dimension above 1 on each side may be
    padded, and both sides have as many elements, the first of which are not padding.

    Examples: true for (6) padded to 8, and (3, 2) padded to (4, 2). False for (10) padded to 12,
      and (5, 2) padded to (8, 2): their numbers of elements differ.
    """
    for group in reshape_groups(source, target):
        counts: list[int] = []
        sides = zip(group, (source, target), (wide_source, wide_target), strict=True)
        for dims, shape, wide in sides:
            first = large_dims(dims, shape)[:1]
            if any(shape[dim] != wide[dim] for dim in dims if dim not in first):
                return False
            counts.append(math.prod(wide[dim] for dim in dims))
        if counts[0] != counts[1]:
            return False
    return True
