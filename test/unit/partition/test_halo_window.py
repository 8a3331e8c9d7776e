# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What shards of windows cover."""

import itertools

import pytest

from pyshardy.partition.halo.select_and_scatter import WindowsInto
from pyshardy.partition.halo.window import Reach, Window


def test_windows_of_three_with_padding_at_both_ends():
    assert Window(low=1, size=3).reach(8, 4) == Reach((-1, 1, 3, 5), 4, (0,) * 4, 4)


def test_a_slice_begins_behind_the_first_element():
    """Elements 3, 5, 7 and 9, two on each shard."""
    assert Window(low=-3, stride=2).reach(4, 2) == Reach((3, 7), 3, (0, 0), 3)


def test_holes_between_elements_are_counted_from_the_first_place():
    """Places 0 to 2 and 3 to 5 of `a . b . c .`: the second shard begins with a hole."""
    assert Window(dilation=2).reach(6, 2) == Reach((0, 2), 2, (0, 1), 3)


def covered(window: Window, count: int, pieces: int, shard: int) -> list[int]:
    """The elements under all windows of a shard, one place after the other."""
    shard_size = -(-count // pieces)
    begin = shard * shard_size * window.stride - window.low
    places = range(begin, begin + (shard_size - 1) * window.stride + window.size)
    return [place // window.dilation for place in places if place % window.dilation == 0]


@pytest.mark.parametrize("pieces", [1, 2, 3, 4])
def test_reach_is_what_windows_cover(pieces):
    ranges = range(1, 8), range(-3, 4), (1, 2, 3), (1, 2, 4), (1, 2, 3)
    for count, low, stride, size, dilation in itertools.product(*ranges):
        window = Window(low, stride, size, dilation)
        reach = window.reach(count, pieces)
        lengths = set()
        for shard, (start, phase) in enumerate(zip(reach.starts, reach.phases, strict=True)):
            elements = covered(window, count, pieces, shard)
            lengths.add(len(elements))
            assert elements == list(range(start, start + len(elements)))
            first_place = shard * -(-count // pieces) * stride - low
            assert start * dilation == first_place + phase
            assert 0 <= phase < dilation
        assert reach.length == max(1, *lengths)


def test_windows_that_reach_into_a_shard():
    windows = WindowsInto(Window(stride=2, size=3), count=7, size=16, pieces=4)
    assert windows.firsts == (-1, 1, 3, 5)
    assert windows.length == 3
    assert windows.starts == (-2, 2, 6, 10)
    assert windows.extent == 7


@pytest.mark.parametrize("pieces", [1, 2, 3, 4])
def test_all_windows_that_reach_into_a_shard_are_there(pieces):
    ranges = range(3, 12), range(3), (1, 2, 3), (1, 2, 3)
    for size, low, stride, length in itertools.product(*ranges):
        window = Window(low, stride, length)
        count = (size + low - length) // stride + 1
        windows = WindowsInto(window, count, size, pieces)
        for shard, first in enumerate(windows.firsts):
            elements = range(shard * windows.shard_size, (shard + 1) * windows.shard_size)
            reaching = [
                index
                for index in range(-size, 2 * size)
                if set(range(index * stride - low, index * stride - low + length)) & set(elements)
            ]
            if reaching:
                assert first == reaching[0]
                assert first + windows.length > reaching[-1]
