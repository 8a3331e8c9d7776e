# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings: questions, builders, shapes, equivalence, common mesh, manual axes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import dim, mesh_of_sizes, meshes, refs, sharding, shardings

from mlir_sdy.model import (
    Mesh,
    MeshAxis,
    ReductionOp,
    TensorSharding,
    TensorShardingPerValue,
    add_free_axes,
    are_equivalent,
    are_equivalent_if_given,
    common_mesh,
    complete_shardings,
    count_manual_axes,
    erase_free_axes,
    erase_manual_axes,
    mesh_of,
)

FULL = TensorSharding("m", (dim("x y", 2), dim("?", 1)), refs("z"), refs("w"), ReductionOp.MAX)


# --- Dimensions -----------------------------------------------------------------------------


def test_dimension_builders():
    assert dim("x ?", 3).closed() == dim("x", 3)
    assert dim("x", 3).opened() == dim("x ?", 3)
    assert dim("x", 3).with_axes(refs("y")) == dim("y", 3)
    assert [d.effective_priority for d in (dim("?"), dim("?", 0), dim("?", 4))] == [0, 0, 4]
    assert dim("?") != dim("?", 0)
    assert dim("x, y:(2)2").sharded_size(mesh_of_sizes(x=3, y=8)) == 6
    assert dim("").sharded_size(Mesh()) == 1


# --- Questions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "closed", "replicated", "replicated_and_open", "no_axes"),
    [
        (sharding(), True, True, True, True),
        (sharding("", ""), True, True, False, True),
        (sharding("?", "?"), False, True, True, True),
        (sharding("?", ""), False, True, False, True),
        (sharding("x", ""), True, False, False, False),
        (sharding("?", replicated_axes=refs("x")), False, True, True, False),
        (sharding("?", unreduced_axes=refs("x")), False, True, True, False),
    ],
    ids=str,
)
def test_predicates(value, closed, replicated, replicated_and_open, no_axes):
    assert value.is_fully_closed == closed
    assert value.is_fully_replicated == replicated
    assert value.is_fully_replicated_and_open == replicated_and_open
    assert value.has_no_axes == no_axes


def test_which_axes_are_free():
    value = sharding("x:(1)2 ?", "", replicated_axes=refs("y"), unreduced_axes=refs("z"))
    assert [name for name in "xyzw" if value.is_axis_bound(name)] == ["x", "y", "z"]
    assert [value.can_shard(d, name) for d in (0, 1) for name in "xw"] == [
        False,
        True,
        False,
        False,
    ]
    assert [name for name in "xyzw" if value.can_replicate(name)] == ["w"]
    assert list(value.all_axes()) == [*refs("x:(1)2"), *refs("y"), *refs("z")]


def test_ordered_refs_ignore_replicated_axes():
    mesh = mesh_of_sizes(x=8, y=8, z=8)
    value = sharding("x:(2)2", replicated_axes=refs("y:(1)2"), unreduced_axes=refs("z:(1)2"))
    assert value.ordered_refs(mesh) == refs("x:(1)2, x:(2)2, x:(4)2, y, z:(1)2, z:(2)4")


# --- Builders -------------------------------------------------------------------------------


def test_builders():
    assert TensorSharding.fully_open(2, "m") == sharding("?", "?")
    assert TensorSharding.fully_closed(2, "m") == sharding("", "")
    assert FULL.fully_open_like() == sharding("?", "?")
    assert FULL.fully_closed_like() == sharding("", "")
    assert TensorSharding.from_axes("m", [refs("x"), ()], refs("y")) == sharding(
        "x", "", unreduced_axes=refs("y")
    )
    assert str(FULL.closed_like()) == '<@m, [{"x", "y"}p2, {}p1], unreduced=max{"w"}>'
    assert (
        str(FULL.with_dim(1, dim("u")))
        == '<@m, [{"x", "y"}p2, {"u"}], replicated={"z"}, unreduced=max{"w"}>'
    )
    assert FULL.with_replicated_axes(refs("v")).replicated_axes == refs("v")
    assert FULL.with_unreduced_axes(refs("v")).reduction_kind is ReductionOp.MAX
    assert FULL.with_mesh("n").with_mesh("m") == FULL


def test_the_kind_of_no_reduction_is_sum():
    assert FULL.with_unreduced_axes(()) == TensorSharding("m", FULL.dim_shardings, refs("z"))


def test_per_value_builders():
    assert str(TensorShardingPerValue.fully_open([1, 0], "m")) == "<[<@m, [{?}]>, <@m, []>]>"
    assert str(TensorShardingPerValue.fully_closed([2], "m")) == "<[<@m, [{}, {}]>]>"


# --- Shapes ---------------------------------------------------------------------------------


def test_local_and_global_shapes():
    mesh = mesh_of_sizes(x=4, y=3)
    value = sharding("x", "y", "")
    dynamic = -(2**63)
    assert value.local_shape((10, 7, dynamic), mesh) == (3, 3, dynamic)
    assert value.global_shape((3, 3, dynamic), mesh) == (12, 9, dynamic)
    assert sharding("", "x").local_shape((2, dynamic), mesh) == (2, dynamic)
    assert sharding().local_shape((10, 7), Mesh((), (3,))) == (10, 7)
    assert sharding().global_shape((10, 7), Mesh((), (3,))) == (10, 7)
    assert sharding("x").local_shape((0,), mesh) == (0,)


def test_divisibility():
    mesh = mesh_of_sizes(x=4, y=3)
    assert sharding("x", "y").divides((8, 9), mesh)
    assert not sharding("x", "y").divides((8, 7), mesh)
    assert sharding("x", "y").divides((-1, 9), mesh)
    assert sharding().divides((7,), mesh)


@given(st.data())
def test_the_global_shape_of_the_local_one_is_the_padded_shape(data: st.DataObject):
    mesh = data.draw(meshes())
    value = data.draw(shardings(mesh))
    shape = tuple(data.draw(st.integers(0, 30)) for _ in range(value.rank))
    padded = value.global_shape(value.local_shape(shape, mesh), mesh)
    for size, padded_size, pieces in zip(shape, padded, value.sharded_sizes(mesh), strict=True):
        assert size <= padded_size < size + pieces
        assert padded_size % pieces == 0
    assert (padded == shape) == value.divides(shape, mesh)


# --- Equivalence ----------------------------------------------------------------------------

REDUCED = sharding("", unreduced_axes=refs("w"))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (None, None, True),
        (None, sharding("?", replicated_axes=refs("x")), True),
        (sharding("", mesh="n"), sharding("?", "?"), True),
        (None, sharding("x"), False),
        (sharding("x"), None, False),
        (sharding("x"), sharding("x ?", replicated_axes=refs("y")), True),
        (sharding("x"), sharding("y"), False),
        (sharding("x"), sharding("x", ""), False),
        (sharding("x"), sharding("x", mesh="n"), False),
        (sharding("x"), sharding("x", mesh=mesh_of_sizes(x=2)), False),
        (None, REDUCED, False),
        (REDUCED, None, False),
        (REDUCED, sharding("", unreduced_axes=refs("v")), False),
        (REDUCED, TensorSharding("m", (dim(""),), (), refs("w"), ReductionOp.MAX), True),
    ],
)
def test_equivalence(first, second, expected: bool):
    assert are_equivalent(first, second) == expected


def test_equivalence_that_ignores_unreduced_axes():
    partial = sharding("x", unreduced_axes=refs("w"))
    assert not are_equivalent(partial, sharding("x"))
    assert are_equivalent(partial, sharding("x"), ignore_unreduced=True)
    assert are_equivalent(None, REDUCED, ignore_unreduced=True)
    assert not are_equivalent(None, REDUCED)
    assert are_equivalent_if_given(None, REDUCED)
    assert not are_equivalent_if_given(REDUCED, None)
    assert are_equivalent_if_given(None, None)
    assert not are_equivalent_if_given(None, sharding("x"))
    assert are_equivalent_if_given(partial, sharding("x"), ignore_unreduced=True)


# --- Meshes of shardings --------------------------------------------------------------------

MESHES = {
    "a": mesh_of_sizes(x=2),
    "same": mesh_of_sizes(x=2),
    "swapped": Mesh((MeshAxis("x", 2),), (1, 0)),
    "other": mesh_of_sizes(y=2),
    "empty": Mesh(),
    "maximal": Mesh((), (0,)),
}


@pytest.mark.parametrize(
    ("names", "expected", "expected_ignoring_ids"),
    [
        ("", None, None),
        ("a", "a", "a"),
        ("a same", "a", "a"),
        ("same a", "same", "same"),
        ("a other", None, None),
        ("a swapped", None, "a"),
        ("swapped a", None, "a"),
        ("empty a empty", "a", "a"),
        ("empty", "empty", "empty"),
        ("a maximal", None, None),
        ("a missing", None, None),
    ],
)
def test_common_mesh(names: str, expected, expected_ignoring_ids):
    values = [None, *(sharding(mesh=name) for name in names.split()), None]
    assert common_mesh(values, MESHES) == expected
    assert common_mesh(values, MESHES, ignore_device_ids=True) == expected_ignoring_ids


def test_common_mesh_with_an_inlined_one():
    inlined = sharding(mesh=MESHES["a"])
    assert mesh_of(inlined, {}) == MESHES["a"]
    assert mesh_of(sharding(mesh="a"), MESHES) is MESHES["a"]
    assert mesh_of(sharding(mesh="missing"), MESHES) is None
    assert common_mesh([inlined, sharding(mesh="same")], MESHES) == MESHES["a"]
    assert common_mesh([sharding(mesh="same"), inlined], MESHES) == "same"


def test_complete_shardings():
    on_a, on_one = sharding("x", mesh="a"), sharding(mesh="maximal")
    expected = (sharding("?", mesh="a"), on_one, on_a, sharding(mesh="a"))
    assert complete_shardings([None, on_one, on_a, None], [1, 2, 1, 0], MESHES) == expected
    assert complete_shardings([None, on_one], [1, 2], MESHES) is None
    assert complete_shardings([], [], MESHES) is None


# --- Manual axes ----------------------------------------------------------------------------


def test_erase_manual_axes():
    value = sharding("x y", replicated_axes=refs("z"))
    assert erase_manual_axes(value, ("x", "z")) == sharding("y")
    assert erase_manual_axes(value, ()) is value
    kept = erase_manual_axes(FULL, ("x", "w"))
    assert str(kept) == '<@m, [{"y"}p2, {?}p1], replicated={"z"}>'
    assert count_manual_axes(dim("x:(1)2, y, x:(2)2"), {"x"}) == 1


def test_erase_free_axes():
    value = sharding("x:(1)2 y ?", "y", replicated_axes=refs("v w"), unreduced_axes=refs("z"))
    expected = sharding("x:(1)2 ?", "", replicated_axes=refs("w"), unreduced_axes=refs("z"))
    assert erase_free_axes(value, {"x", "v"}) == expected


def test_add_free_axes():
    outer = TensorSharding("m", (dim("x y", 1),), refs("z"), refs("v"), ReductionOp.MIN)
    inner = TensorSharding("n", (dim("w ?", 2),), refs("u"))
    expected = TensorSharding("n", (dim("x w ?", 2),), refs("z"), refs("v"), ReductionOp.MIN)
    assert add_free_axes(outer, inner, {"x"}) == expected


@given(st.data())
def test_adding_what_was_free_gives_the_whole_again(data: st.DataObject):
    mesh = data.draw(meshes())
    value = data.draw(shardings(mesh))
    manual = tuple(name for name in mesh.axis_names if data.draw(st.booleans()))
    assert add_free_axes(value, erase_manual_axes(value, manual), manual) == value
