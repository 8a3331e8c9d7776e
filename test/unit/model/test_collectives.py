# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What collectives make of axes: worked examples, and laws that hold for any axes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import mesh_of_sizes, meshes, refs, sharding, shardings

from mlir_sdy.model import (
    AllToAllParam,
    AllToAllParamList,
    ModelError,
    ReductionOp,
    device_slices,
)
from mlir_sdy.model.collectives import (
    add_unreduced_axes,
    all_to_all_axes,
    check_unreduced_transition,
    gather_axes,
    slice_axes,
)

MESH = mesh_of_sizes(u=8, v=2, w=2)


@pytest.mark.parametrize(
    ("axes", "gathered", "left"),
    [
        ("v u", "u:(2)4", "v u:(1)2"),
        ("w", "", "w"),
        ("v u", "v u", ""),
        ("v u", "u", "v"),
        ("u:(2)4", "u:(4)2", "u:(2)2"),
        ("v u", "u:(2)2 u:(4)2", "v u:(1)2"),
    ],
)
def test_gather(axes, gathered, left):
    assert gather_axes(refs(axes), refs(gathered), MESH) == refs(left)


@pytest.mark.parametrize(
    ("axes", "gathered"),
    [("v u", "v"), ("u", "u:(1)2"), ("u", "u:(2)2"), ("u:(2)4", "u"), ("", "u"), ("v", "u v")],
)
def test_only_suffixes_are_gathered(axes, gathered):
    with pytest.raises(ModelError, match="cannot be gathered"):
        gather_axes(refs(axes), refs(gathered), MESH)


@pytest.mark.parametrize(
    ("axes", "sliced", "result"),
    [
        ("u:(1)2", "u:(2)4 w", "u w"),
        ("", "v", "v"),
        ("u:(4)2", "u:(1)4", "u:(4)2 u:(1)4"),
        ("u:(1)2", "u:(2)2", "u:(1)4"),
        ("u:(1)2", "v u:(2)4", "u:(1)2 v u:(2)4"),
    ],
)
def test_slice(axes, sliced, result):
    assert slice_axes(refs(axes), refs(sliced), MESH) == refs(result)


@given(data=st.data())
def test_gathering_undoes_slicing(data):
    mesh = data.draw(meshes(permuted=False))
    axes = data.draw(shardings(mesh, max_rank=1)).dim_axes[0]
    cut = data.draw(st.integers(0, len(axes)))
    assert gather_axes(axes, axes[cut:], mesh) == axes[:cut]
    assert slice_axes(axes[:cut], axes[cut:], mesh) == axes


@given(data=st.data())
def test_gathering_makes_pieces_grow_in_place(data):
    """A device's data after gathering includes that before."""
    mesh = data.draw(meshes())
    before = data.draw(shardings(mesh, max_rank=1))
    axes = before.dim_axes[0]
    cut = data.draw(st.integers(0, len(axes)))
    after = before.with_dim(
        0, before.dim_shardings[0].with_axes(gather_axes(axes, axes[cut:], mesh))
    )
    size = mesh.total_size
    small, large = (device_slices(value, mesh, (size,)) for value in (before, after))
    for device in range(size):
        (inner,), (outer,) = small[device], large[device]
        assert outer.start <= inner.start <= inner.stop <= outer.stop


def test_all_to_all():
    before = (refs("v u"), (), refs("w"))
    moves = AllToAllParamList((AllToAllParam(refs("u:(4)2"), 0, 1),))
    assert all_to_all_axes(before, moves, MESH) == (refs("v u:(1)4"), refs("u:(4)2"), refs("w"))


def test_all_to_all_with_several_moves():
    before = (refs("u"), refs("u"), refs("v"), refs("w"))
    moves = AllToAllParamList((AllToAllParam(refs("u"), 0, 3), AllToAllParam(refs("v"), 2, 1)))
    assert all_to_all_axes(before, moves, MESH) == ((), refs("u v"), (), refs("w u"))


def test_all_to_all_needs_a_suffix():
    moves = AllToAllParamList((AllToAllParam(refs("v"), 0, 1),))
    with pytest.raises(ModelError, match="cannot be gathered"):
        all_to_all_axes((refs("v u"), ()), moves, MESH)


@pytest.mark.parametrize(
    ("unreduced", "added", "result"),
    [
        ("v", "u:(2)4", "u:(2)4 v"),
        ("u:(4)2", "u:(1)4 v", "u v"),
        ("", "w v", "v w"),
        ("u", "", "u"),
    ],
)
def test_unreduced_axes_are_sorted_and_merged(unreduced, added, result):
    assert add_unreduced_axes(refs(unreduced), refs(added), MESH) == refs(result)


SUM, MAX, MIN = ReductionOp.SUM, ReductionOp.MAX, ReductionOp.MIN


def check(before, after, kinds=(SUM, SUM), introduced_as=None, removed_as=None):
    source, result = (
        sharding("", unreduced_axes=refs(axes), reduction_kind=kind)
        for axes, kind in zip((before, after), kinds, strict=True)
    )
    check_unreduced_transition(
        source, result, MESH, introduced_as=introduced_as, removed_as=removed_as
    )


def test_unreduced_axes_that_stay():
    check("", "")
    check("u v", "u v", (MAX, MAX))
    with pytest.raises(ModelError, match=r"kept unreduced axes from max to sum"):
        check("u v", "u v", (MAX, SUM))


def test_unreduced_axes_that_come():
    check("u:(1)2", "u v", introduced_as=SUM)
    check("", "u", (SUM, MAX), introduced_as=MAX)
    with pytest.raises(ModelError, match=r"cannot add new unreduced axis 'u'"):
        check("u:(1)2", "u v")
    with pytest.raises(ModelError, match=r"cannot introduce 'max' .* Expected 'sum'"):
        check("", "u", (SUM, MAX), introduced_as=SUM)


def test_unreduced_axes_that_go():
    check("u v", "v", (MIN, MIN), removed_as=MIN)
    with pytest.raises(ModelError, match=r'cannot reduce .* axes are {"u":\(4\)2}'):
        check("u", "u:(1)4")
    with pytest.raises(ModelError, match=r"cannot reduce 'sum' .* Expected 'max'"):
        check("u", "", (SUM, SUM), removed_as=MAX)
