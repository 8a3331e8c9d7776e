# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mesh of whole axes that JAX gets for parts of axes, and for several meshes."""

import math
import random

import pytest

from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, TensorSharding, device_slices
from pyshardy.forms import sharding
from pyshardy.frontends.jax.meshes import RefinedMesh, RefinementError

XY = Mesh.of({"x": 8, "y": 2})


def test_an_axis_is_cut_where_a_sharding_ends():
    grid = RefinedMesh.of(XY, [(sharding('<@mesh, [{"x":(2)2}]>'), XY)])
    assert grid.mesh == Mesh.of({"x:(1)2": 2, "x:(2)2": 2, "x:(4)2": 2, "y": 2})


def test_whole_axes_stay():
    both = sharding('<@mesh, [{"y", "x"}, {}]>')
    grid = RefinedMesh.of(XY, [(both, XY), (None, XY)])
    assert grid.mesh == XY
    assert grid.axes_of(both, XY) == (("y", "x"), ())


def test_an_axis_of_size_one_stays_where_it_is_named():
    mesh = Mesh.of({"one": 1, "x": 2})
    named = sharding('<@mesh, [{"one"}, {"x"}]>')
    grid = RefinedMesh.of(mesh, [(named, mesh)])
    assert grid.mesh == mesh
    assert grid.axes_of(named, mesh) == (("one",), ("x",))


def test_axes_of_another_mesh_are_found():
    other = Mesh.of({"a": 4, "b": 4})
    along = sharding('<@other, [{"b"}, {"a"}]>')
    grid = RefinedMesh.of(XY, [(along, other)])
    assert grid.mesh == Mesh.of({"x:(1)4": 4, "x:(4)2": 2, "y": 2})
    assert grid.axes_of(along, other) == (("x:(4)2", "y"), ("x:(1)4",))


def test_another_order_of_devices_is_refused():
    other = Mesh.of({"a": 4}, [3, 2, 1, 0])
    mesh = Mesh.of({"x": 4})
    with pytest.raises(RefinementError, match="has the device order of"):
        RefinedMesh.of(mesh, [(sharding('<@other, [{"a"}]>'), other)])
    RefinedMesh.of(mesh, [(sharding("<@other, [{}]>"), other)])  # along no axes any order will do


def test_cuts_that_do_not_divide_each_other_are_refused():
    mesh = Mesh.of({"x": 6})
    halves, thirds = sharding('<@mesh, [{"x":(1)2}]>'), sharding('<@mesh, [{"x":(1)3}]>')
    with pytest.raises(RefinementError, match="cannot be split at"):
        RefinedMesh.of(mesh, [(halves, mesh), (thirds, mesh)])


@pytest.mark.parametrize("seed", range(50))
def test_the_grid_places_shards_as_the_shardings_do(seed):
    draw = random.Random(seed)
    mesh = Mesh.of({"x": draw.choice((2, 4, 12)), "one": 1, "y": draw.choice((2, 3, 8))})
    if draw.random() < 0.5:
        mesh = Mesh(mesh.axes, tuple(draw.sample(range(mesh.total_size), mesh.total_size)))
    drawn = [random_sharding(draw, mesh) for _ in range(2)]
    try:
        grid = RefinedMesh.of(mesh, [(one, mesh) for one in drawn])
    except RefinementError:
        assert drawn[0] != drawn[1]
        return
    for one in drawn:
        names = grid.axes_of(one, mesh)
        whole = TensorSharding.from_axes("grid", [tuple(map(AxisRef, dim)) for dim in names])
        shape = (math.prod(axis.size for axis in mesh.axes),) * 2
        assert device_slices(whole, grid.mesh, shape) == device_slices(one, mesh, shape)


def random_sharding(draw, mesh):
    """A sharding of two dimensions along some axes, or parts of them."""
    refs = []
    for axis in mesh.axes:
        pre = draw.choice([p for p in range(1, axis.size + 1) if axis.size % p == 0])
        rest = axis.size // pre
        size = draw.choice([s for s in range(1, rest + 1) if rest % s == 0])
        whole = size in (1, axis.size)
        refs.append(AxisRef(axis.name) if whole else AxisRef.sub(axis.name, pre, size))
    draw.shuffle(refs)
    cut = draw.randint(0, len(refs))
    dims = [tuple(refs[:cut]), tuple(refs[cut:])]
    return TensorSharding("mesh", tuple(DimensionSharding(axes) for axes in dims))
