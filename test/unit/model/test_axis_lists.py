# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on lists of refs: their worked examples, and what they leave of the digits."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import disjoint_refs, mesh_of_sizes, meshes, ref, refs, valid_refs

from mlir_sdy.model import (
    AxisRef,
    Mesh,
    ModelError,
    PrefixStatus,
    add_or_merge,
    axis_list_key,
    common_prefix,
    expanded_size,
    first_overlapping,
    is_strict_prefix,
    lists_overlap,
    ordered_refs,
    prefix_status,
    prefix_without_overlap,
    set_difference,
    shard_indices,
    sort_and_merge,
    truncate_by_removing_overlaps,
)

MESH = mesh_of_sizes(x=24, y=2)


def test_add_or_merge():
    assert add_or_merge(refs("y, x:(1)2"), ref("x:(2)3"), MESH) == refs("y, x:(1)6")
    assert add_or_merge(refs("y, x:(2)3"), ref("x:(1)2"), MESH) == refs("y, x:(2)3, x:(1)2")
    assert add_or_merge((), ref("x"), MESH) == refs("x")


def test_sort_and_merge():
    assert sort_and_merge(refs("y, x:(2)12, x:(1)2"), MESH) == refs("x, y")
    assert sort_and_merge(refs("x:(6)2, x:(1)2"), MESH) == refs("x:(1)2, x:(6)2")


@given(st.data())
def test_sort_and_merge_keeps_which_devices_differ(data: st.DataObject):
    mesh = data.draw(meshes())
    axes = data.draw(disjoint_refs(mesh))
    merged = sort_and_merge(axes, mesh)
    in_mesh_order = sorted(axes, key=mesh.sort_key)
    assert shard_indices(mesh, merged) == shard_indices(mesh, in_mesh_order)
    assert not any(a.can_merge(b) for a, b in itertools.pairwise(merged))


def test_common_prefix():
    assert common_prefix(refs("y, x:(1)2"), refs("y, x")) == refs("y, x:(1)2")
    assert common_prefix(refs("x, y"), refs("y")) == ()
    assert common_prefix(refs("y, x"), refs("y")) == refs("y")
    assert common_prefix(refs("x:(1)4, y"), refs("x:(1)2, y")) == refs("x:(1)2")


def test_prefix_without_overlap():
    assert prefix_without_overlap(ref("x"), refs("x:(6)2, x:(2)3")) == ref("x:(1)2")
    assert prefix_without_overlap(ref("x"), refs("x:(6)2, x:(1)2")) is None
    assert prefix_without_overlap(ref("x"), refs("y")) == ref("x")


def test_truncate_by_removing_overlaps():
    axes = refs("y, x")
    assert truncate_by_removing_overlaps(axes, refs("x:(2)3")) == refs("y, x:(1)2")
    assert truncate_by_removing_overlaps(axes, refs("y")) == ()
    assert truncate_by_removing_overlaps(axes, refs("x:(1)2")) == refs("y")
    assert truncate_by_removing_overlaps(axes, refs("z")) is axes
    assert truncate_by_removing_overlaps(refs("x, y"), refs("x:(2)3")) == refs("x:(1)2")


def test_set_difference():
    assert set_difference(refs("y, x"), refs("x:(2)3"), MESH) == refs("y, x:(1)2, x:(6)4")
    assert set_difference(refs("x:(1)6"), refs("x:(2)3, x:(1)2"), MESH) == ()
    assert set_difference(refs("x"), refs("x:(12)2, x:(2)3"), MESH) == refs("x:(1)2, x:(6)2")
    assert set_difference(refs("x:(1)4"), refs("x:(1)6"), MESH) == ()


def digits(axes, mesh: Mesh, chains: dict[str, list[int]]) -> list[tuple[str, int, int]]:
    """The digits that refs cover, where `chains` has the boundaries of each axis."""
    found = []
    for axis in axes:
        start, end = axis.pre_size, axis.next_pre_size(mesh)
        found += [
            (axis.name, low, high)
            for low, high in itertools.pairwise(chains[axis.name])
            if start <= low and high <= end
        ]
    return found


@given(st.data())
def test_list_operations_are_set_operations_on_digits(data: st.DataObject):
    mesh = data.draw(meshes(permuted=False))
    # Divisors that form a chain: all refs between its members coexist.
    chains: dict[str, list[int]] = {}
    for axis in mesh.axes:
        chain = chains.setdefault(axis.name, [1])
        while chain[-1] != axis.size:
            rest = axis.size // chain[-1]
            chain.append(chain[-1] * next(d for d in (2, 3) if rest % d == 0))

    def draw_disjoint() -> tuple[AxisRef, ...]:
        names = [name for name in chains if data.draw(st.booleans())]
        axes = [
            AxisRef.sub(name, low, high // low)
            for name in names
            for low, high in itertools.pairwise(chains[name])
            if data.draw(st.booleans())
        ]
        return tuple(data.draw(st.permutations(sort_and_merge(axes, mesh))))

    kept, removed = draw_disjoint(), draw_disjoint()
    of_kept, of_removed = digits(kept, mesh, chains), digits(removed, mesh, chains)
    assert lists_overlap(kept, removed) == bool(set(of_kept) & set(of_removed))
    difference = set_difference(kept, removed, mesh)
    assert digits(difference, mesh, chains) == [d for d in of_kept if d not in of_removed]
    until_overlap = list(itertools.takewhile(lambda digit: digit not in of_removed, of_kept))
    assert digits(truncate_by_removing_overlaps(kept, removed), mesh, chains) == until_overlap
    sorted_removed = sorted(removed)
    for axis in kept:
        overlapping = [other for other in sorted_removed if axis.overlaps(other)]
        assert first_overlapping(axis, sorted_removed) == next(iter(overlapping), None)


def test_first_overlapping_on_all_pairs_of_disjoint_parts():
    parts = valid_refs("x", 24)
    for axis, one, other in itertools.product(parts, repeat=3):
        if not one.overlaps(other):
            others = sorted([one, other])
            overlapping = [candidate for candidate in others if axis.overlaps(candidate)]
            assert first_overlapping(axis, others) == next(iter(overlapping), None)


def test_ordered_refs():
    assert ordered_refs(MESH, refs("x:(2)3")) == refs("x:(1)2, x:(2)3, x:(6)4, y")
    assert ordered_refs(MESH, refs("x:(1)2, x:(4)6")) == refs("x:(1)2, x:(2)2, x:(4)6, y")
    assert ordered_refs(MESH, refs("x")) == refs("x, y")
    assert ordered_refs(Mesh(), ()) == ()


@given(st.data())
def test_ordered_refs_name_each_position_once(data: st.DataObject):
    mesh = data.draw(meshes())
    axes = data.draw(disjoint_refs(mesh))
    ordered = ordered_refs(mesh, axes)
    assert set(axes) <= set(ordered)
    assert shard_indices(mesh, ordered) == tuple(range(mesh.total_size))


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ("", "", PrefixStatus.EQUAL),
        ("", "x", PrefixStatus.STRICT),
        ("x", "", PrefixStatus.NOT),
        ("x", "x", PrefixStatus.EQUAL),
        ("x", "x, y", PrefixStatus.STRICT),
        ("x, y", "x", PrefixStatus.NOT),
        ("x:(1)2", "x:(1)4, y", PrefixStatus.STRICT),
        ("y, x:(1)2", "y, x:(1)4", PrefixStatus.STRICT),
        ("y, x:(2)2", "y, x:(1)4", PrefixStatus.NOT),
        ("y", "x, y", PrefixStatus.NOT),
        ("y, x", "x, x", PrefixStatus.NOT),
    ],
)
def test_prefix_status(first: str, second: str, status: PrefixStatus):
    assert prefix_status(refs(first), refs(second)) is status
    assert is_strict_prefix(refs(first), refs(second)) == (status is PrefixStatus.STRICT)


def test_lists_are_ordered_by_length_first():
    lists = [refs(text) for text in ("x, y", "z", "x", "x:(1)2", "", "x, x:(1)2")]
    expected = [refs(text) for text in ("", "x:(1)2", "x", "z", "x, x:(1)2", "x, y")]
    assert sorted(lists, key=axis_list_key) == expected


def test_expanded_size():
    assert expanded_size(refs("x, y"), refs("x:(1)6"), MESH) == 8
    assert expanded_size(refs("x"), refs("x"), MESH) == 1
    with pytest.raises(ModelError, match=r'\{"x":\(1\)3\} is not a prefix of \{"y"\}'):
        expanded_size(refs("y"), refs("x:(1)3"), MESH)
