# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on lists of axis refs, major to minor, as they shard a dimension.

The examples use a mesh `<["x"=24, "y"=2]>`. Lists are tuples, and none is ever changed.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.mesh import Mesh

AxisTuple = tuple[AxisRef, ...]


def add_or_merge(axes: AxisTuple, axis: AxisRef, mesh: Mesh) -> AxisTuple:
    """Append `axis`, or merge it with the last of `axes` when it follows that directly.

    `"x":(2)3` added to `{"y", "x":(1)2}` gives `{"y", "x":(1)6}`.
    """
    if axes and axes[-1].can_merge(axis):
        return (*axes[:-1], axes[-1].merge(axis, mesh))
    return (*axes, axis)


def sort_and_merge(axes: Iterable[AxisRef], mesh: Mesh) -> AxisTuple:
    """Sort disjoint refs by the order of the mesh and merge neighbours where possible.

    `{"y", "x":(2)12, "x":(1)2}` gives `{"x", "y"}`.
    """
    merged: AxisTuple = ()
    for axis in sorted(axes, key=mesh.sort_key):
        merged = add_or_merge(merged, axis, mesh)
    return merged


def common_prefix(first: AxisTuple, second: AxisTuple) -> AxisTuple:
    """The longest list with which both lists begin.

    Equal refs are taken; at the first difference the refs' common prefix is taken, if there is
    one, and the walk ends.

    `{"y", "x":(1)2}` and `{"y", "x"}` have `{"y", "x":(1)2}`; `{"x", "y"}` and `{"y"}` have `{}`.
    """
    for position, (left, right) in enumerate(zip(first, second, strict=False)):
        if left != right:
            shared = left.common_prefix(right)
            return first[:position] if shared is None else (*first[:position], shared)
    return min(first, second, key=len)


def prefix_without_overlap(axis: AxisRef, others: Iterable[AxisRef]) -> AxisRef | None:
    """Return the part of `axis` before any of `others` begins, or None.

    `"x"` against `{"x":(6)2, "x":(2)3}` gives `"x":(1)2`.
    """
    prefix: AxisRef | None = axis
    for other in others:
        prefix = prefix.prefix_without_overlap(other)
        if prefix is None:
            return None
    return prefix


def truncate_by_removing_overlaps(axes: AxisTuple, others: Sequence[AxisRef]) -> AxisTuple:
    """The longest prefix of `axes` that overlaps none of `others`.

    The list is cut at the first ref that overlaps, of which the part before the overlap is kept.
    If nothing was cut, the result is `axes` itself (`is`).

    `{"y", "x"}` against `{"x":(2)3}` gives `{"y", "x":(1)2}`; against `{"y"}` it gives `{}`.
    """
    for position, axis in enumerate(axes):
        prefix = prefix_without_overlap(axis, others)
        if prefix is not axis:
            return axes[:position] if prefix is None else (*axes[:position], prefix)
    return axes


def dividing_axes(axes: Iterable[AxisRef], size: int, mesh: Mesh) -> AxisTuple:
    """Return the longest prefix of a list of axes that divides a dimension evenly.

    For each axis in turn, with the size divided by the axes before:

    1. If the axis and the size have no common divisor, this axis and all after it are left out.
    2. If the axis divides the size, it is taken.
    3. Otherwise its major sub-axis of the size of their greatest common divisor is the last one.

    On a mesh `<["x"=6, "y"=10]>`, `{"x", "y"}` gives `{"x", "y":(1)5}` for a size of 30, and
    `{"x":(1)3}` for 15.
    """
    taken: list[AxisRef] = []
    for axis in axes:
        axis_size = axis.size(mesh)
        divisor = math.gcd(axis_size, size)
        if divisor == 1:
            break
        if divisor != axis_size:
            taken.append(AxisRef.sub(axis.name, axis.pre_size, divisor))
            break
        taken.append(axis)
        size //= divisor
    return tuple(taken)


def lists_overlap(first: Iterable[AxisRef], second: Sequence[AxisRef]) -> bool:
    """Whether any ref of a list overlaps a ref of the other list."""
    return any(left.overlaps(right) for left in first for right in second)


def first_overlapping(axis: AxisRef, others: Sequence[AxisRef]) -> AxisRef | None:
    """The first of `others`, which are sorted by `<` and disjoint, that overlaps `axis`.

    The candidates are the last ref below `axis` and the first that isn't: a ref further down ends
    before the former, and one further up begins after the latter.
    """
    bound = bisect_left(others, axis.sort_key, key=lambda other: other.sort_key)
    for candidate in others[max(bound - 1, 0) : bound + 1]:
        if axis.overlaps(candidate):
            return candidate
    return None


def intersection(axes: Iterable[AxisRef], others: Sequence[AxisRef]) -> AxisTuple:
    """Return the axes in both lists, in the order of `axes`; parts that can't coexist share none.

    `{"y", "x"}` and `{"x":(2)3}` give `{"x":(2)3}`; `{"x":(1)2}` and `{"x":(1)3}` give `{}`.
    """
    parts = (axis.overlap(other) for axis in axes for other in others)
    return tuple(part for part in parts if part is not None)


def set_difference(axes: Iterable[AxisRef], removed: Iterable[AxisRef], mesh: Mesh) -> AxisTuple:
    """Return the parts of `axes` that `removed` (disjoint refs) do not cover, in the same order.

    For each of `axes`, the first of `removed` that overlaps it cuts it: the part before goes to
    the result, and the part after is treated in the same way. Parts are not merged.

    `{"y", "x"}` without `{"x":(2)3}` gives `{"y", "x":(1)2, "x":(6)4}`.
    """
    sorted_removed = sorted(removed)
    difference: list[AxisRef] = []
    for axis in axes:
        rest: AxisRef | None = axis
        while rest is not None:
            cut = first_overlapping(rest, sorted_removed)
            if cut is None:
                difference.append(rest)
                break
            prefix = rest.prefix_without_overlap(cut)
            if prefix is not None:
                difference.append(prefix)
            rest = rest.suffix_without_overlap(cut, mesh)
    return tuple(difference)


def ordered_refs(mesh: Mesh, mentioned: Iterable[AxisRef]) -> AxisTuple:
    """All axes of the mesh, in order, cut wherever one of the mentioned parts begins or ends.

    Axes of which no part is mentioned stay full.

    `{"x":(2)3}` gives `{"x":(1)2, "x":(2)3, "x":(6)4, "y"}`.
    """
    cuts: dict[str, set[int]] = {}
    for axis in mentioned:
        if axis.sub_axis_info is not None:
            ends = axis.sub_axis_info.pre_size, axis.sub_axis_info.next_pre_size
            cuts.setdefault(axis.name, {1, mesh.axis_size(axis.name)}).update(ends)
    refs: list[AxisRef] = []
    for axis in mesh.axes:
        if axis.name not in cuts:
            refs.append(AxisRef(axis.name))
            continue
        boundaries = sorted(cuts[axis.name])
        refs.extend(
            AxisRef.sub(axis.name, start, end // start)
            for start, end in itertools.pairwise(boundaries)
        )
    return tuple(refs)
