# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps by which an axis came to a dimension of a tensor, back to an annotation.

In the example of `explanation`, the chain of axis "a" in dimension 0 of `%1` is step 1, which took
it from `%0`; step 0, which took it from `%x`; and the annotation of `%x`.
"""

from __future__ import annotations

import enum
import weakref
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from mlir_sdy.model import AxisRef, OpShardingRule, TensorSharding
from pyshardy.propagation.debugging.flows import AxisFlow
from pyshardy.propagation.debugging.record import Record, RecordedTensor


class AxisOrigin(enum.Enum):
    """Origin of an axis that no step propagated. The value is a participle about the tensor."""

    PROGRAM = "given in the program"
    TACTICS = "given in the program or by a tactic so far"
    PART = "given in part in the program"
    GROUP = "given by its sharding group"
    MANUAL = "given by the enclosing manual computation"


@dataclass(frozen=True, slots=True)
class Root:
    """A tensor that has an axis without a step.

    Attributes:
        tensor: the tensor.
        origin: the origin of the axis.
        given: its sharding before propagation.
    """

    tensor: RecordedTensor
    origin: AxisOrigin
    given: TensorSharding | None

    def __str__(self) -> str:
        written = self.origin in (AxisOrigin.PROGRAM, AxisOrigin.TACTICS, AxisOrigin.PART)
        return f"{self.tensor}, {self.origin.value}" + (f": {self.given}" if written else "")


class ChainLink(NamedTuple):
    """A link of a chain: a step in which a dimension got an axis, or its origin.

    Attributes:
        slot: the tensor that has the axis.
        step: the number of the step; None at an origin.
        flow: the flow of the step by which it got the axis.
        origin: the origin of the axis; None for a step.
        place: the tensor and the dimension with the next link; None at the end of the chain.
        before: the step that the next link precedes.
    """

    slot: int
    step: int | None
    flow: AxisFlow | None
    origin: AxisOrigin | None
    place: tuple[int, int] | None
    before: int


def chain_of(record: Record, slot: int, dim: int, axis: AxisRef) -> Iterator[ChainLink]:
    """Yield the links of an axis that a tensor has after propagation, the last step first."""
    links = _tables_of(record, axis).links
    place: tuple[int, int] | None = slot, dim
    before = len(record)
    while place is not None:
        key = *place, before
        link = links.get(key)
        if link is None:
            link = links[key] = _link(record, *place, axis, before)
        yield link
        place, before = link.place, link.before


def roots_of(record: Record, slot: int) -> list[tuple[int, AxisRef, Root]]:
    """Return the dimension and the root of each axis of a tensor after propagation, if known."""
    sharding = record.engine.sharding(slot)
    found: list[tuple[int, AxisRef, Root]] = []
    for dim, axes in enumerate(() if sharding is None else sharding.dim_axes):
        for axis in axes:
            root = root_of(record, slot, dim, axis)
            if root is not None:
                found.append((dim, axis, root))
    return found


def root_of(record: Record, slot: int, dim: int, axis: AxisRef) -> Root | None:
    """Return the end of the chain of an axis; None if several tensors contributed it together."""
    roots = _tables_of(record, axis).roots
    passed: list[_Key] = []
    key = slot, dim, len(record)
    if key in roots:
        return roots[key]
    root: Root | None = None
    for link in chain_of(record, slot, dim, axis):
        if key in roots:
            root = roots[key]
            break
        passed.append(key)
        if link.place is None:
            root = None if link.origin is None else root_at(record, link)
        else:
            key = *link.place, link.before
    roots.update(dict.fromkeys(passed, root))
    return root


def root_at(record: Record, link: ChainLink) -> Root:
    """Return the root for a link that is an origin."""
    assert link.origin is not None, "the link is a step"
    return Root(record.tensor(link.slot), link.origin, record.given(link.slot))


def origin_of_given(record: Record) -> AxisOrigin:
    """Return the origin of shardings from before a propagation."""
    return AxisOrigin.TACTICS if record.follows_tactics else AxisOrigin.PROGRAM


def dim_of(rule: OpShardingRule, position: int, factor: int) -> int:
    """Return the dimension of a tensor that has a factor."""
    return next(
        dim
        for dim, mapping in enumerate(rule.mappings[position].dim_mappings)
        if factor in mapping.factor_indices
    )


# --- Tables ---------------------------------------------------------------------------------------

_Key: TypeAlias = "tuple[int, int, int]"
"""A tensor, a dimension, and the step that a link precedes."""


class _Tables:
    """The links and the roots of an axis. The chains of most values share their ends."""

    def __init__(self) -> None:
        self.links: dict[_Key, ChainLink] = {}
        self.roots: dict[_Key, Root | None] = {}


_tables: weakref.WeakKeyDictionary[Record, defaultdict[AxisRef, _Tables]] = (
    weakref.WeakKeyDictionary()
)


def _tables_of(record: Record, axis: AxisRef) -> _Tables:
    return _tables.setdefault(record, defaultdict(_Tables))[axis]


def _link(record: Record, slot: int, dim: int, axis: AxisRef, before: int) -> ChainLink:
    """Return the last link of an axis before a step."""
    given = record.given(slot)
    axes = () if given is None else given.dim_axes[dim]
    if any(known.contains(axis) for known in axes):
        return ChainLink(slot, None, None, origin_of_given(record), None, before)
    found = _last_gain(record, slot, dim, axis, before)
    if found is None:
        member = _gained_before(record, slot, dim, axis, before)
        if member is not None:
            return ChainLink(slot, None, None, AxisOrigin.GROUP, (member, dim), before)
        is_part = any(axis.contains(known) for known in axes)
        origin = AxisOrigin.PART if is_part else AxisOrigin.MANUAL
        return ChainLink(slot, None, None, origin, None, before)
    step, flow = found
    if flow.source is None:
        return ChainLink(slot, step, flow, None, None, before)
    change = record.changes[step]
    place = change.relation.tensors[flow.source], dim_of(change.kind.rule, flow.source, flow.factor)
    return ChainLink(slot, step, flow, None, place, step)


def _last_gain(
    record: Record, slot: int, dim: int, axis: AxisRef, before: int
) -> tuple[int, AxisFlow] | None:
    """Return the latest step before another one in which a dimension got an axis, or part of it."""
    for step in reversed(record.gained(slot)):
        if step >= before:
            continue
        tensors = record.changes[step].relation.tensors
        for flow in record.flows(step):
            if (
                tensors[flow.target] == slot
                and flow.dim == dim
                and any(gained.overlaps(axis) for gained in flow.axes)
            ):
                return step, flow
    return None


def _gained_before(record: Record, slot: int, dim: int, axis: AxisRef, before: int) -> int | None:
    """Return the member of a tensor's sharding group that got an axis last."""
    gains = [
        (found[0], member)
        for member in record.members(slot)
        if (found := _last_gain(record, member, dim, axis, before)) is not None
    ]
    return max(gains)[1] if gains else None
