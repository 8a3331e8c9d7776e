# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Relations and operations on two refs: the table of cases, and all parts of an axis of size 24."""

import itertools

import pytest
from model_helpers import mesh_of_sizes, ref, valid_refs

from mlir_sdy.model import AxisRef, ModelError

MESH = mesh_of_sizes(u=24, v=2)

# a | b | contains prefix suffix overlaps coexist | overlap | prefix and suffix without overlap |
# common prefix | can merge, a < b
TABLE = """
u        | u        | Y Y Y Y Y | u       | -       | -        | u       | - -
u        | v        | - - - - Y | -       | u       | u        | -       | - Y
u        | u:(1)2   | Y - - Y Y | u:(1)2  | -       | u:(2)12  | u:(1)2  | - -
u:(1)2   | u        | - Y - Y Y | u:(1)2  | -       | -        | u:(1)2  | - Y
u        | u:(2)3   | Y - - Y Y | u:(2)3  | u:(1)2  | u:(6)4   | -       | - Y
u:(2)3   | u        | - - - Y Y | u:(2)3  | -       | -        | -       | - -
u        | u:(4)6   | Y - - Y Y | u:(4)6  | u:(1)4  | -        | -       | - Y
u:(4)6   | u        | - - Y Y Y | u:(4)6  | -       | -        | -       | - -
u:(1)4   | u:(2)6   | - - - Y Y | u:(2)2  | u:(1)2  | -        | -       | - Y
u:(2)6   | u:(1)4   | - - - Y Y | u:(2)2  | -       | u:(4)3   | -       | - -
u:(1)4   | u:(4)3   | - - - - Y | -       | u:(1)4  | u:(1)4   | -       | Y Y
u:(4)3   | u:(1)4   | - - - - Y | -       | u:(4)3  | u:(4)3   | -       | - -
u:(1)2   | u:(4)3   | - - - - Y | -       | u:(1)2  | u:(1)2   | -       | - Y
u:(2)6   | u:(4)3   | Y - - Y Y | u:(4)3  | u:(2)2  | -        | -       | - Y
u:(2)6   | u:(2)2   | Y - - Y Y | u:(2)2  | -       | u:(4)3   | u:(2)2  | - -
u:(2)12  | u:(4)2   | Y - - Y Y | u:(4)2  | u:(2)2  | u:(8)3   | -       | - Y
u:(2)2   | u:(2)2   | Y Y Y Y Y | u:(2)2  | -       | -        | u:(2)2  | - -
u:(1)4   | u:(1)6   | - Y - Y - | -       | -       | -        | -       | - Y
u:(3)4   | u:(2)6   | - - Y Y - | -       | -       | -        | -       | - -
u:(1)2   | u:(3)2   | - - - - - | -       | -       | -        | -       | - Y
"""
ROWS = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]


def optional(text: str) -> AxisRef | None:
    return None if text == "-" else ref(text)


@pytest.mark.parametrize("row", ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_table(row: list[str]):
    first, second, relations, overlap, prefix, suffix, common, merge_and_less = row
    a, b = ref(first), ref(second)
    found = [
        a.contains(b),
        a.is_prefix_of(b),
        a.is_suffix_of(b, MESH),
        a.overlaps(b),
        a.can_coexist(b),
    ]
    assert found == [cell == "Y" for cell in relations.split()]
    assert a.overlap(b) == optional(overlap)
    assert a.prefix_without_overlap(b) == optional(prefix)
    assert a.suffix_without_overlap(b, MESH) == optional(suffix)
    assert a.common_prefix(b) == optional(common)
    assert [a.can_merge(b), a < b] == [cell == "Y" for cell in merge_and_less.split()]
    assert a.strictly_contains(b) == (a.contains(b) and a != b)


def bounds(axis: AxisRef) -> tuple[int, int]:
    info = axis.sub_axis_info
    return (1, 24) if info is None else (info.pre_size, info.pre_size * info.size)


def digits(axis: AxisRef, chain: list[int]) -> set[tuple[int, int]]:
    """The digits between the boundaries in `chain` that a ref covers."""
    start, end = bounds(axis)
    return {(low, high) for low, high in itertools.pairwise(chain) if start <= low and high <= end}


def digits_or_none(axis: AxisRef | None, chain: list[int]) -> set[tuple[int, int]]:
    return set() if axis is None else digits(axis, chain)


PAIRS = list(itertools.product(valid_refs("u", 24), repeat=2))


def test_refs_coexist_when_their_boundaries_form_a_chain_of_divisors():
    for a, b in PAIRS:
        chain = sorted({*bounds(a), *bounds(b)})
        is_chain = all(high % low == 0 for low, high in itertools.pairwise(chain))
        assert a.can_coexist(b) == (is_chain or None in (a.sub_axis_info, b.sub_axis_info)), (a, b)


def test_operations_on_coexisting_refs_are_set_operations_on_digits():
    for a, b in PAIRS:
        if not a.can_coexist(b):
            continue
        chain = sorted({1, 24, *bounds(a), *bounds(b)})
        of_a, of_b = digits(a, chain), digits(b, chain)
        assert a.contains(b) == (of_a >= of_b), (a, b)
        assert a.overlaps(b) == bool(of_a & of_b), (a, b)
        assert digits_or_none(a.overlap(b), chain) == of_a & of_b, (a, b)
        before = digits_or_none(a.prefix_without_overlap(b), chain)
        after = digits_or_none(a.suffix_without_overlap(b, MESH), chain)
        if of_a & of_b:
            assert before | after == of_a - of_b, (a, b)
            assert all(digit < min(of_b) for digit in before), (a, b)
            assert all(digit > max(of_b) for digit in after), (a, b)
        else:
            assert before == after == of_a, (a, b)
        assert a.is_prefix_of(b) == (of_a <= of_b and min(of_a) == min(of_b)), (a, b)
        assert a.is_suffix_of(b, MESH) == (of_a <= of_b and max(of_a) == max(of_b)), (a, b)


def test_refs_that_cannot_coexist_have_nothing_in_common():
    for a, b in PAIRS:
        if not a.can_coexist(b):
            assert a.overlap(b) is None
            assert a.prefix_without_overlap(b) is None
            assert a.suffix_without_overlap(b, MESH) is None
            assert a.common_prefix(b) is None


def test_merge_undoes_a_split():
    for whole, part in PAIRS:
        if whole != part and part.is_prefix_of(whole) and whole.can_coexist(part):
            rest = whole.suffix_without_overlap(part, MESH)
            assert rest is not None
            assert part.can_merge(rest)
            assert part.merge(rest, MESH) == whole


def test_merging_refs_that_are_no_neighbours_is_refused():
    with pytest.raises(ModelError, match=r'"u":\(4\)3 does not follow "u":\(1\)2 directly'):
        ref("u:(1)2").merge(ref("u:(4)3"), MESH)


def test_order_is_total_and_puts_the_full_axis_between_its_parts():
    ordered = sorted(valid_refs("u", 24))
    full = ordered.index(ref("u"))
    assert all(axis.pre_size == 1 for axis in ordered[:full])
    assert all(axis.pre_size > 1 for axis in ordered[full + 1 :])
    assert sorted([ref("v"), ref("u:(2)2"), ref("u"), ref("u:(1)4")]) == [
        ref("u:(1)4"),
        ref("u"),
        ref("u:(2)2"),
        ref("v"),
    ]
    for a, b in PAIRS:
        assert (a < b) + (b < a) + (a == b) == 1


def test_sizes():
    assert [ref(text).size(MESH) for text in ("u", "u:(2)3")] == [24, 3]
    assert [ref(text).next_pre_size(MESH) for text in ("u", "u:(2)3")] == [24, 6]
    with pytest.raises(ModelError, match='unknown axis name: "w"'):
        ref("w").size(MESH)
