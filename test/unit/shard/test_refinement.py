# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes as grids, and how dimensions are cut."""

import pytest

from mlir_sdy.model import AxisRef, Mesh, ModelError
from mlir_sdy.shard.values import Grid, GridSharding
from pyshardy.shard.refinement import coarsen, offsets_rounded_up, refine, uneven_dim, with_offsets

MESH = Mesh.of({"x": 8, "y": 3})
SUB = AxisRef.sub


def test_an_axis_is_cut_where_parts_of_it_begin_and_end():
    refinement = refine(Mesh.of({"x": 8, "y": 2}), [SUB("x", 1, 2)])
    assert refinement.parts == (SUB("x", 1, 2), SUB("x", 2, 4), AxisRef("y"))
    assert refinement.grid == Grid((2, 4, 2))
    assert refinement.names == ("x", "x", "y")


def test_axes_become_all_their_parts():
    refinement = refine(MESH, [SUB("x", 2, 2)])
    assert refinement.grid == Grid((2, 2, 2, 3))
    assert refinement.grid_axes([AxisRef("y"), AxisRef("x")]) == (3, 0, 1, 2)
    assert refinement.mesh_axes((3, 0, 1, 2)) == (AxisRef("y"), AxisRef("x"))
    assert refinement.mesh_axes((0, 1)) == (SUB("x", 1, 4),)
    assert refinement.mesh_axes((1, 0)) == (SUB("x", 2, 2), SUB("x", 1, 2))


def test_parts_that_no_grid_has():
    with pytest.raises(ModelError, match=r'split "x" at 2 and at 3'):
        refine(Mesh.of({"x": 6}), [SUB("x", 1, 2), SUB("x", 1, 3)])


def test_back_to_the_mesh():
    assert coarsen(Grid((2, 4, 3)), ["x", "x", "y"]) == refine(MESH, [SUB("x", 1, 2)])
    assert coarsen(Grid((2, 3)), ["a", "b"]).mesh == Mesh.of({"a": 2, "b": 3})
    with pytest.raises(ModelError, match="duplicate axis name"):
        coarsen(Grid((2, 3, 4)), ["x", "y", "x"])


def test_offsets_as_shardy_cuts():
    assert offsets_rounded_up(7, 3) == (0, 3, 6, 7)
    assert offsets_rounded_up(2, 4) == (0, 1, 2, 2, 2)
    assert offsets_rounded_up(8, 4) == (0, 2, 4, 6, 8)


@pytest.mark.parametrize(
    ("sharding", "dim"),
    [
        (GridSharding("g", ((0,), (1,))), 1),
        (GridSharding("g", ((0,), ())), None),
        (GridSharding("g", ((0,), (1,)), (), (0, 4, 8, 0, 3, 6, 7)), None),
        (GridSharding("g", ((0,), (1,)), (), (0, 3, 8, 0, 3, 6, 7)), 0),
        (GridSharding("g", ((0,), (1,)), (), (0, 4, 8, 0, 2, 4, 7)), 1),
    ],
)
def test_dimensions_that_shardy_would_cut_otherwise(sharding, dim):
    assert uneven_dim(sharding, (8, 7), Grid((2, 3))) == dim


def test_offsets_are_added_where_they_are_needed():
    grid = Grid((2, 3))
    even = GridSharding("g", ((0,), ()))
    assert with_offsets(even, (8, 7), grid) == even
    uneven = with_offsets(GridSharding("g", ((0,), (1,))), (8, 7), grid)
    assert uneven == GridSharding("g", ((0,), (1,)), (), (0, 4, 8, 0, 3, 6, 7))
    assert with_offsets(GridSharding("g", ((0, 1),)), (8, 7), grid) is None
