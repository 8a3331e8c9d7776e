# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes and shardings made from others by hand: axes added and removed, dimensions closed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import dim, mesh_of_sizes, meshes, ref, refs, sharding, shardings

from mlir_sdy import model
from mlir_sdy.model import AxisRef, DimensionSharding, Mesh, ModelError, ReductionOp, TensorSharding

FULL = TensorSharding("m", (dim("x y", 2), dim("?", 1)), refs("z"), refs("w"), ReductionOp.MAX)
REST = 'replicated={"z"}, unreduced=max{"w"}>'
MESH = mesh_of_sizes(u=2, w=2, x=2, y=2, z=2)


# --- Meshes -----------------------------------------------------------------------------------


def test_mesh_of_sizes():
    assert str(Mesh.of({"x": 4, "y": 2})) == '<["x"=4, "y"=2]>'
    assert str(Mesh.of({"x": 2}, device_ids=[1, 0])) == '<["x"=2], device_ids=[1, 0]>'
    assert Mesh.of({}, [7]).is_maximal
    assert Mesh.of({}).is_empty


def test_refs_from_a_mesh():
    mesh = mesh_of_sizes(x=8, y=6)
    assert mesh.axis("y") == ref("y")
    assert mesh.sub_axis("x", 2, 2) == ref("x:(2)2")


@pytest.mark.parametrize(
    ("name", "pre_size", "size", "reason"),
    [
        ("z", 1, 2, 'unknown axis name: "z"; the mesh has the axes "x", "y"'),
        ("x", 0, 2, "pre-size .* at least 1"),
        ("x", -2, -2, "pre-size .* at least 1"),
        ("x", 2, 1, "size .* at least 2"),
        ("y", 2, 2, 'its size is 4, the size of "y" is 6'),
        ("x", 8, 2, 'its size is 16, the size of "x" is 8'),
        ("x", 1, 8, 'is the full axis: write "x"'),
    ],
)
def test_no_such_part(name, pre_size, size, reason):
    with pytest.raises(ModelError, match=reason):
        mesh_of_sizes(x=8, y=6).sub_axis(name, pre_size, size)


def test_unknown_axes_are_answered_with_the_known_ones():
    with pytest.raises(ModelError, match=r'"z"; the mesh has the axes "x", "y"\Z'):
        mesh_of_sizes(x=2, y=2).axis("z")
    with pytest.raises(ModelError, match="the mesh has no axes"):
        Mesh().axis("x")


# --- Shardings --------------------------------------------------------------------------------


def test_open_and_close():
    assert str(FULL.open()) == '<@m, [{"x", "y", ?}p2, {?}p1], ' + REST
    assert str(FULL.open(0)) == '<@m, [{"x", "y", ?}p2, {?}p1], ' + REST
    assert str(FULL.close()) == '<@m, [{"x", "y"}p2, {}p1], ' + REST
    assert str(FULL.close(1)) == '<@m, [{"x", "y"}p2, {}p1], ' + REST
    assert sharding("?", "?", "?").close(0, 2) == sharding("", "?", "")
    assert sharding().open() == sharding()


def test_add_an_axis():
    assert str(FULL.with_axis(1, "u")) == '<@m, [{"x", "y"}p2, {"u", ?}p1], ' + REST
    assert str(FULL.with_axis(1, ref("u:(2)2"))) == '<@m, [{"x", "y"}p2, {"u":(2)2, ?}p1], ' + REST
    assert FULL.with_axis(0, "u", force=True).dim_shardings[0] == dim("x y u", 2)
    assert sharding("x:(1)2 ?", "?").with_axis(1, ref("x:(2)2")) == sharding("x:(1)2 ?", "x:(2)2 ?")


@pytest.mark.parametrize(
    ("value", "dimension", "axis", "reason"),
    [
        (FULL, 0, "u", "dimension 0 of .* is closed; open it, or pass force=True"),
        (FULL, 2, "u", "has no dimension 2: its rank is 2"),
        (FULL, -1, "u", "has no dimension -1"),
        (FULL, 1, "x", 'axis "x" is already used in <@m'),
        (FULL, 1, "z", 'axis "z" is already used in'),
        (FULL, 1, "w", 'axis "w" is already used in'),
        (FULL, 1, ref("x:(1)2"), r'sub-axis "x":\(1\)2 is already used as "x" in'),
        (sharding("x:(1)2", "?"), 1, "x", r'axis "x" is already used as "x":\(1\)2 in'),
        (sharding("x:(1)2", "?"), 1, ref("x:(3)2"), r"cannot both be used in"),
        (sharding("x:(1)2 ?"), 0, ref("x:(2)2"), r'directly follows "x":\(1\)2: merge them'),
    ],
)
def test_axes_that_do_not_fit(value, dimension, axis, reason):
    with pytest.raises(ModelError, match=reason):
        value.with_axis(dimension, axis)


def test_remove_an_axis():
    assert str(FULL.without_axis("y")) == '<@m, [{"x"}p2, {?}p1], ' + REST
    assert str(FULL.without_axis("z")) == '<@m, [{"x", "y"}p2, {?}p1], unreduced=max{"w"}>'
    assert str(FULL.without_axis("w")) == '<@m, [{"x", "y"}p2, {?}p1], replicated={"z"}>'
    assert FULL.without_axis("u") == FULL
    parts = sharding("x:(1)2", "y x:(4)2", replicated_axes=refs("x:(2)2"))
    assert parts.without_axis("x") == sharding("", "y")
    assert parts.without_axis(ref("x:(4)2")).dim_axes == (refs("x:(1)2"), refs("y"))
    with pytest.raises(ModelError, match=r'cannot remove "y":\(1\)2 from "y"'):
        parts.without_axis(ref("y:(1)2"))


def test_replicate_on_an_axis():
    assert FULL.replicated_on("u", MESH).replicated_axes == refs("u z")
    for name in "xzw":
        with pytest.raises(ModelError, match=f'axis "{name}" is already used'):
            FULL.replicated_on(name, MESH)


def test_replicated_parts_are_merged():
    mesh = mesh_of_sizes(x=8)
    value = sharding("x:(4)2").replicated_on(ref("x:(2)2"), mesh)
    assert value.replicated_on(ref("x:(1)2"), mesh).replicated_axes == refs("x:(1)4")


@given(st.data())
def test_an_axis_added_can_be_removed(data):
    mesh = data.draw(meshes())
    value = data.draw(shardings(mesh))
    free = [name for name in mesh.axis_names if value.can_replicate(name)]
    for name in free:
        extended = value.with_axis(0, name, force=True)
        assert extended.is_axis_bound(name)
        assert extended.without_axis(name) == value
        assert value.replicated_on(name, mesh).without_axis(name) == value


# --- In a REPL --------------------------------------------------------------------------------


def test_values_show_their_text():
    assert repr(sharding("x", "?")) == 'TensorSharding(<@m, [{"x"}, {?}]>)'
    assert repr(mesh_of_sizes(x=4)) == 'Mesh(<["x"=4]>)'
    assert repr(AxisRef.sub("x", 1, 2)) == 'AxisRef("x":(1)2)'
    assert repr(DimensionSharding((AxisRef("x"),), priority=1)) == 'DimensionSharding({"x", ?}p1)'
    assert repr(model.ManualAxes(("x",))) == 'ManualAxes({"x"})'
    assert repr([model.AllToAllParam(refs("x"), 0, 1)]) == '[AllToAllParam({"x"}: 0->1)]'
