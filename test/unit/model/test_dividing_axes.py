# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The axes that are left where a sharding must divide evenly."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_sdy.model import AxisRef, Mesh, dividing_axes

MESH = Mesh.of({"x": 6, "y": 10, "z": 4})
X, Y, Z = map(AxisRef, "xyz")


@pytest.mark.parametrize(
    ("axes", "size", "expected"),
    [
        ((X, Y), 60, (X, Y)),
        ((X, Y), 30, (X, AxisRef.sub("y", 1, 5))),
        ((X, Y), 15, (AxisRef.sub("x", 1, 3),)),
        ((X, Y), 7, ()),
        ((X, Y), 5, ()),  # what follows an axis that can't stay can't, either
        ((X,), 0, (X,)),
        ((X,), 1, ()),
        ((AxisRef.sub("x", 3, 2), AxisRef.sub("y", 1, 5)), 4, (AxisRef.sub("x", 3, 2),)),
        ((AxisRef.sub("y", 2, 5),), 25, (AxisRef.sub("y", 2, 5),)),
    ],
)
def test_axes(axes, size, expected):
    assert dividing_axes(axes, size, MESH) == expected


@given(st.permutations((X, Y, Z)), st.integers(1, 500))
def test_the_rest_divides_and_is_a_beginning(axes, size):
    left = dividing_axes(axes, size, MESH)
    assert size % MESH.axes_size(left) == 0
    assert all(kept.is_prefix_of(axis) for kept, axis in zip(left, axes, strict=False))
    if MESH.axes_size(axes) and size % MESH.axes_size(axes) == 0:
        assert left == tuple(axes)
    if not left:
        assert math.gcd(size, axes[0].size(MESH)) == 1
