# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scattering, gathering and comparing arrays."""

import numpy as np
import pytest

from mlir_sdy.model import AxisRef, Mesh, MeshAxis, SubAxisInfo, TensorSharding
from pyshardy.backends.arrays.comparison import compare
from pyshardy.backends.arrays.sharded_arrays import gather, scatter
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import TensorSpec

X, Y = AxisRef("x"), AxisRef("y")
MESHES = [
    Mesh((MeshAxis("x", 2), MeshAxis("y", 4))),
    Mesh((MeshAxis("x", 4), MeshAxis("y", 2))),
    Mesh((MeshAxis("x", 2), MeshAxis("y", 2)), (3, 1, 0, 2)),
]
LAYOUTS = [
    ((X,), (Y,)),
    ((Y, X), ()),
    ((), ()),
    ((), (X,)),
    ((AxisRef("y", SubAxisInfo(1, 2)),), ()),
]


@pytest.mark.parametrize("mesh", MESHES)
@pytest.mark.parametrize("axes", LAYOUTS)
@pytest.mark.parametrize("shape", [(8, 8), (5, 7), (1, 3)])
def test_gathering_undoes_scattering(mesh, axes, shape):
    sharding = TensorSharding.from_axes("mesh", axes)
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    local = sharding.local_shape(shape, mesh)
    parts = scatter(array, sharding, mesh, local)
    assert {part.shape for part in parts} == {local}
    back = gather([part.copy() for part in parts], sharding, mesh, TensorSpec(shape, "f32"), "r")
    np.testing.assert_array_equal(back, array)


def test_devices_of_one_part_share_it():
    parts = scatter(
        np.zeros((8, 8)), TensorSharding.from_axes("mesh", ((X,), ())), MESHES[0], (4, 8)
    )
    assert all(part is parts[0] for part in parts[:4])
    assert parts[4] is not parts[0]


def test_the_order_of_devices_counts():
    sharding = TensorSharding.from_axes("mesh", ((X, Y),))
    parts = scatter(np.arange(4), sharding, MESHES[2], (1,))
    assert [int(part[0]) for part in parts] == [2, 1, 3, 0]


def test_devices_that_disagree():
    sharding = TensorSharding.from_axes("mesh", ((X,),))
    parts = scatter(np.ones(8, np.float32), sharding, MESHES[0], (4,))
    parts[6] = parts[6] + np.float32(0.5)
    wanted = r"result 0: devices 4 and 6 should both hold \[4:8\].* differ by up to 0.5"
    with pytest.raises(ExecutionError, match=wanted):
        gather(parts, sharding, MESHES[0], TensorSpec((8,), "f32"), "result 0")


def test_devices_that_disagree_without_a_sharding():
    parts = [np.int32(1)] * 7 + [np.int32(2)]
    with pytest.raises(ExecutionError, match="devices 0 and 7"):
        gather(parts, None, MESHES[0], TensorSpec((), "i32"), "result 0")


def difference(found, expected, element="f32", tolerance=None):
    spec = TensorSpec((len(found),), element)
    return compare(np.array(found, spec.dtype), np.array(expected, spec.dtype), spec, tolerance)


def test_small_differences_of_floats():
    assert difference([1, 100.0005], [1, 100]).is_small
    assert not difference([1, 100.5], [1, 100]).is_small
    assert difference([1, 100.5], [1, 100], tolerance=0.01).is_small
    assert difference([1, 100.5], [1, 100], "bf16").is_small


def test_integers_are_equal_or_not():
    assert difference([1, 2], [1, 2], "i32").is_small
    assert not difference([1, 3], [1, 2], "i32", tolerance=10).is_small
    assert difference([0], [255], "ui8").absolute == 255
    assert not difference([True], [False], "i1").is_small


def test_what_is_not_finite():
    nan, inf = float("nan"), float("inf")
    assert difference([nan, inf, 1], [nan, inf, 1]).is_small
    assert not difference([nan, 1], [1, 1], tolerance=1e9).is_small
    assert not difference([inf], [-inf]).is_small
    assert not difference([1], [inf]).is_small


def test_empty_arrays_are_equal():
    assert difference([], []).is_small
    assert difference([], [], "i32").is_small
