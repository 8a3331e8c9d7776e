# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Who sends to whom in a collective permute, against what the devices hold."""

from hypothesis import given, settings
from hypothesis import strategies as st
from model_helpers import disjoint_refs, mesh_of_sizes, meshes, refs

from mlir_sdy.model import AxisRef, Mesh, TensorSharding, coordinates, device_slices, ordered_refs
from pyshardy.partition.records.collectives import permute_pairs


def pairs(source: str, target: str, mesh: Mesh, target_mesh: Mesh | None = None):
    return permute_pairs(refs(source), refs(target), mesh, target_mesh or mesh)


def test_the_example_of_the_documentation():
    assert pairs("x", "y", mesh_of_sizes(x=2, y=2)) == [(0, 0), (1, 2), (2, 1), (3, 3)]


def test_nothing_to_do():
    assert pairs("x", "x", mesh_of_sizes(x=2, y=2)) == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_another_order_of_devices():
    """Device 0 has the shard that device 2 should have."""
    mesh = mesh_of_sizes(x=3)
    assert pairs("x", "x", mesh, mesh_of_sizes((2, 0, 1), x=3)) == [(0, 2), (1, 0), (2, 1)]


def test_parts_of_an_axis():
    mesh = mesh_of_sizes(x=4)
    assert pairs("x:(1)2", "x:(2)2", mesh) == [(0, 0), (1, 2), (2, 1), (3, 3)]


def test_manual_axes_are_not_crossed():
    """On z, m, y from y to z, each half of the axis m in between keeps to itself."""
    found = pairs("y", "z", mesh_of_sizes(z=2, m=2, y=2))
    assert found == [(0, 0), (1, 4), (2, 2), (3, 6), (4, 1), (5, 5), (6, 3), (7, 7)]


@st.composite
def layouts(draw) -> tuple[Mesh, Mesh, list[AxisRef], list[AxisRef]]:
    """Two orders of the devices of one mesh, and axes of the same size on both."""
    mesh = draw(meshes(permuted=False))
    orders = [tuple(draw(st.permutations(range(mesh.total_size)))) for _ in range(2)]
    source = draw(disjoint_refs(mesh))
    target: list[AxisRef] = []
    for ref in draw(disjoint_refs(mesh)):
        size = mesh.axes_size([*target, ref])
        if mesh.axes_size(source) % size == 0 and all(ref.can_coexist(other) for other in source):
            target.append(ref)
    if mesh.axes_size(target) != mesh.axes_size(source):
        target = list(draw(st.permutations(source)))
    return Mesh(mesh.axes, orders[0]), Mesh(mesh.axes, orders[1]), source, target


@settings(max_examples=200)
@given(layouts())
def test_receivers_get_what_they_should_hold(layout):
    source_mesh, target_mesh, source, target = layout
    found = permute_pairs(source, target, source_mesh, target_mesh)
    devices = list(range(source_mesh.total_size))
    assert [sender for sender, _ in found] == devices
    assert sorted(receiver for _, receiver in found) == devices
    shape = (source_mesh.axes_size(source) * 2,)
    before, after = (
        device_slices(TensorSharding.from_axes("mesh", [tuple(axes)]), mesh, shape)
        for mesh, axes in ((source_mesh, source), (target_mesh, target))
    )
    assert all(before[sender] == after[receiver] for sender, receiver in found)


@settings(max_examples=200)
@given(layouts())
def test_positions_along_unused_axes_stay(layout):
    source_mesh, target_mesh, source, target = layout
    used = [*source, *target]
    unused = [
        part
        for part in ordered_refs(source_mesh, used)
        if not any(part.overlaps(other) for other in used)
    ]
    for sender, receiver in permute_pairs(source, target, source_mesh, target_mesh):
        there = coordinates(target_mesh, receiver, unused)
        assert coordinates(source_mesh, sender, unused) == there
