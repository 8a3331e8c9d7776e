# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchange plans and forms: the permutes by which each shard receives the elements it needs.

A plan is for one dimension: a shard holds a range of its positions, and needs another range. Only
elements that are needed are sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.padding_builder import PaddingBuilder


@dataclass(frozen=True, slots=True)
class RequiredRange:
    """The range that each shard needs of a source, a dimension that is sharded over all shards.

    Attributes:
        starts: for each shard the first position of the source in its buffer.
        lengths: for each shard the number of positions of its buffer that it needs.
        valid: the positions that exist; a buffer may extend beyond them.
        shard_size: the number of positions that each shard holds.
        source: the index of the source, if there are several.
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    valid: range
    shard_size: int
    source: int = 0


@dataclass(frozen=True, slots=True)
class Permute:
    """A collective permute: segments of one length; each shard sends and receives at most one.

    Attributes:
        source: the source of the segments.
        pairs: the sender and the receiver of each segment.
        length: the number of elements of a segment.
        begins: for each shard the start of the segment that it sends.
        places: for each shard the position of the received segment in its buffer; it may extend
            beyond it.
        filled: for each shard the positions of its buffer that the segment fills.
    """

    source: int
    pairs: tuple[tuple[int, int], ...]
    length: int
    begins: tuple[int, ...]
    places: tuple[int, ...]
    filled: tuple[range, ...]

    @property
    def is_local(self) -> bool:
        """Whether all shards keep their segments, so that there is no communication."""
        return all(sender == receiver for sender, receiver in self.pairs)


@dataclass(frozen=True)  # without slots, for a cached property
class ExchangePlan:
    """The permutes that fill the buffers of all shards.

    Attributes:
        length: the length of each buffer.
        permutes: the permutes, in any order: no two fill the same position.
        held: for each shard the positions of its buffer from the first to the last filled one.
        needed: for each shard the number of positions of its buffer that it needs, filled or not.
        gathered: the number of elements that a shard would receive if all sources were gathered.
    """

    length: int
    permutes: tuple[Permute, ...]
    held: tuple[range, ...]
    needed: tuple[int, ...]
    gathered: int

    @cached_property
    def received(self) -> float:
        """Return the number of elements that a shard receives from others, on average."""
        elements = sum(
            permute.length
            for permute in self.permutes
            for sender, receiver in permute.pairs
            if sender != receiver
        )
        return elements / len(self.held)


@lru_cache(maxsize=1024)  # programs repeat themselves
def plan_exchange(
    length: int, required: tuple[RequiredRange, ...], num_shards: int, *, mirrored: bool = False
) -> ExchangePlan:
    """Plan the permutes that fill a buffer on each shard.

    1. The valid part of the range that a shard needs of a source is cut at the ends of shards into
       runs, one for each shard that holds a part of it.
    2. Runs whose sender is at the same distance from the receiver are one permute. If `mirrored`,
       the distance is counted from the receiver's mirror image. Several runs from one shard to
       another are as many permutes.
    3. Two permutes of the same distance, modulo the number of shards, become one if their lengths
       and positions are equal, such as the two of a rolled tensor.
    4. So do permutes of other distances that have no sender and no receiver in common, such as
       those of a slice whose elements are on a few shards.
    5. A permute is as long as its longest run. All its segments begin at the same position of their
       shard if this doesn't make them longer.

    Example: 8 positions on 4 shards, of which each needs one more on both sides: `plan_exchange(4,
    (RequiredRange((-1, 1, 3, 5), (4,) * 4, range(8), 2),), 4)` keeps the 2 positions of each shard
    at 1, and sends the last one of each shard to the next one's 0, and the first to the previous
    one's 3. A shard receives 1.5 elements on average; it would be 6 if all were gathered.

    Args:
        length: the length of the buffer.
        required: the required range of each source.
        num_shards: the number of shards.
        mirrored: whether shards need elements of the opposite end of a source.
    """
    groups: dict[tuple[int, int, int], list[_Run]] = {}
    runs_from: Counter[tuple[int, int, int]] = Counter()
    held = [range(length, 0)] * num_shards
    for each in required:
        for run in _runs(each):
            target = num_shards - 1 - run.receiver if mirrored else run.receiver
            distance = run.sender - target
            pair = (each.source, run.sender, run.receiver)
            groups.setdefault((each.source, distance, runs_from[pair]), []).append(run)
            runs_from[pair] += 1
            before = held[run.receiver]
            held[run.receiver] = range(
                min(before.start, run.place), max(before.stop, run.place + run.length)
            )
    sizes = {each.source: each.shard_size for each in required}
    merged: dict[tuple[int, ...], list[_Run]] = {}
    for (source, distance, nth), runs in groups.items():
        longest, place = max(run.length for run in runs), min(run.place for run in runs)
        merged.setdefault((source, distance % num_shards, nth, longest, place), []).extend(runs)
    permutes = tuple(
        _permute(source, runs, sizes[source], num_shards) for source, runs in _joined(merged)
    )
    gathered = (num_shards - 1) * sum(sizes.values())
    needed = tuple(map(max, *(each.lengths for each in required), (0,) * num_shards))
    return ExchangePlan(length, permutes, tuple(held), needed, gathered)


@dataclass(frozen=True, slots=True)
class _Run:
    """Positions that a shard needs of another one: their start there, and in the buffer."""

    sender: int
    receiver: int
    begin: int
    place: int
    length: int

    @property
    def filled(self) -> range:
        """Return the positions of the buffer that it fills."""
        return range(self.place, self.place + self.length)


def _runs(required: RequiredRange) -> Iterator[_Run]:
    size = required.shard_size
    for receiver, (start, length) in enumerate(zip(required.starts, required.lengths, strict=True)):
        first = max(start, required.valid.start)
        end = min(start + length, required.valid.stop)
        while first < end:
            sender = first // size
            stop = min(end, (sender + 1) * size)
            yield _Run(sender, receiver, first - sender * size, first - start, stop - first)
            first = stop


def _joined(permutes: Mapping[tuple[int, ...], list[_Run]]) -> Iterator[tuple[int, list[_Run]]]:
    """Yield the sources and runs of permutes, joined if no two have a shard in common.

    Args:
        permutes: their runs, by a key of which the first number is the source, and the last two are
            the length and the position.
    """
    by_form: dict[tuple[int, ...], list[list[_Run]]] = {}
    for (source, _, _, length, place), runs in permutes.items():
        if all(run.sender == run.receiver for run in runs):
            yield source, runs
            continue
        found = by_form.setdefault((source, length, place), [])
        others = next((each for each in found if _are_disjoint(runs, each)), None)
        if others is None:
            found.append(runs)
        else:
            others.extend(runs)
    for (source, *_), found in by_form.items():
        yield from ((source, runs) for runs in found)


def _are_disjoint(first: Sequence[_Run], second: Sequence[_Run]) -> bool:
    """Whether no shard sends in both permutes, or receives in both."""
    senders, receivers = ({run.sender for run in first}, {run.receiver for run in first})
    return not any(run.sender in senders or run.receiver in receivers for run in second)


def _permute(source: int, runs: Sequence[_Run], shard_size: int, num_shards: int) -> Permute:
    longest = max(run.length for run in runs)
    lowest = min(run.begin for run in runs)
    if max(run.begin + run.length for run in runs) == lowest + longest:
        begins = {run.sender: lowest for run in runs}
    else:
        begins = {run.sender: min(run.begin, shard_size - longest) for run in runs}
    places = {run.receiver: run.place - run.begin + begins[run.sender] for run in runs}
    filled = {run.receiver: run.filled for run in runs}
    return Permute(
        source,
        tuple((run.sender, run.receiver) for run in runs),
        longest,
        _of_all(begins, num_shards),
        _of_all(places, num_shards),
        tuple(filled.get(shard, range(0)) for shard in range(num_shards)),
    )


def _of_all(numbers: Mapping[int, int], num_shards: int) -> tuple[int, ...]:
    """Return the numbers of all shards; a shard without a number gets that of a neighbor."""
    some = next(iter(numbers.values()))
    return tuple(numbers.get(shard, some) for shard in range(num_shards))


# --- The exchange form of an operation ------------------------------------------------------------


class ExchangeForm(ABC):
    """The exchange that one operation needs, and its local computation afterwards.

    Attributes:
        operation: the operation.
        rule: the rule of compatible shardings for the form. It may differ from the operation's own,
            which describes the computation without exchange.
        factors: the factors along which shards exchange data.
    """

    operation: ir.Operation
    rule: OpShardingRule
    factors: frozenset[int]

    @abstractmethod
    def exchange_plans(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the elements that shards take from themselves and others along a split factor.

        Empty if the form communicates in another way.
        """

    @property
    def details(self) -> Hashable:
        """Return all that `build` depends on beside the operation and the types of values."""
        return ()

    @abstractmethod
    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build the results of a device at the insertion point."""

    @property
    def operands(self) -> Sequence[ir.Value]:
        """Return the values from which the results are computed."""
        return list(self.operation.operands)

    def moves(self, _operand: int, /) -> bool:
        """Whether shards take elements of an operand from others."""
        return True

    def is_profitable(self, factor: int, num_shards: int) -> bool:
        """Whether shards receive no more elements along a factor than by a gather."""
        plans = self.exchange_plans(factor, num_shards)
        return sum(plan.received for plan in plans) <= sum(plan.gathered for plan in plans)

    def gathered(self, _factor: int, /) -> int:
        """Return the elements along a factor that a shard sends to all others, beside plans."""
        return 0

    def size_after(self, _factor: int, _num_shards: int, shard_size: int, /) -> int:
        """Return the size of a shard along a factor when those of later factors are exchanged.

        Args:
            _factor: the factor.
            _num_shards: the number of shards.
            shard_size: the size of a shard before its exchange.
        """
        return shard_size

    def sends_nothing(self, factor: int, num_shards: int) -> bool:
        """Whether no shard needs elements of another one along a factor."""
        plans = self.exchange_plans(factor, num_shards)
        return bool(plans) and not any(plan.received for plan in plans)


@dataclass(frozen=True, slots=True)
class Body:
    """The computation of one device.

    Attributes:
        values: its shard of each operand of the form.
        device_axes: the devices along each factor of the form that is sharded.
        builder: builds at the insertion point.
        result_types: the types of its results.
    """

    values: Sequence[ir.Value]
    device_axes: Mapping[int, DeviceAxis]
    builder: LocalBuilder
    result_types: Sequence[ir.Type]

    def zero(self, like: ir.Value) -> ir.Value:
        """Build a scalar zero of the element type of a tensor."""
        return PaddingBuilder(AttributeCache(like.context)).scalar(like, 0)
