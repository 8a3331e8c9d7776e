# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grids found from groups of devices."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_sdy.shard.values import Grid
from pyshardy.shard.refinement import Digit, axes_apart, axes_of_digits, digits_of, grid_for


@pytest.mark.parametrize(
    ("group", "digits"),
    [
        ((0, 1, 2, 3), (Digit(4, 1),)),
        ((0, 4), (Digit(2, 4),)),
        ((0, 3, 1, 4, 2, 5), (Digit(3, 1), Digit(2, 3))),
        ((7,), ()),
        ((3, 1), None),
        ((0, 1, 3), None),
        ((0, 1, 4, 6), None),
    ],
)
def test_digits(group, digits):
    assert digits_of(group) == digits


def test_grids():
    assert grid_for([Digit(2, 4), Digit(2, 1)], 8) == Grid((2, 2, 2))
    assert grid_for([], 8) == Grid((8,))
    assert grid_for([], 1) == Grid((1,))
    assert grid_for([Digit(2, 1), Digit(3, 1)], 6) is None


@st.composite
def groupings(draw):
    """A grid without axes of size 1, and some lists of its axes."""
    shape = tuple(draw(st.lists(st.integers(2, 4), min_size=1, max_size=3)))
    orders = [
        axes
        for count in range(len(shape) + 1)
        for axes in itertools.permutations(range(len(shape)), count)
    ]
    return Grid(shape), draw(st.lists(st.sampled_from(orders), min_size=1, max_size=4))


@given(groupings())
def test_groups_are_found_again(case):
    grid, lists = case
    digits = [digits_of(grid.groups(axes)[0]) for axes in lists]
    found = grid_for([digit for each in digits for digit in each], grid.size)
    assert found is not None
    assert found.size == grid.size
    for axes, each in zip(lists, digits, strict=True):
        assert sorted(found.groups(axes_of_digits(each, found))) == sorted(grid.groups(axes))


def test_axes_between_devices():
    assert axes_apart([(0, 1), (2, 3)], Grid((2, 2))) == (1,)
    assert axes_apart([(0, 3)], Grid((2, 2))) == (0, 1)
    assert axes_apart([(2, 2)], Grid((2, 2))) == ()
