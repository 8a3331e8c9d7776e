# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which device holds what: slices, and reshapes, against the elements themselves."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from model_helpers import disjoint_refs, mesh_of_sizes, meshes, refs, sharding, shardings

from mlir_sdy.model import Mesh, TensorSharding, coordinates, device_slices, place_data_alike


def test_device_slices():
    mesh = mesh_of_sizes(x=4)
    slices = device_slices(sharding("x"), mesh, (6,))
    assert slices == {0: (slice(0, 2),), 1: (slice(2, 4),), 2: (slice(4, 6),), 3: (slice(6, 6),)}
    assert device_slices(sharding(), Mesh((), (5,)), (2, 3)) == {5: (slice(0, 2), slice(0, 3))}
    assert device_slices(sharding(), mesh, ()) == dict.fromkeys(range(4), ())


def test_device_slices_follow_explicit_ids():
    mesh = mesh_of_sizes(x=2, y=2, device_ids=(3, 1, 0, 2))
    rows = {
        device: own[0].start for device, own in device_slices(sharding("x"), mesh, (4,)).items()
    }
    assert rows == {3: 0, 1: 0, 0: 2, 2: 2}


@given(st.data())
def test_device_slices_cover_each_element_once_per_replica(data: st.DataObject):
    mesh = data.draw(meshes())
    value = data.draw(shardings(mesh))
    shape = tuple(data.draw(st.integers(0, 9)) for _ in range(value.rank))
    count = np.zeros(shape, dtype=int)
    slices = device_slices(value, mesh, shape)
    local_shape = value.local_shape(shape, mesh)
    for own in slices.values():
        count[own] += 1
        sizes = [part.stop - part.start for part in own]
        assert all(size <= local for size, local in zip(sizes, local_shape, strict=True))
    assert (count == mesh.total_size // math.prod(value.sharded_sizes(mesh))).all()
    assert sorted(slices) == list(range(mesh.total_size))


@given(st.data())
def test_device_slices_are_nested_splits(data: st.DataObject):
    mesh = data.draw(meshes())
    value = data.draw(shardings(mesh))
    shape = tuple(data.draw(st.integers(1, 3)) * pieces for pieces in value.sharded_sizes(mesh))
    for device, own in device_slices(value, mesh, shape).items():
        for dim, size, part in zip(value.dim_shardings, shape, own, strict=True):
            piece = range(size)
            for axis, place in zip(dim.axes, coordinates(mesh, device, dim.axes), strict=True):
                width = len(piece) // axis.size(mesh)
                piece = piece[place * width : (place + 1) * width]
            assert range(size)[part] == piece


# --- Reshapes -------------------------------------------------------------------------------

MESH = mesh_of_sizes(x=2, y=2, z=4)


@pytest.mark.parametrize(
    ("first", "first_shape", "second", "second_shape", "strict", "lenient"),
    [
        (("x", "y"), (2, 4), ("x y",), (8,), True, True),
        (("y", "x"), (2, 4), ("x y",), (8,), False, False),
        (("x", ""), (2, 4), ("x",), (8,), True, True),
        (("", "x"), (2, 4), ("x",), (8,), False, False),
        (("z:(1)2", "z:(2)2"), (2, 4), ("z",), (8,), True, True),
        (("z:(1)2", "z:(2)2"), (4, 4), ("z",), (16,), False, False),
        (("", "x"), (1, 8), ("x",), (8,), True, True),
        (("x",), (6,), ("x", ""), (6, 1), True, True),
        (("x",), (5,), ("x", ""), (5, 1), True, True),
        (("x", ""), (5, 3), ("x",), (15,), False, True),
        (("", ""), (2, 3), ("",), (6,), True, True),
        (("x",), (6,), ("",), (6,), False, False),
        (("", "z"), (2, 4), ("", "z"), (4, 2), False, False),
        (("z:(1)2", "z:(2)2"), (1, 8), ("z",), (8,), False, True),
        (("z:(1)2", "", "z:(2)2"), (1, 2, 4), ("z",), (8,), False, False),
        (("x",), (-1,), ("x", ""), (-1, 1), False, False),
        (("x",), (-1,), ("x",), (-1,), True, True),
    ],
)
def test_place_data_alike(first, first_shape, second, second_shape, *, strict, lenient):
    one, other = sharding(*first), sharding(*second)
    assert place_data_alike(one, first_shape, other, second_shape, MESH) == strict
    assert place_data_alike(other, second_shape, one, first_shape, MESH) == strict
    assert place_data_alike(one, first_shape, other, second_shape, MESH, lenient=True) == lenient


def test_data_on_other_meshes_or_with_other_replication_is_elsewhere():
    value = sharding("x")
    assert not place_data_alike(value, (4,), value.with_mesh("n"), (4,), MESH)
    assert not place_data_alike(value, (4,), value.with_replicated_axes(refs("y")), (4,), MESH)
    assert place_data_alike(value, (4,), value.open(), (4,), MESH)


def elements_by_device(value: TensorSharding, shape: tuple[int, ...], mesh: Mesh):
    elements = np.arange(math.prod(shape)).reshape(shape)
    slices = device_slices(value, mesh, shape)
    return {device: elements[own].ravel().tolist() for device, own in slices.items()}


@st.composite
def divided_shardings(draw, mesh: Mesh, total: int):
    """A shape with `total` elements and a sharding that divides it evenly."""
    cuts = sorted(
        draw(st.lists(st.sampled_from([2**n for n in range(total.bit_length())]), max_size=2))
    )
    shape = tuple(high // low for low, high in itertools.pairwise([1, *cuts, total]))
    axes_per_dim = [[] for _ in shape]
    for axis in draw(disjoint_refs(mesh)):
        axes = axes_per_dim[draw(st.integers(0, len(shape) - 1))]
        if not axes or not axes[-1].can_merge(axis):
            axes.append(axis)
    value = TensorSharding.from_axes("m", map(tuple, axes_per_dim))
    assume(value.divides(shape, mesh))
    return value, shape


@settings(max_examples=150)
@given(st.data())
def test_evenly_divided_data_is_placed_alike_when_each_device_holds_the_same(data: st.DataObject):
    mesh = data.draw(
        st.sampled_from([mesh_of_sizes(u=4, v=2), mesh_of_sizes(u=8), mesh_of_sizes(u=2, v=2)])
    )
    one, one_shape = data.draw(divided_shardings(mesh, 32))
    other, other_shape = data.draw(divided_shardings(mesh, 32))
    held_alike = elements_by_device(one, one_shape, mesh) == elements_by_device(
        other, other_shape, mesh
    )
    assert place_data_alike(one, one_shape, other, other_shape, mesh) == held_alike
    assert place_data_alike(one, one_shape, other, other_shape, mesh, lenient=True) == held_alike


def test_strict_answers_hold_without_even_division():
    mesh = mesh_of_sizes(u=4)
    lists = [(), *(refs(text) for text in ("u", "u:(1)2", "u:(2)2"))]
    placed = []
    for shape in [(12,), (1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)]:
        for axes_per_dim in itertools.product(lists, repeat=len(shape)):
            used = [axis for axes in axes_per_dim for axis in axes]
            if not any(a.overlaps(b) for a, b in itertools.combinations(used, 2)):
                value = TensorSharding.from_axes("m", axes_per_dim)
                placed.append((value, shape, elements_by_device(value, shape, mesh)))
    for one, other in itertools.product(placed, repeat=2):
        if place_data_alike(*one[:2], *other[:2], mesh):
            assert one[2] == other[2], (one[:2], other[:2])


def test_all_shardings_along_two_axes_of_all_reshapes():
    mesh = mesh_of_sizes(u=4, v=2)
    pieces = [(), *itertools.permutations(refs("u, v"), 1), *itertools.permutations(refs("u, v"))]
    pieces += [refs(text) for text in ("u:(1)2", "u:(2)2", "v u:(1)2", "u:(1)2 v", "u:(2)2 u:(1)2")]
    shapes = [(16,), (2, 8), (4, 4), (8, 2), (2, 2, 4), (1, 16)]
    placed = []
    for shape in shapes:
        for axes_per_dim in itertools.product(pieces, repeat=len(shape)):
            used = [axis for axes in axes_per_dim for axis in axes]
            if any(a.overlaps(b) for a, b in itertools.combinations(used, 2)):
                continue
            value = TensorSharding.from_axes("m", axes_per_dim)
            if value.divides(shape, mesh):
                placed.append((value, shape, elements_by_device(value, shape, mesh)))
    alike = 0
    for one, other in itertools.product(placed[::3], placed[::2]):
        expected = one[2] == other[2]
        alike += expected
        assert place_data_alike(*one[:2], *other[:2], mesh) == expected, (one[:2], other[:2])
    assert alike > len(placed) / 3
