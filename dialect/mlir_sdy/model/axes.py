# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""References to mesh axes and sub-axes, their relations and their order.

A ref covers a range of the digits of its axis: an axis of size F, seen as reshaped to factors
`... x pre x size x ...` from major to minor, is covered by `"x":(pre)size` in the range from
`pre` to `pre * size`, called the *next pre-size*. A full axis covers the range from 1 to F.

The examples use an axis `"x"` of size 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.text import TextRepr, braced, bracketed, quoted
from mlir_sdy.model.value_list import ValueList

if TYPE_CHECKING:
    from mlir_sdy.model.mesh import Mesh

_ABOVE_ANY_SIZE = 2**63


@dataclass(frozen=True, slots=True, repr=False)
class SubAxisInfo(TextRepr):
    """The part `(pre_size)size` of an axis: `size` follows a more major part of `pre_size`."""

    pre_size: int
    size: int

    @property
    def next_pre_size(self) -> int:
        """The pre-size of a part that would follow this one directly."""
        return self.pre_size * self.size

    def __str__(self) -> str:
        return f"({self.pre_size}){self.size}"


@dataclass(frozen=True, slots=True, repr=False)
class AxisRef(TextRepr):
    """A mesh axis, or a part of one: `"x"` or `"x":(2)3`.

    Whether the part fits its axis is known only with the mesh, so any numbers are accepted here.
    """

    name: str
    sub_axis_info: SubAxisInfo | None = None

    @classmethod
    def sub(cls, name: str, pre_size: int, size: int) -> AxisRef:
        """The ref `"name":(pre_size)size`."""
        return cls(name, SubAxisInfo(pre_size, size))

    # --- What a ref covers ------------------------------------------------------------------

    @property
    def pre_size(self) -> int:
        """The size of the more major part of the axis: 1 for a full axis."""
        return 1 if self.sub_axis_info is None else self.sub_axis_info.pre_size

    def size(self, mesh: Mesh) -> int:
        """The number of devices along this axis or part."""
        info = self.sub_axis_info
        return mesh.axis_size(self.name) if info is None else info.size

    def next_pre_size(self, mesh: Mesh) -> int:
        """The end of the covered range: `pre_size * size`."""
        info = self.sub_axis_info
        return mesh.axis_size(self.name) if info is None else info.next_pre_size

    # --- Order ------------------------------------------------------------------------------

    @property
    def sort_key(self) -> tuple[str, int, int]:
        """The key of the lexicographic order: by name, then by pre-size, then by size.

        The full axis comes after its parts of pre-size 1 and before all its others:
        `"x":(1)2 < "x":(1)4 < "x" < "x":(2)2`. See `Mesh.sort_key` for the order by mesh position.
        """
        info = self.sub_axis_info
        if info is None:
            return self.name, 1, _ABOVE_ANY_SIZE
        return self.name, info.pre_size, info.size

    def __lt__(self, other: AxisRef) -> bool:
        return self.sort_key < other.sort_key

    # --- Containment ------------------------------------------------------------------------

    def contains(self, other: AxisRef) -> bool:
        """Whether the range of `other` lies in that of this ref.

        Divisibility is not tested: `"x":(1)6` contains `"x":(1)4`. Call `can_coexist` as well if it
        matters. This holds for prefixes and suffixes, too.
        """
        if self.name != other.name:
            return False
        own, its = self.sub_axis_info, other.sub_axis_info
        if own is None:
            return True
        if its is None:
            return False
        return own.pre_size <= its.pre_size and own.next_pre_size >= its.next_pre_size

    def strictly_contains(self, other: AxisRef) -> bool:
        """Whether this ref contains `other` and differs from it."""
        return self != other and self.contains(other)

    def is_prefix_of(self, other: AxisRef) -> bool:
        """Whether `other` contains this ref and both begin at the same pre-size."""
        return other.contains(self) and self.pre_size == other.pre_size

    def is_suffix_of(self, other: AxisRef, mesh: Mesh) -> bool:
        """Whether `other` contains this ref and both end at the same pre-size."""
        return other.contains(self) and self.next_pre_size(mesh) == other.next_pre_size(mesh)

    # --- Overlap ----------------------------------------------------------------------------

    def overlaps(self, other: AxisRef) -> bool:
        """Whether the ranges of both refs intersect; a full axis overlaps all its parts."""
        if self.name != other.name:
            return False
        own, its = self.sub_axis_info, other.sub_axis_info
        if own is None or its is None:
            return True
        return own.pre_size < its.next_pre_size and its.pre_size < own.next_pre_size

    def can_coexist(self, other: AxisRef) -> bool:
        """Whether one factorization of the axis has boundaries for both refs.

        Refs on different axes coexist, and a full axis with any other ref. For two parts, with the
        pre-sizes p <= P and the next pre-sizes n <= N, each pair sorted separately:

        1. if they overlap (n > P): p divides P, P divides n, and n divides N;
        2. otherwise: n divides P.

        `"x":(1)4` and `"x":(2)6` coexist, `"x":(1)2` and `"x":(1)3` don't.
        """
        own, its = self.sub_axis_info, other.sub_axis_info
        if own is None or its is None or self.name != other.name:
            return True
        if own.pre_size <= its.pre_size:
            min_pre, max_pre = own.pre_size, its.pre_size
        else:
            min_pre, max_pre = its.pre_size, own.pre_size
        own_next, its_next = own.next_pre_size, its.next_pre_size
        min_next, max_next = (own_next, its_next) if own_next <= its_next else (its_next, own_next)
        if min_next > max_pre:
            return min_next % max_pre == 0 and max_pre % min_pre == 0 and max_next % min_next == 0
        return max_pre % min_next == 0

    def overlap(self, other: AxisRef) -> AxisRef | None:
        """The part that both refs cover; none if they are disjoint or can't coexist.

        `"x":(1)4` and `"x":(2)6` overlap in `"x":(2)2`.
        """
        if not self.overlaps(other) or not self.can_coexist(other):
            return None
        if self.sub_axis_info is None or other.sub_axis_info is None:
            return other if self.sub_axis_info is None else self
        pre_size = max(self.pre_size, other.pre_size)
        next_pre_size = min(self.sub_axis_info.next_pre_size, other.sub_axis_info.next_pre_size)
        return AxisRef.sub(self.name, pre_size, next_pre_size // pre_size)

    def prefix_without_overlap(self, other: AxisRef) -> AxisRef | None:
        """The part of this ref before `other` begins.

        1. None, if the two can't coexist.
        2. This ref itself, if they don't overlap.
        3. None, if `other` begins no later than this ref.
        4. Otherwise the part from this ref's pre-size to that of `other`.

        `"x":(1)4` against `"x":(2)6` gives `"x":(1)2`; the other way round gives none.
        """
        if self.name != other.name:
            return self
        if not self.can_coexist(other):
            return None
        if not self.overlaps(other):
            return self
        pre_size, end = self.pre_size, other.pre_size
        if pre_size >= end:
            return None
        return AxisRef.sub(self.name, pre_size, end // pre_size)

    def suffix_without_overlap(self, other: AxisRef, mesh: Mesh) -> AxisRef | None:
        """The part of this ref after `other` ends.

        1. None, if the two can't coexist.
        2. This ref itself, if they don't overlap.
        3. None, if `other` ends no earlier than this ref.
        4. Otherwise the part from the next pre-size of `other` to that of this ref.

        `"x"` against `"x":(2)3` gives `"x":(6)4`; the other way round gives none.
        """
        if self.name != other.name or not self.overlaps(other):
            return self if self.can_coexist(other) else None
        if not self.can_coexist(other):
            return None
        start, end = other.next_pre_size(mesh), self.next_pre_size(mesh)
        if end <= start:
            return None
        return AxisRef.sub(self.name, start, end // start)

    def common_prefix(self, other: AxisRef) -> AxisRef | None:
        """Return the ref that is a prefix of the other; none if neither is.

        `"x":(1)4` and `"x":(1)6`, which can't coexist, have none, although both begin with
        `"x":(1)2`.
        """
        if not self.can_coexist(other):
            return None
        if self.is_prefix_of(other):
            return self
        return other if other.is_prefix_of(self) else None

    # --- Merging ----------------------------------------------------------------------------

    def can_merge(self, other: AxisRef) -> bool:
        """Whether both are parts of an axis and `other` begins where this ref ends."""
        own, its = self.sub_axis_info, other.sub_axis_info
        return (
            own is not None
            and its is not None
            and own.next_pre_size == its.pre_size
            and self.name == other.name
        )

    def merge(self, other: AxisRef, mesh: Mesh) -> AxisRef:
        """This ref and the directly more minor `other` as a ref: the full axis if it covers that.

        `"x":(1)4` and `"x":(4)3` merge to `"x":(1)12`, and that with `"x":(12)2` to `"x"`.

        Raises:
            ModelError: If the two can't be merged.
        """
        own, its = self.sub_axis_info, other.sub_axis_info
        if own is None or its is None or not self.can_merge(other):
            raise ModelError(f"{other} does not follow {self} directly")
        size = own.size * its.size
        if size == mesh.axis_size(self.name):
            return AxisRef(self.name)
        return AxisRef.sub(self.name, own.pre_size, size)

    def __str__(self) -> str:
        if self.sub_axis_info is None:
            return quoted(self.name)
        return f"{quoted(self.name)}:{self.sub_axis_info}"


@dataclass(frozen=True, slots=True, repr=False)
class AxisRefList(ValueList[AxisRef]):
    """A list of axis refs: `{"x", "y":(1)2}`."""

    value: tuple[AxisRef, ...] = ()

    def __str__(self) -> str:
        return braced(self.value)


@dataclass(frozen=True, slots=True, repr=False)
class ListOfAxisRefLists(ValueList[AxisRefList]):
    """A list of axis refs for each dimension of a tensor: `[{"x"}, {}]`."""

    value: tuple[AxisRefList, ...] = ()

    def __str__(self) -> str:
        return bracketed(self.value)
