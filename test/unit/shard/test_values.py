# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grids and shardings as plain values."""

import itertools

import numpy as np
import pytest

from mlir_sdy.shard.values import DYNAMIC, Grid, GridSharding, ReductionKind


def test_linear_index():
    grid = Grid((10, 20, 30))
    assert grid.linear_index((1, 2, 3)) == 663
    assert grid.coordinates(663) == (1, 2, 3)
    assert [grid.coordinates(device) for device in range(grid.size)] == list(np.ndindex(10, 20, 30))


@pytest.mark.parametrize(
    ("axes", "groups"),
    [
        ((), ((0,), (1,), (2,), (3,), (4,), (5,))),
        ((0,), ((0, 3), (1, 4), (2, 5))),
        ((1,), ((0, 1, 2), (3, 4, 5))),
        ((0, 1), ((0, 1, 2, 3, 4, 5),)),
        ((1, 0), ((0, 3, 1, 4, 2, 5),)),
    ],
)
def test_groups(axes, groups):
    grid = Grid((2, 3))
    assert grid.groups(axes) == groups
    for group in groups:
        places = [grid.index_in_group(grid.coordinates(device), axes) for device in group]
        assert places == list(range(len(group)))


def test_neighbors():
    grid = Grid((10, 20, 30))
    assert grid.neighbors((1, 2, 3), (1,)) == (633, 693)
    assert grid.neighbors((1, 0, 3), (1,)) == (-1, grid.linear_index((1, 1, 3)))
    assert grid.neighbors((1, 19, 3), (1,)) == (grid.linear_index((1, 18, 3)), -1)
    # Along two axes, the first of which is slower: behind (1, 2) comes (2, 0).
    assert Grid((3, 3)).neighbors((1, 2), (0, 1)) == (4, 6)


@pytest.mark.parametrize(
    ("offset", "rotate", "pairs"),
    [
        (1, False, ((0, 1), (1, 2), (2, 3))),
        (1, True, ((0, 1), (1, 2), (2, 3), (3, 0))),
        (-2, False, ((2, 0), (3, 1))),
        (6, True, ((0, 2), (1, 3), (2, 0), (3, 1))),
        (4, False, ()),
    ],
)
def test_shifts(offset, rotate, pairs):
    assert Grid((4,)).shift_pairs(0, offset, rotate=rotate) == pairs


def test_shift_along_one_axis_of_two():
    assert Grid((2, 2)).shift_pairs(0, 1, rotate=False) == ((0, 2), (1, 3))


@pytest.mark.parametrize(
    ("sharding", "shapes"),
    [
        (GridSharding("g", ((0,),)), [(2, 5), (2, 5), (3, 5)]),
        (GridSharding("g", ((), (0,)), (1, 2)), [(7, 4), (7, 5), (7, 5)]),
        (GridSharding("g", ((0,),), (), (0, 3, 6, 7)), [(3, 5), (3, 5), (1, 5)]),
        (GridSharding("g", ((),)), [(7, 5)] * 3),
    ],
)
def test_local_shapes(sharding, shapes):
    grid = Grid((3,))
    assert [sharding.local_shape((7, 5), grid, (at,)) for at in range(3)] == shapes


def test_offsets_of_several_dimensions():
    grid = Grid((2, 2))
    sharding = GridSharding("g", ((0,), (1,)), (), (0, 24, 32, 0, 20, 32))
    assert sharding.offsets(grid) == {0: (0, 24, 32), 1: (0, 20, 32)}
    shapes = [
        sharding.local_shape((32, 32, 32), grid, at) for at in itertools.product(*[(0, 1)] * 2)
    ]
    assert shapes == [(24, 20, 32), (24, 12, 32), (8, 20, 32), (8, 12, 32)]


def test_texts():
    assert str(Grid((2, DYNAMIC, 4))) == "2x?x4"
    assert str(GridSharding("g", ((0, 1), ()), (1, DYNAMIC))) == (
        "@g split_axes = [[0, 1], []] halo_sizes = [1, ?]"
    )
    assert ReductionKind.BITWISE_AND.keyword == "bitwise_and"
