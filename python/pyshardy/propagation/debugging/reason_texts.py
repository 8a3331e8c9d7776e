# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reasons in words: for each kind one sentence, in which "it" is the axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlir_sdy.model import FactorType, OpShardingRule, factor_name
from pyshardy.propagation.debugging.connections import Connection, Place
from pyshardy.propagation.debugging.reasons import AxisReason, Frontier, ReasonFinder, ReasonKind
from pyshardy.propagation.debugging.record import Record, position_text

_MOST_ROOTS = 3
"""The most roots that a sentence names."""


def sentence(finder: ReasonFinder, reason: AxisReason) -> str:
    """Return the sentence of a reason, in which "it" is the axis."""
    return "".join(_parts(finder, reason))


def _parts(finder: ReasonFinder, reason: AxisReason) -> Iterator[str]:
    record, slot = finder.record, reason.slot
    by = "" if reason.operation is None else operation_text(record, reason.operation)
    match reason.kind:
        case ReasonKind.SHARDED:
            yield f"it shards {dims_text(reason.dims)}"
        case ReasonKind.ELSEWHERE:
            yield f"it shards {dims_text(reason.dims)} already"
        case ReasonKind.GIVEN:
            derived = "" if finder.is_port(slot) else ", or derived earlier"
            yield f"given in the program{derived}: {record.given(slot)}"
        case ReasonKind.CONSTRAINED if finder.maker(slot) == reason.operation:
            yield f"held by {by}: {record.given(slot)}"
        case ReasonKind.CONSTRAINED:
            yield f"held by {by}"
        case ReasonKind.REDUCED:
            names = " and ".join(record.tensor(each).description for each in reason.sources)
            have = "has" if len(reason.sources) == 1 else "have"
            verb = _verb(record, reason)
            yield f"{by} {verb} over the dimension in which {names} {have} it, so it is in none"
        case ReasonKind.UNREDUCED:
            yield "the value is unreduced along it: each device has a part of a sum"
        case ReasonKind.REFUSED:
            yield refusal_text(record, reason)
        case ReasonKind.INDIVISIBLE:
            pairs = zip(finder.shape(slot), finder.free_sizes(slot), strict=True)
            sizes = [
                str(size) if size == free else f"{size} in {size // free} shards"
                for size, free in pairs
            ]
            said = _sizes([sizes[dim] for dim in reason.dims])
            yield f"its {finder.size(slot, reason.axis)} shards don't divide {said}"
        case ReasonKind.NEEDS_REPLICATION:
            yield f"{by} {_need(record, reason)}, and is between this value and "
            way = finder.connections.nearest((slot, reason.dims[0]), reason.axis, wider=True)
            yield "those with it" if way is None else f"{place_text(record, way.places[-1])}"
            yield "" if way is None else ", which has it"
        case ReasonKind.MANUAL:
            yield f"{by} is manual over it: inside, the value is one device's part"
        case ReasonKind.CHANGED_LATER:
            yield f"propagation sharded {dims_text(reason.dims)} by it, {_undone(finder, reason)}"
        case ReasonKind.UNOFFERED:
            yield from _frontier(finder, reason, finder.frontier(reason))


def operation_text(record: Record, number: int) -> str:
    """Return an operation with its scope and place: `dot_general in layers.3 (model.py:40)`."""
    name, place = record.operation(number)
    return f"{record.scoped_name(number) or name}{'' if place is None else f' ({place})'}"


def place_text(record: Record, place: Place) -> str:
    """Return a dimension of a tensor: `dimension 0 of x (model.py:3)`."""
    return f"dimension {place[1]} of {record.tensor(place[0])}"


def dims_text(dims: Sequence[int]) -> str:
    """Return dimensions: `dimension 0`, `dimensions 0 and 2`."""
    names = " and ".join(map(str, dims))
    return f"dimension {names}" if len(dims) == 1 else f"dimensions {names}"


def factor_text(rule: OpShardingRule, factor: int) -> str:
    """Return a factor: its name and size, and its kind unless it is pass-through."""
    kind = rule.factor_type(factor)
    word = "" if kind is FactorType.PASS_THROUGH else f"{kind.name.lower().replace('_', '-')} "
    return f"{word}factor {factor_name(factor)}={rule.factor_sizes[factor]}"


def refusal_text(record: Record, reason: AxisReason) -> str:
    """Return a refused axis: which tensor has it, and what keeps the other one from taking it."""
    refusal, relation, operation = reason.refusal, reason.relation, reason.operation
    assert refusal is not None, "it is a refusal"
    assert relation is not None, "it is a refusal"
    assert operation is not None, "it is a refusal"
    rule = relation.family.rule
    source = record.tensor(relation.tensors[refusal.source]).description
    said = refusal.reason.value
    if refusal.blocker is not None:
        blocker = position_text(refusal.blocker, rule)
        if refusal.blocker == refusal.target:
            blocker = "this value"
        said = f"{blocker} {said}"
    factor = factor_text(rule, refusal.factor)
    by = operation_text(record, operation)
    return f"{source} has it along {factor} of {by}, but {said}"


# --- Parts of sentences ---------------------------------------------------------------------------


def _verb(record: Record, reason: AxisReason) -> str:
    """Return what the operation of a reduction does: only of products it is known that they sum."""
    assert reason.operation is not None, "an operation reduces"
    name = record.engine.program.names[reason.operation].removeprefix("stablehlo.")
    verbs = {"gather": "combines shards", "dot_general": "sums", "convolution": "sums"}
    return verbs.get(name, "reduces")


def _sizes(sizes: Sequence[object]) -> str:
    names = ", ".join(map(str, sizes))
    return f"the size {names}" if len(sizes) == 1 else f"any of the sizes {names}"


def _need(record: Record, reason: AxisReason) -> str:
    assert reason.operation is not None, "an operation separates"
    relation = record.engine.relations[reason.operation]
    if relation is None:
        return "has no sharding rule"
    return "needs the dimension whole"


def _undone(finder: ReasonFinder, reason: AxisReason) -> str:
    after, mesh = finder.record.engine.sharding(reason.slot), finder.mesh(reason.slot)
    assert after is not None, "propagation sharded it"
    assert mesh is not None, "it is sharded"
    for number in reason.dims:
        dim, size = after.dim_shardings[number], finder.shape(reason.slot)[number]
        place = next(at for at, axis in enumerate(dim.axes) if axis.name == reason.axis)
        count = mesh.axes_size(dim.axes[: place + 1])
        if dim.axes[place].sub_axis_info is not None and not dim.is_closed:
            return "in part, which open dimensions of the program's arguments and results lose"
        if size % count:
            return f"which a later pass removed: {count} shards don't divide {_sizes([size])}"
    return "which a later pass removed"


def _frontier(finder: ReasonFinder, reason: AxisReason, frontier: Frontier) -> Iterator[str]:
    record = finder.record
    if frontier.nearest is not None:
        yield from _blocked(finder, reason.axis, frontier.nearest)
        return
    if frontier.summed is not None:
        assert frontier.summed.operation is not None, "an operation sums"
        by = operation_text(record, frontier.summed.operation)
        verb = _verb(record, frontier.summed)
        yield f"{by} {verb} over it, and the value is tied to its result"
        return
    yield "no value that it is tied to has it: "
    left = _MOST_ROOTS
    parts: list[str] = []
    for dim, roots in frontier.roots.items():
        slots = _by_kind(record, roots)
        shown = [_root_text(record, slot) for slot in slots[:left]]
        left = max(1, left - len(shown))
        more = f" and {len(slots) - len(shown)} more" if len(slots) > len(shown) else ""
        size = finder.shape(reason.slot)[dim]
        parts.append(f"dimension {dim} (size {size}) is that of {', '.join(shown)}{more}")
    yield "; ".join(parts)


def _by_kind(record: Record, roots: Iterable[Place]) -> list[int]:
    """Return the tensors of roots: arguments first, then results of functions."""
    program = record.engine.program

    def rank(slot: int) -> int:
        if program.is_result_of_function(slot):
            return 1
        return 0 if slot in program.arguments.get(program.makers[slot], ()) else 2

    return sorted(dict.fromkeys(slot for slot, _ in roots), key=rank)


def _root_text(record: Record, slot: int) -> str:
    """Return a tensor with its annotation."""
    given = record.given(slot)
    return f"{record.tensor(slot).description}{'' if given is None else f' ({given})'}"


def _blocked(finder: ReasonFinder, axis: str, way: Connection) -> Iterator[str]:
    """Yield why the axis does not leave the nearest place that has it."""
    record = finder.record
    source, target, operation = way.places[-1], way.places[-2], way.joints[-1].operation
    yield f"the nearest with it is {place_text(record, source)}; "
    if operation is None:
        yield "the members of its sharding group don't have it"
        return
    refusal = finder.refusal(target[0], axis, operation)
    if refusal is not None:
        yield refusal_text(record, refusal).replace(
            "this value", record.tensor(target[0]).description
        )
        return
    yield f"in {operation_text(record, operation)} it stays with another part of the dimension"
