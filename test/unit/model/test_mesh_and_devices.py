# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes: checks, kinds, normalisation, order; devices along axes against NumPy's reshape."""

import copy
import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import disjoint_refs, mesh_of_sizes, meshes, ref, refs

from mlir_sdy.model import (
    Mesh,
    MeshAxis,
    ModelError,
    coordinates,
    ordered_refs,
    replica_groups,
    shard_index,
    shard_indices,
)

U2, V2 = MeshAxis("u", 2), MeshAxis("v", 2)


@pytest.mark.parametrize(
    ("axes", "device_ids", "reason"),
    [
        ((), (-1,), "device id must be non-negative, got: -1"),
        ((U2, U2), (0, -3), "device id must be non-negative, got: -3"),
        ((), (0, 1), "axes is empty and device_ids has more than one element, got: 2"),
        ((U2, V2, U2), (0,), 'duplicate axis name: "u"'),
        (
            (U2, V2),
            (1, 0),
            "product of axis sizes must match total number of device ids, got: 4 != 2",
        ),
        ((U2,), (2, 0), "must be iota(product(axes)), got: 0, 2"),
        ((U2,), (1, 1), "must be iota(product(axes)), got: 1, 1"),
    ],
)
def test_bad_meshes_are_refused(axes, device_ids, reason: str):
    with pytest.raises(ModelError, match=re.escape(reason)):
        Mesh(axes, device_ids)


@pytest.mark.parametrize("size", [0, -2])
def test_axes_have_at_least_one_device(size: int):
    with pytest.raises(ModelError, match=f"must be at least 1, got: {size} for axis"):
        MeshAxis("u", size)


@pytest.mark.parametrize(
    ("axes", "reason"),
    [
        ({"u": 2.0}, 'the size of axis "u" must be a whole number, got: 2.0'),
        ({"u": True}, 'the size of axis "u" must be a whole number, got: True'),
        ({"u": "2"}, "the size of axis \"u\" must be a whole number, got: '2'"),
        ({2: 2}, "the name of an axis must be a string, got: 2"),
        ("u=2", "the axes of a mesh are sizes by names, got: 'u'"),
        ([("u", 2)], "the axes of a mesh are sizes by names, got: ('u', 2)"),
    ],
)
def test_what_is_no_axis_is_refused(axes, reason: str):
    with pytest.raises(ModelError, match=re.escape(reason)):
        Mesh.of(axes)


def test_sizes_may_be_integers_of_numpy():
    mesh = Mesh.of({"u": np.int64(2), "v": np.uint8(3)})
    assert mesh == Mesh.of({"u": 2, "v": 3})
    assert [type(axis.size) for axis in mesh.axes] == [int, int]


def test_device_ids_in_order_are_dropped():
    assert Mesh((U2, V2), (0, 1, 2, 3)) == Mesh((U2, V2))
    assert hash(Mesh((U2, V2), (0, 1, 2, 3))) == hash(Mesh((U2, V2)))
    assert Mesh((MeshAxis("u", 1),), (0,)) == Mesh((MeshAxis("u", 1),))
    assert Mesh((), (0,)).device_ids == (0,)
    assert Mesh((U2,), (1, 0)).device_ids == (1, 0)


def test_kinds():
    empty, maximal, ordinary = Mesh(), Mesh((), (7,)), Mesh((MeshAxis("u", 1),))
    assert [mesh.is_empty for mesh in (empty, maximal, ordinary)] == [True, False, False]
    assert [mesh.is_maximal for mesh in (empty, maximal, ordinary)] == [False, True, False]
    assert [mesh.maximal_id for mesh in (empty, maximal, ordinary)] == [None, 7, None]
    assert [mesh.total_size for mesh in (empty, maximal, Mesh((U2, V2)))] == [1, 1, 4]
    assert [list(mesh.devices) for mesh in (maximal, Mesh((U2,), (1, 0)))] == [[7], [1, 0]]


def test_equal_ignoring_device_ids():
    assert Mesh((U2,), (1, 0)).equals_ignoring_device_ids(Mesh((U2,)))
    assert Mesh((), (1,)).equals_ignoring_device_ids(Mesh((), (2,)))
    assert not Mesh((), (1,)).equals_ignoring_device_ids(Mesh())
    assert not Mesh((U2, V2)).equals_ignoring_device_ids(Mesh((V2, U2)))


def test_order_on_a_mesh():
    mesh = mesh_of_sizes(v=8, u=8)
    mixed = refs("z, u:(2)2, a, u, v:(2)4, u:(1)2, v")
    expected = refs("v, v:(2)4, u:(1)2, u, u:(2)2, a, z")
    assert tuple(sorted(mixed, key=mesh.sort_key)) == expected


def test_copies_forget_what_is_remembered():
    mesh = mesh_of_sizes(u=2, v=3)
    hash(mesh)
    mesh.axis_size("u")
    for twin in (copy.deepcopy(mesh), pickle.loads(pickle.dumps(mesh))):
        assert twin == mesh
        assert hash(twin) == hash(mesh)
        assert twin.axis_size("v") == 3
        assert not twin.has_axis("w")


def test_coordinates_and_shard_index():
    mesh = mesh_of_sizes(x=4, y=3)
    assert coordinates(mesh, 7, refs("x, y")) == (2, 1)
    assert coordinates(mesh, 7, refs("x:(1)2, x:(2)2")) == (1, 0)
    assert shard_index(mesh, 7, refs("x, y")) == 7
    assert shard_index(mesh, 7, refs("y, x")) == 6
    assert shard_index(mesh, 7, ()) == 0
    with pytest.raises(ModelError, match="device 12 is not in the mesh"):
        shard_index(mesh, 12, ())


def test_the_major_part_of_an_axis_is_its_left_digit():
    mesh = mesh_of_sizes(u=4)
    assert shard_indices(mesh, refs("u:(1)2")) == (0, 0, 1, 1)
    assert shard_indices(mesh, refs("u:(2)2")) == (0, 1, 0, 1)


@given(st.data())
def test_coordinates_are_indices_into_the_reshaped_mesh(data: st.DataObject):
    mesh = data.draw(meshes())
    axes = data.draw(disjoint_refs(mesh))
    ordered = ordered_refs(mesh, axes)
    devices = np.array(mesh.devices).reshape([axis.size(mesh) for axis in ordered])
    for device in mesh.devices:
        (place,) = np.argwhere(devices == device)
        expected = [int(place[ordered.index(axis)]) for axis in axes]
        assert list(coordinates(mesh, device, axes)) == expected
        sizes = [axis.size(mesh) for axis in axes]
        index = int(np.ravel_multi_index(expected, sizes)) if axes else 0
        assert shard_index(mesh, device, axes) == index
        assert shard_indices(mesh, axes)[list(mesh.devices).index(device)] == index


def test_replica_groups():
    mesh = mesh_of_sizes(u=2, v=3)
    assert replica_groups(mesh, refs("u")) == ((0, 3), (1, 4), (2, 5))
    assert replica_groups(mesh, refs("v, u")) == ((0, 3, 1, 4, 2, 5),)
    assert replica_groups(mesh, ()) == ((0,), (1,), (2,), (3,), (4,), (5,))
    permuted = mesh_of_sizes(u=2, v=2, device_ids=(3, 1, 0, 2))
    assert replica_groups(permuted, (ref("u"),)) == ((3, 0), (1, 2))


@given(st.data())
def test_replica_groups_are_a_transposed_mesh(data: st.DataObject):
    mesh = data.draw(meshes())
    axes = data.draw(disjoint_refs(mesh))
    ordered = ordered_refs(mesh, axes)
    devices = np.array(mesh.devices).reshape([axis.size(mesh) for axis in ordered])
    others = [index for index, axis in enumerate(ordered) if axis not in axes]
    moved = devices.transpose([*others, *map(ordered.index, axes)])
    expected = moved.reshape(-1, mesh.axes_size(axes))
    assert np.array_equal(np.array(replica_groups(mesh, axes)), expected)
