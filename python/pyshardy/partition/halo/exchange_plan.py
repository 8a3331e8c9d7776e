# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which shards send what to which others, so that each gets the elements it needs.

Everything here is about one dimension: a shard holds a run of positions of it, and needs another
one. Only what is needed is sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class RequiredRange:
    """What each shard needs of one source, a dimension that is spread over all of them.

    Attributes:
        starts: for each shard the position of the source that comes first in its buffer.
        lengths: for each shard how many positions of its buffer it needs.
        valid: the positions that there are to have; a buffer may reach beyond them.
        shard_size: how many positions each shard holds.
        source: which source it is, where there are several.
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    valid: range
    shard_size: int
    source: int = 0


@dataclass(frozen=True, slots=True)
class Permute:
    """Equally long segments, of which each shard sends and receives at most one.

    Attributes:
        source: of which source they are segments.
        pairs: who sends to whom.
        length: how many elements a segment has.
        begins: for each shard where the segment begins that it sends.
        places: for each shard where the received segment begins in its buffer; it may stand out.
        filled: for each shard the positions of its buffer that it needs the segment for.
    """

    source: int
    pairs: tuple[tuple[int, int], ...]
    length: int
    begins: tuple[int, ...]
    places: tuple[int, ...]
    filled: tuple[range, ...]

    @property
    def is_local(self) -> bool:
        """Whether all shards keep their segments, so that nothing is sent."""
        return all(sender == receiver for sender, receiver in self.pairs)


@dataclass(frozen=True, slots=True)
class ExchangePlan:
    """How the buffers of all shards are put together.

    Attributes:
        length: the length of each buffer.
        moves: what comes where, in any order: no two fill the same position.
        held: for each shard the positions of its buffer from the first to the last filled one.
        needed: for each shard how many positions of its buffer it needs, filled or not.
        gathered: how many elements a shard would receive if all got the sources whole.
    """

    length: int
    moves: tuple[Permute, ...]
    held: tuple[range, ...]
    needed: tuple[int, ...]
    gathered: int

    @property
    def received(self) -> float:
        """How many elements a shard receives of others, on average."""
        elements = sum(
            move.length
            for move in self.moves
            for sender, receiver in move.pairs
            if sender != receiver
        )
        return elements / len(self.held)


@lru_cache(maxsize=1024)  # Programs repeat themselves.
def plan_exchange(
    length: int, demands: tuple[RequiredRange, ...], pieces: int, *, mirrored: bool = False
) -> ExchangePlan:
    """The moves that fill a buffer on each shard.

    1. What a shard needs of a source, as far as it is valid, is cut at the ends of shards into
       runs, one for each shard that holds a part of it.
    2. Runs whose sender is the same number of shards away from the receiver are one move. If
       `mirrored`, the distance is counted from the receiver's mirror image. Several runs from one
       shard to another are as many moves.
    3. Two moves that go equally far in a circle of all shards become one if they are equally long
       and go to the same place, as the two of a tensor that is rolled.
    4. A move is as long as its longest run. All its segments begin at the same position of their
       shard if this doesn't make them longer.

    Example: 8 positions on 4 shards, of which each needs one more on both sides:
    `plan_exchange(4, (RequiredRange((-1, 1, 3, 5), (4,) * 4, range(8), 2),), 4)` keeps the 2
    positions of each shard at 1, and sends the last one of each shard to the next one's 0, and the
    first to the previous one's 3. A shard receives 1.5 elements on average; it would be 6 if all
    were gathered.

    Args:
        length: the length of the buffer.
        demands: what fills it.
        pieces: the number of shards.
        mirrored: whether shards need what is at the other end of a source.
    """
    groups: dict[tuple[int, int, int], list[_Run]] = {}
    runs_from: Counter[tuple[int, int, int]] = Counter()
    held = [range(length, 0)] * pieces
    for demand in demands:
        for run in _runs(demand):
            target = pieces - 1 - run.receiver if mirrored else run.receiver
            distance = run.sender - target
            pair = (demand.source, run.sender, run.receiver)
            groups.setdefault((demand.source, distance, runs_from[pair]), []).append(run)
            runs_from[pair] += 1
            before = held[run.receiver]
            held[run.receiver] = range(
                min(before.start, run.place), max(before.stop, run.place + run.length)
            )
    sizes = {demand.source: demand.shard_size for demand in demands}
    merged: dict[tuple[int, ...], list[_Run]] = {}
    for (source, distance, nth), runs in groups.items():
        longest, place = max(run.length for run in runs), min(run.place for run in runs)
        merged.setdefault((source, distance % pieces, nth, longest, place), []).extend(runs)
    moves = tuple(_move(key[0], runs, sizes[key[0]], pieces) for key, runs in merged.items())
    gathered = (pieces - 1) * sum(sizes.values())
    needed = tuple(map(max, *(demand.lengths for demand in demands), (0,) * pieces))
    return ExchangePlan(length, moves, tuple(held), needed, gathered)


@dataclass(frozen=True, slots=True)
class _Run:
    """Positions that a shard needs of another one: where they begin there, and in the buffer."""

    sender: int
    receiver: int
    begin: int
    place: int
    length: int

    @property
    def filled(self) -> range:
        """The positions of the buffer that it fills."""
        return range(self.place, self.place + self.length)


def _runs(demand: RequiredRange) -> Iterator[_Run]:
    size = demand.shard_size
    for receiver, (start, length) in enumerate(zip(demand.starts, demand.lengths, strict=True)):
        first = max(start, demand.valid.start)
        end = min(start + length, demand.valid.stop)
        while first < end:
            sender = first // size
            stop = min(end, (sender + 1) * size)
            yield _Run(sender, receiver, first - sender * size, first - start, stop - first)
            first = stop


def _move(source: int, runs: Sequence[_Run], shard_size: int, pieces: int) -> Permute:
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
        _of_all(begins, pieces),
        _of_all(places, pieces),
        tuple(filled.get(shard, range(0)) for shard in range(pieces)),
    )


def _of_all(numbers: Mapping[int, int], pieces: int) -> tuple[int, ...]:
    """The numbers of all shards; those that have none get one of the others'."""
    some = next(iter(numbers.values()))
    return tuple(numbers.get(shard, some) for shard in range(pieces))
