# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Groups of operations that can be expanded.

1. An operation belongs to its function and to the operations around it.
2. Within these it belongs to the scopes of its location, as written by JAX and PyTorch:
   `jit(step)/layer_3/attention/dot_general` is in `layer_3`, and there in `attention`.
3. A group with too many members is divided into groups of consecutive members, so that every group
   stays readable.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mlir_sdy.host import inner_locations, ir

_MOST_MEMBERS = 36
_CALL = re.compile(r"[\w.<>-]+\((.*)\)")


@dataclass
class Group:
    """Operations that are shown as one node until the reader expands it.

    Attributes:
        label: the label.
        is_scope: whether the label is a scope of the source.
        members: groups, and operations by their numbers, in the order of the text.
    """

    label: str
    is_scope: bool = False
    members: list[Group | int] = field(default_factory=list["Group | int"])

    def operations(self) -> Iterator[int]:
        """Yield the operations of the group and of nested groups."""
        for each in self.members:
            if isinstance(each, Group):
                yield from each.operations()
            else:
                yield each


def scopes_of(location: ir.Location) -> tuple[str, ...]:
    """Return the scopes of a location, outer ones first; the last part names the operation."""
    for name in _names(location):
        if "/" in name:
            parts = [part for part in name.split("/")[:-1] if part]
            return tuple(parts[1:] if len(parts) > 1 and _CALL.fullmatch(parts[0]) else parts)
    return ()


def group_operations(
    label: str,
    operations: Sequence[int],
    names: Mapping[int, str],
    scopes: Mapping[int, tuple[str, ...]],
    inside: Mapping[int, Group],
) -> Group:
    """Return the group of the operations of a block.

    Args:
        label: the label of the group.
        operations: their numbers, in the order of the text.
        names: the name of each.
        scopes: the scopes of each.
        inside: the groups of the regions of operations, by operation.
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
    return _divided(top, names)


def _names(location: ir.Location) -> Iterator[str]:
    name, inner = inner_locations(location)
    if name is not None:
        yield name
    for each in inner:
        yield from _names(each)


def _divided(group: Group, names: Mapping[int, str]) -> Group:
    """Return a group in which runs of members become groups if there are too many members."""
    members: list[Group | int] = [
        _divided(each, names) if isinstance(each, Group) else each for each in group.members
    ]
    while len(members) > _MOST_MEMBERS:
        length = max(2, math.ceil(len(members) / _MOST_MEMBERS))
        length = max(length, math.isqrt(len(members)))
        runs = [members[at : at + length] for at in range(0, len(members), length)]
        members = [_divided(Group(_label(run, names), members=run), names) for run in runs]
    group.members = members
    return group


def _label(run: Sequence[Group | int], names: Mapping[int, str]) -> str:
    """Return the label of a run of operations: its scopes, or its most costly operations."""
    scopes = [each.label for each in run if isinstance(each, Group) and each.is_scope]
    if len(scopes) == len(run):
        return f"{scopes[0]} … {scopes[-1]}"
    whole = Group("", members=list(run))
    found = Counter(names.get(each, "").partition(".")[2] for each in whole.operations())
    telling = [name for name in _TELLING if name in found]
    telling = telling or [name for name, _ in found.most_common()]
    return ", ".join(f"{found[name]} {name}" if found[name] > 1 else name for name in telling[:2])


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
