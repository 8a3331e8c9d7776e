# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who sends what to whom."""

import random

import pytest

from pyshardy.partition.halo.emit_exchange import joined_places
from pyshardy.partition.halo.exchange_plan import (
    ExchangePlan,
    Permute,
    RequiredRange,
    plan_exchange,
)
from pyshardy.partition.halo.window import Window


def carried_out(route: ExchangePlan, demands: list[RequiredRange]) -> list[list[object]]:
    """The buffers that shards get; elements are named by their source and position.

    Segments are checked: they are parts of shards, and each shard sends and receives one at most.
    """
    sizes = {demand.source: demand.shard_size for demand in demands}
    buffers: list[list[object]] = [[None] * route.length for _ in route.held]
    for move in route.moves:
        senders, receivers = zip(*move.pairs, strict=True)
        assert len(set(senders)) == len(senders)
        assert len(set(receivers)) == len(receivers)
        size = sizes[move.source]
        for sender, receiver in move.pairs:
            begin = move.begins[sender]
            assert 0 <= begin <= begin + move.length <= size
            segment = [(move.source, sender * size + begin + at) for at in range(move.length)]
            for position in move.filled[receiver]:
                assert buffers[receiver][position] is None
                buffers[receiver][position] = segment[position - move.places[receiver]]
    return buffers


def demanded(demands: list[RequiredRange], length: int, pieces: int) -> list[list[object]]:
    buffers: list[list[object]] = [[None] * length for _ in range(pieces)]
    for demand in demands:
        columns = zip(buffers, demand.starts, demand.lengths, strict=True)
        for buffer, start, needed in columns:
            for at in range(needed):
                if start + at in demand.valid:
                    buffer[at] = (demand.source, start + at)
    return buffers


def test_one_element_of_each_neighbour():
    demand = RequiredRange((-1, 1, 3, 5), (4,) * 4, range(8), 2)
    route = plan_exchange(4, (demand,), 4)
    own, next_one, one_before = route.moves
    assert own.is_local
    assert own.places == (1, 1, 1, 1)
    assert next_one == Permute(
        0,
        ((1, 0), (2, 1), (3, 2)),
        1,
        (0, 0, 0, 0),
        (3, 3, 3, 3),
        (range(3, 4), range(3, 4), range(3, 4), range(0)),
    )
    assert one_before.pairs == ((0, 1), (1, 2), (2, 3))
    assert one_before.begins == (1, 1, 1, 1)
    assert one_before.places == (0, 0, 0, 0)
    assert route.held == (range(1, 4), range(4), range(4), range(3))
    assert (route.received, route.gathered) == (1.5, 6)


def test_what_is_rolled_goes_in_a_circle():
    """Positions 1 to 7 and then 0 of a source: one move between shards."""
    demands = [
        RequiredRange((1, 3, 5, 7), (2,) * 4, range(1, 8), 2),
        RequiredRange((-7, -5, -3, -1), (2,) * 4, range(1), 2),
    ]
    route = plan_exchange(2, tuple(demands), 4)
    assert [move.pairs for move in route.moves if not move.is_local] == [
        ((1, 0), (2, 1), (3, 2), (0, 3))
    ]
    assert carried_out(route, demands) == demanded(demands, 2, 4)


def test_shards_at_both_ends_change_places():
    """The reverse of 7 positions on 4 shards: parts of two shards for each, of 2 together."""
    demand = RequiredRange((5, 3, 1, -1), (2,) * 4, range(7), 2)
    route = plan_exchange(2, (demand,), 4, mirrored=True)
    assert sorted(move.pairs for move in route.moves) == [
        ((2, 0), (1, 1), (0, 2)),
        ((3, 0), (2, 1), (1, 2), (0, 3)),
    ]
    assert carried_out(route, [demand]) == demanded([demand], 2, 4)


def test_both_directions_are_apart_if_one_is_longer():
    """They go from one of 2 shards to the other: 3 elements in one direction, 2 in the other."""
    route = plan_exchange(7, (RequiredRange((-1, 1), (7, 7), range(8), 4),), 2)
    assert sorted((move.pairs, move.length) for move in route.moves if not move.is_local) == [
        (((0, 1),), 3),
        (((1, 0),), 2),
    ]


def test_nothing_is_sent_that_is_not_needed():
    """The first 4 of 100 positions, one on each shard: all of them are on the first one."""
    route = plan_exchange(1, (RequiredRange((0, 1, 2, 3), (1,) * 4, range(100), 25),), 4)
    assert route.received == 3 / 4
    assert route.gathered == 75


def by_place(route: ExchangePlan) -> list[Permute]:
    return sorted(route.moves, key=lambda move: min(move.places))


def test_segments_are_joined_and_cut():
    """The last 2 of 4 positions and the next one; the last 3 of the next 4."""
    own, next_one = by_place(plan_exchange(3, (RequiredRange((2, 5), (3, 3), range(8), 4),), 2))
    assert (own.length, own.begins, own.places) == (3, (1, 1), (-1, 0))
    assert (next_one.length, next_one.places[0]) == (1, 2)
    assert joined_places([own, next_one]) == (-1, 0)


def test_segments_of_which_shards_need_different_ones_are_not_joined():
    """All of one source on the first shard, and all of another one on the second."""
    demands = (
        RequiredRange((0, 8), (8, 8), range(8), 4, 0),
        RequiredRange((-8, 0), (8, 8), range(8), 4, 1),
    )
    assert joined_places(by_place(plan_exchange(8, demands, 2))) is None


@pytest.mark.parametrize("pieces", [1, 2, 3, 4, 6])
def test_windows_get_what_they_cover(pieces):
    generator = random.Random(pieces)
    for _ in range(300):
        size, count = generator.randint(1, 20), generator.randint(1, 20)
        window = Window(
            generator.randint(-6, 6), generator.randint(1, 3), generator.randint(1, 5),
            generator.randint(1, 3),
        )  # fmt: skip
        reach = window.reach(count, pieces)
        demands = [RequiredRange(reach.starts, reach.lengths, range(size), -(-size // pieces))]
        route = plan_exchange(reach.length, tuple(demands), pieces)
        buffers = carried_out(route, demands)
        assert buffers == demanded(demands, reach.length, pieces)
        for buffer, held in zip(buffers, route.held, strict=True):
            assert [at for at, element in enumerate(buffer) if element] == list(held)


@pytest.mark.parametrize("mirrored", [False, True])
def test_any_parts_of_several_sources(mirrored):
    generator = random.Random(0)
    for _ in range(300):
        pieces = generator.randint(1, 6)
        sizes = [generator.randint(1, 15) for _ in range(3)]
        parts = []
        for _ in range(generator.randint(1, 4)):
            source = generator.randrange(3)
            begin = generator.randrange(sizes[source])
            parts.append((source, begin, generator.randint(1, sizes[source] - begin)))
        length = -(-sum(part[2] for part in parts) // pieces)
        demands, place = [], 0
        for source, begin, part_length in parts:
            starts = tuple(shard * length - place + begin for shard in range(pieces))
            valid = range(begin, begin + part_length)
            demands.append(
                RequiredRange(
                    starts, (length,) * pieces, valid, -(-sizes[source] // pieces), source
                )
            )
            place += part_length
        route = plan_exchange(length, tuple(demands), pieces, mirrored=mirrored)
        assert carried_out(route, demands) == demanded(demands, length, pieces)
        assert route.received <= (pieces - 1) * length
