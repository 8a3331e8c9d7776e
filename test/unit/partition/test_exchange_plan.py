# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who sends what to whom."""

import random

import pytest

from pyshardy.partition.halo.emit_exchange import joined_places
from pyshardy.partition.halo.windowed import Window
from pyshardy.partition.types.exchange_plan import (
    ExchangePlan,
    Permute,
    RequiredRange,
    plan_exchange,
)


def carried_out(plan: ExchangePlan, required: list[RequiredRange]) -> list[list[object]]:
    """The buffers that shards get; elements are named by their source and position.

    Segments are checked: they are parts of shards, and each shard sends and receives one at most.
    """
    sizes = {each.source: each.shard_size for each in required}
    buffers: list[list[object]] = [[None] * plan.length for _ in plan.held]
    for permute in plan.permutes:
        senders, receivers = zip(*permute.pairs, strict=True)
        assert len(set(senders)) == len(senders)
        assert len(set(receivers)) == len(receivers)
        size = sizes[permute.source]
        for sender, receiver in permute.pairs:
            begin = permute.begins[sender]
            assert 0 <= begin <= begin + permute.length <= size
            segment = [(permute.source, sender * size + begin + at) for at in range(permute.length)]
            for position in permute.filled[receiver]:
                assert buffers[receiver][position] is None
                buffers[receiver][position] = segment[position - permute.places[receiver]]
    return buffers


def demanded(required: list[RequiredRange], length: int, num_shards: int) -> list[list[object]]:
    buffers: list[list[object]] = [[None] * length for _ in range(num_shards)]
    for each in required:
        columns = zip(buffers, each.starts, each.lengths, strict=True)
        for buffer, start, needed in columns:
            for at in range(needed):
                if start + at in each.valid:
                    buffer[at] = (each.source, start + at)
    return buffers


def test_one_element_of_each_neighbour():
    required = RequiredRange((-1, 1, 3, 5), (4,) * 4, range(8), 2)
    plan = plan_exchange(4, (required,), 4)
    own, next_one, one_before = plan.permutes
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
    assert plan.held == (range(1, 4), range(4), range(4), range(3))
    assert (plan.received, plan.gathered) == (1.5, 6)


def test_what_is_rolled_goes_in_a_circle():
    """Positions 1 to 7 and then 0 of a source: one permute between shards."""
    required = [
        RequiredRange((1, 3, 5, 7), (2,) * 4, range(1, 8), 2),
        RequiredRange((-7, -5, -3, -1), (2,) * 4, range(1), 2),
    ]
    plan = plan_exchange(2, tuple(required), 4)
    assert [permute.pairs for permute in plan.permutes if not permute.is_local] == [
        ((1, 0), (2, 1), (3, 2), (0, 3))
    ]
    assert carried_out(plan, required) == demanded(required, 2, 4)


def test_shards_at_both_ends_change_places():
    """The reverse of 7 positions on 4 shards: parts of two shards for each, of 2 together."""
    required = RequiredRange((5, 3, 1, -1), (2,) * 4, range(7), 2)
    plan = plan_exchange(2, (required,), 4, mirrored=True)
    assert sorted(permute.pairs for permute in plan.permutes) == [
        ((2, 0), (1, 1), (0, 2)),
        ((3, 0), (2, 1), (1, 2), (0, 3)),
    ]
    assert carried_out(plan, [required]) == demanded([required], 2, 4)


def test_both_directions_are_apart_if_one_is_longer():
    """They go from one of 2 shards to the other: 3 elements in one direction, 2 in the other."""
    plan = plan_exchange(7, (RequiredRange((-1, 1), (7, 7), range(8), 4),), 2)
    assert sorted(
        (permute.pairs, permute.length) for permute in plan.permutes if not permute.is_local
    ) == [
        (((0, 1),), 3),
        (((1, 0),), 2),
    ]


def test_a_slice_of_a_few_shards_is_sent_in_as_many_permutes_as_a_shard_has_parts():
    # The second quarter of 512 positions, which shards 2 and 3 of 8 hold, over all shards.
    required = RequiredRange(tuple(range(128, 256, 16)), (16,) * 8, range(512), 64)
    plan = plan_exchange(16, (required,), 8)
    own = [permute for permute in plan.permutes if permute.is_local]
    sent = [permute for permute in plan.permutes if not permute.is_local]
    assert [permute.pairs for permute in own] == [((2, 2),)]
    assert [len(permute.pairs) for permute in sent] == [2, 2, 2, 1]
    assert carried_out(plan, [required]) == demanded([required], 16, 8)


def test_nothing_is_sent_that_is_not_needed():
    """The first 4 of 100 positions, one on each shard: all of them are on the first one."""
    plan = plan_exchange(1, (RequiredRange((0, 1, 2, 3), (1,) * 4, range(100), 25),), 4)
    assert plan.received == 3 / 4
    assert plan.gathered == 75


def by_place(plan: ExchangePlan) -> list[Permute]:
    return sorted(plan.permutes, key=lambda permute: min(permute.places))


def test_segments_are_joined_and_cut():
    """The last 2 of 4 positions and the next one; the last 3 of the next 4."""
    own, next_one = by_place(plan_exchange(3, (RequiredRange((2, 5), (3, 3), range(8), 4),), 2))
    assert (own.length, own.begins, own.places) == (3, (1, 1), (-1, 0))
    assert (next_one.length, next_one.places[0]) == (1, 2)
    assert joined_places([own, next_one]) == (-1, 0)


def test_segments_of_which_shards_need_different_ones_are_not_joined():
    """All of one source on the first shard, and all of another one on the second."""
    required = (
        RequiredRange((0, 8), (8, 8), range(8), 4, 0),
        RequiredRange((-8, 0), (8, 8), range(8), 4, 1),
    )
    assert joined_places(by_place(plan_exchange(8, required, 2))) is None


@pytest.mark.parametrize("num_shards", [1, 2, 3, 4, 6])
def test_windows_get_what_they_cover(num_shards):
    generator = random.Random(num_shards)
    for _ in range(300):
        size, count = generator.randint(1, 20), generator.randint(1, 20)
        window = Window(
            generator.randint(-6, 6), generator.randint(1, 3), generator.randint(1, 5),
            generator.randint(1, 3),
        )  # fmt: skip
        footprint = window.footprint(count, num_shards)
        required = [
            RequiredRange(footprint.starts, footprint.lengths, range(size), -(-size // num_shards))
        ]
        plan = plan_exchange(footprint.length, tuple(required), num_shards)
        buffers = carried_out(plan, required)
        assert buffers == demanded(required, footprint.length, num_shards)
        for buffer, held in zip(buffers, plan.held, strict=True):
            assert [at for at, element in enumerate(buffer) if element] == list(held)


@pytest.mark.parametrize("mirrored", [False, True])
def test_any_parts_of_several_sources(mirrored):
    generator = random.Random(0)
    for _ in range(300):
        num_shards = generator.randint(1, 6)
        sizes = [generator.randint(1, 15) for _ in range(3)]
        parts = []
        for _ in range(generator.randint(1, 4)):
            source = generator.randrange(3)
            begin = generator.randrange(sizes[source])
            parts.append((source, begin, generator.randint(1, sizes[source] - begin)))
        length = -(-sum(part[2] for part in parts) // num_shards)
        required, place = [], 0
        for source, begin, part_length in parts:
            starts = tuple(shard * length - place + begin for shard in range(num_shards))
            valid = range(begin, begin + part_length)
            required.append(
                RequiredRange(
                    starts, (length,) * num_shards, valid, -(-sizes[source] // num_shards), source
                )
            )
            place += part_length
        plan = plan_exchange(length, tuple(required), num_shards, mirrored=mirrored)
        assert carried_out(plan, required) == demanded(required, length, num_shards)
        assert plan.received <= (num_shards - 1) * length
