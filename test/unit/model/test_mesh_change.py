# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layouts on other meshes of the same devices."""

import random

import pytest
from partition_programs import random_axes

from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding, device_slices
from mlir_sdy.model.mesh_change import sharding_on

X4 = Mesh.of({"x": 4})
AB = Mesh.of({"a": 2, "b": 2})


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        ((AxisRef("x"),), (AxisRef("a"), AxisRef("b"))),
        ((AxisRef.sub("x", 1, 2),), (AxisRef("a"),)),
        ((AxisRef.sub("x", 2, 2),), (AxisRef("b"),)),
        ((AxisRef.sub("x", 2, 2), AxisRef.sub("x", 1, 2)), (AxisRef("b"), AxisRef("a"))),
        ((), ()),
    ],
)
def test_parts_become_axes_and_back(axes, expected):
    sharding = TensorSharding.from_axes("m", (axes,))
    there = sharding_on(sharding, X4, AB, "n")
    assert there == TensorSharding.from_axes("n", (expected,))
    assert sharding_on(there, AB, X4, "m") == sharding


def test_other_devices():
    sharding = TensorSharding.from_axes("m", ((AxisRef("x"),),))
    assert sharding_on(sharding, X4, Mesh.of({"a": 2}), "n") is None
    assert sharding_on(sharding, X4, Mesh(AB.axes, (3, 1, 0, 2)), "n") is None


def test_what_axes_can_not_express():
    sharding = TensorSharding.from_axes("m", ((AxisRef("x"),),))
    assert sharding_on(sharding, Mesh.of({"x": 2, "y": 3}), Mesh.of({"a": 3, "b": 2}), "n") is None


def mesh_of_size(rng: random.Random, size: int, names: str) -> Mesh:
    axes: list[MeshAxis] = []
    while size > 1:
        part = rng.choice([n for n in range(2, size + 1) if size % n == 0])
        axes.append(MeshAxis(names[len(axes)], part))
        size //= part
    return Mesh(tuple(axes))


def test_each_device_holds_the_same():
    rng = random.Random(0)
    num_found = 0
    for _ in range(400):
        size = rng.choice((4, 8, 12, 24))
        mesh, other = mesh_of_size(rng, size, "abcd"), mesh_of_size(rng, size, "xyzw")
        sharding = TensorSharding.from_axes("m", random_axes(rng, mesh, 2))
        found = sharding_on(sharding, mesh, other, "n")
        if found is not None:
            num_found += 1
            shape = (24, 24)
            assert device_slices(found, other, shape) == device_slices(sharding, mesh, shape)
    assert num_found > 100
