# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of operations that can be expanded.

1. An operation belongs to its function and to the operations around it.
2. Within these it belongs to the scopes of its location (see `scopes`).
3. Three or more groups of equal structure become one, with their number. Scopes are compared
   without the numbers in their names.
4. In a group that has too many members, operations that occur several times in a row, such as the
   layers of a model, become groups (see `repeats_in`).
5. If it still has too many, so do consecutive operations of the same source line.
6. If it still has too many, it is divided into groups of consecutive members, at places where few
   values are in use.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

_MOST_MEMBERS = 32
"""The number of boxes, next to each other, that a reader can still survey."""

_FEWEST_EQUAL = 3
_SHORTEST_UNIT = 4
"""The minimum number of operations of a layer that is found without scopes."""

_NUMBER = re.compile(r"\d+")
_LONGEST = 2000
"""The maximum length of a unit; it bounds the time for long programs."""


@dataclass
class Group:
    """Operations that are shown as one node until the reader expands it.

    Attributes:
        label: the label.
        is_scope: whether the label is a scope of the source.
        is_copy: whether the group is one of those that repeat.
        copies: the number of groups of equal structure that are the members; 1 otherwise.
        operation: the operation whose regions contain the members; None for other groups.
        members: groups, and operations by their numbers, in the order of the text.
    """

    label: str
    is_scope: bool = False
    is_copy: bool = False
    copies: int = 1
    operation: int | None = None
    members: list[Group | int] = field(default_factory=list["Group | int"])

    def operations(self) -> Iterator[int]:
        """Yield the operations of the group and of nested groups."""
        if self.operation is not None:
            yield self.operation
        for each in self.members:
            if isinstance(each, Group):
                yield from each.operations()
            else:
                yield each


def group_operations(
    label: str,
    operations: Sequence[int],
    kinds: Mapping[int, str],
    scopes: Mapping[int, tuple[str, ...]],
    inside: Mapping[int, Group],
    lines: Mapping[int, str],
    sources: Mapping[int, Sequence[int]],
) -> Group:
    """Return the group of the operations of a block.

    Args:
        label: the label of the group.
        operations: their numbers, in the order of the text.
        kinds: the name of each operation, followed by its type; equal layers have equal kinds.
        scopes: the scopes of each.
        inside: the groups of the regions of operations, by operation.
        lines: the file and line of each, as far as they are known.
        sources: the operations whose results each one uses.
    """
    top = Group(label)
    known: dict[tuple[str, ...], Group] = {(): top}
    for operation in operations:
        path = scopes.get(operation, ())
        for depth in range(1, len(path) + 1):
            if path[:depth] not in known:
                known[path[:depth]] = Group(path[depth - 1], is_scope=True)
                known[path[: depth - 1]].members.append(known[path[:depth]])
        known[path].members.append(inside.get(operation, operation))
    return _Folder(kinds, lines, sources).folded(top)


class _Folder:
    """Folds what repeats in groups; groups of equal structure have equal numbers."""

    def __init__(
        self,
        kinds: Mapping[int, str],
        lines: Mapping[int, str],
        sources: Mapping[int, Sequence[int]],
    ):
        self._kinds = kinds
        self._lines = lines
        self._sources = sources
        self._numbers: dict[object, int] = {}
        self._of_groups: dict[int, int] = {}

    def folded(self, group: Group) -> Group:
        """Return a group in which repeats are groups, and no group has too many members."""
        for each in group.members:
            if isinstance(each, Group):
                self.folded(each)
        # Numbered before its members are put into groups, so that this changes no structure.
        self._structure(group)
        group.members = self._with_equal_groups(group.members)
        if len(group.members) > _MOST_MEMBERS:
            group.members = self._with_repeats(group.members)
        return self._divided(group)

    def _structure(self, member: Group | int) -> int:
        """Return a number that equal members have in common."""
        if isinstance(member, int):
            return self._number_of(self._kinds.get(member, ""))
        known = self._of_groups.get(id(member))
        if known is None:
            label = _NUMBER.sub("#", member.label) if member.is_scope else ""
            own = "" if member.operation is None else self._kinds.get(member.operation, "")
            inner = tuple(map(self._structure, member.members))
            known = self._of_groups[id(member)] = self._number_of((label, own, inner))
        return known

    def _number_of(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _with_equal_groups(self, members: list[Group | int]) -> list[Group | int]:
        """Return members in which numbered scopes of equal structure are one group."""
        alike: dict[int, list[Group]] = {}
        for each in members:
            if isinstance(each, Group) and each.is_scope and _NUMBER.search(each.label):
                alike.setdefault(self._structure(each), []).append(each)
        folds = {
            id(groups[0]): self._divided(
                Group(_span(groups), True, copies=len(groups), members=list(groups))
            )
            for groups in alike.values()
            if len(groups) >= _FEWEST_EQUAL
        }
        folded = {id(each) for fold in folds.values() for each in fold.members}
        return [
            folds.get(id(each), each)
            for each in members
            if id(each) in folds or id(each) not in folded
        ]

    def _with_repeats(self, members: list[Group | int]) -> list[Group | int]:
        """Return members in which consecutive repeats are a group."""
        found: list[Group | int] = []
        at = 0
        for repeat in repeats_in(list(map(self._structure, members)), _SHORTEST_UNIT):
            found += members[at : repeat.start]
            units = [
                members[start : start + repeat.length]
                for start in range(repeat.start, repeat.end, repeat.length)
            ]
            label = self._label(units[0])
            copies: list[Group | int] = [
                self._divided(Group(f"{label} ({number})", is_copy=True, members=unit))
                for number, unit in enumerate(units)
            ]
            found.append(self._divided(Group(label, copies=len(units), members=copies)))
            at = repeat.end
        return found + members[at:]

    def _divided(self, group: Group) -> Group:
        """Return a group in which runs of members become groups if there are too many."""
        if len(group.members) > _MOST_MEMBERS:
            group.members = self._with_lines(group.members)
        while len(members := group.members) > _MOST_MEMBERS:
            length = max(2, math.ceil(len(members) / _MOST_MEMBERS), math.isqrt(len(members)))
            ends = self._ends_of_runs(members, length)
            runs = [members[start:end] for start, end in itertools.pairwise([0, *ends])]
            group.members = [self._divided(Group(self._label(run), members=run)) for run in runs]
        return group

    def _with_lines(self, members: list[Group | int]) -> list[Group | int]:
        """Return members in which consecutive operations of a source line are a group."""
        found: list[Group | int] = []
        for line, own in itertools.groupby(members, self._line):
            run = list(own)
            is_group = line is not None and 1 < len(run) < len(members)
            found += [self._divided(Group(line, members=run))] if line and is_group else run
        return found

    def _line(self, member: Group | int) -> str | None:
        operation = member.operation if isinstance(member, Group) else member
        return None if operation is None else self._lines.get(operation)

    def _ends_of_runs(self, members: Sequence[Group | int], length: int) -> list[int]:
        """Return the ends of runs of about a length, where few values are in use."""
        positions = {
            operation: position
            for position, member in enumerate(members)
            for operation in (member.operations() if isinstance(member, Group) else (member,))
        }
        last_uses = list(range(len(members)))
        for operation, position in positions.items():
            for source in self._sources.get(operation, ()):
                if source in positions:
                    start = positions[source]
                    last_uses[start] = max(last_uses[start], position)
        in_use = np.zeros(len(members) + 1, dtype=np.int64)
        for start, end in enumerate(last_uses):
            in_use[start + 1 : end + 1] += 1
        ends = [0]
        while len(members) - ends[-1] > length * 3 // 2:
            last = ends[-1] + length * 3 // 2
            ends.append(last - int(in_use[last : ends[-1] + length // 2 : -1].argmin()))
        return [*ends[1:], len(members)]

    def _label(self, run: Sequence[Group | int]) -> str:
        """Return the label of a run of operations: its scopes, or its most costly operations."""
        groups = [each for each in run if isinstance(each, Group)]
        if len(groups) == len(run) and all(each.is_scope or each.is_copy for each in groups):
            return _span(groups)
        whole = Group("", members=list(run))
        kinds = (self._kinds.get(each, "") for each in whole.operations())
        found = Counter(kind.partition(" ")[0].partition(".")[2] for kind in kinds)
        if len(found) > 1:
            del found["named_computation"]  # the name says little, what it contains says more
        telling = [name for name in _TELLING if name in found]
        telling = telling or [name for name, _ in found.most_common()]
        counted = (f"{found[name]} {name}" if found[name] > 1 else name for name in telling[:2])
        return ", ".join(counted)


def _span(groups: Sequence[Group]) -> str:
    return f"{groups[0].label} … {groups[-1].label}"


_TELLING = (
    "dot_general",
    "convolution",
    "while",
    "case",
    "scatter",
    "gather",
    "sort",
    "reduce_window",
    "custom_call",
    "reduce",
)
"""Operations that characterize a group, the most significant first."""


# --- Repeats -------------------------------------------------------------------------------------


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
    at_units = tokens[:-length:length] == tokens[length::length]
    if not (at_units[:-1] & at_units[1:]).any():
        return []  # three units have three elements at multiples of the length
    is_equal = np.concatenate(([False], tokens[:-length] == tokens[length:], [False]))
    edges = np.flatnonzero(np.diff(is_equal.astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    is_long = ends - starts >= 2 * length
    return [
        Repeat(int(start), length, int(end - start) // length + 1)
        for start, end in zip(starts[is_long], ends[is_long], strict=True)
    ]
