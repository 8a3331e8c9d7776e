# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What shards of windows cover."""

import itertools

import pytest

from pyshardy.partition.halo.windowed import Window, WindowFootprint
from pyshardy.partition.records.select_and_scatter import WindowsInto


def test_windows_of_three_with_padding_at_both_ends():
    assert Window(low=1, size=3).footprint(8, 4) == WindowFootprint(
        (-1, 1, 3, 5), (4,) * 4, (0,) * 4, 4, 4
    )


def test_a_slice_begins_behind_the_first_element():
    """Elements 3, 5, 7 and 9, two on each shard."""
    assert Window(low=-3, stride=2).footprint(4, 2) == WindowFootprint((3, 7), (3, 3), (0, 0), 3, 3)


def test_holes_between_elements_are_counted_from_the_first_place():
    """Places 0 to 2 and 3 to 5 of `a . b . c .`: the second shard begins with a hole."""
    assert Window(dilation=2).footprint(6, 2) == WindowFootprint((0, 2), (2, 1), (0, 1), 3, 2)


def covered(window: Window, count: int, num_shards: int, shard: int) -> list[int]:
    """The elements under the windows of a shard, in order."""
    shard_size = -(-count // num_shards)
    windows = range(shard * shard_size, min(count, (shard + 1) * shard_size))
    begins = [index * window.stride - window.low for index in windows]
    if not begins:
        return []
    places = range(begins[0], begins[-1] + window.size)
    return [place // window.dilation for place in places if place % window.dilation == 0]


@pytest.mark.parametrize("num_shards", [1, 2, 3, 4])
def test_footprint_is_what_windows_cover(num_shards):
    ranges = range(1, 8), range(-3, 4), (1, 2, 3), (1, 2, 4), (1, 2, 3)
    for count, low, stride, size, dilation in itertools.product(*ranges):
        window = Window(low, stride, size, dilation)
        footprint = window.footprint(count, num_shards)
        shard_size = -(-count // num_shards)
        for shard, (start, length) in enumerate(
            zip(footprint.starts, footprint.lengths, strict=True)
        ):
            assert covered(window, count, num_shards, shard) == list(range(start, start + length))
            phase = footprint.phases[shard]
            assert start * dilation == shard * shard_size * stride - low + phase
            assert 0 <= phase < dilation
        assert footprint.extent == (shard_size - 1) * stride + size
        assert footprint.length >= max(1, *footprint.lengths)
        assert (footprint.length - 1) * dilation < max(footprint.extent, 1)


def test_windows_that_reach_into_a_shard():
    windows = WindowsInto(Window(stride=2, size=3), count=7, size=16, num_shards=4)
    assert windows.firsts == (-1, 1, 3, 5)
    assert windows.numbers == (3, 3, 3, 3)
    assert windows.starts == (-2, 2, 6, 10)
    assert windows.extent == 7


@pytest.mark.parametrize("num_shards", [1, 2, 3, 4])
def test_all_windows_that_reach_into_a_shard_are_there(num_shards):
    ranges = range(3, 12), range(3), (1, 2, 3), (1, 2, 3)
    for size, low, stride, length in itertools.product(*ranges):
        window = Window(low, stride, length)
        count = (size + low - length) // stride + 1
        windows = WindowsInto(window, count, size, num_shards)
        for shard, first in enumerate(windows.firsts):
            elements = range(shard * windows.shard_size, (shard + 1) * windows.shard_size)
            reaching = [
                index
                for index in range(-size, 2 * size)
                if set(range(index * stride - low, index * stride - low + length)) & set(elements)
            ]
            found = list(range(first, first + windows.numbers[shard]))
            if windows.are_own:  # only windows that exist
                own = count // num_shards
                assert found == list(range(shard * own, (shard + 1) * own))
                assert {*reaching}.intersection(range(count)) <= {*found}
            else:
                assert found == reaching
