# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes whose shards would need data of others."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_sdy.assembly import asm, parse
from pyshardy.partition.types.reshapes import reshape_groups
from pyshardy.passes.partitioning.resolve_permutation_factors import resolve_permutation_factors


def groups(source: tuple[int, ...], target: tuple[int, ...]) -> list[tuple[list[int], list[int]]]:
    return [(list(left), list(right)) for left, right in reshape_groups(source, target)]


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ((), (), []),
        ((4, 6), (4, 6), [([0], [0]), ([1], [1])]),
        ((12, 24, 5), (8, 36, 5), [([0, 1], [0, 1]), ([2], [2])]),
        ((24,), (4, 6), [([0], [0, 1])]),
        ((4, 6), (24,), [([0, 1], [0])]),
        ((6, 4), (2, 3, 4), [([0], [0, 1]), ([1], [2])]),
        ((4, 1), (4,), [([0], [0]), ([1], [])]),
        ((1, 4), (2, 2), [([0, 1], [0, 1])]),
        ((), (1, 1), [([], [0]), ([], [1])]),
    ],
)
def test_reshape_groups(source, target, expected):
    assert groups(source, target) == expected


@given(st.data())
def test_groups_cover_both_shapes_in_order(data):
    numbers = data.draw(st.lists(st.sampled_from([1, 2, 3, 4]), max_size=6))

    def regrouped() -> tuple[int, ...]:
        cuts = sorted(data.draw(st.sets(st.integers(0, len(numbers)))) | {0, len(numbers)})
        pairs = itertools.pairwise(cuts)
        return tuple(math.prod(numbers[start:end]) for start, end in pairs)

    source, target = regrouped(), regrouped()
    found = reshape_groups(source, target)
    assert [dim for left, _ in found for dim in left] == list(range(len(source)))
    assert [dim for _, right in found for dim in right] == list(range(len(target)))
    for left, right in found:
        assert math.prod(source[dim] for dim in left) == math.prod(target[dim] for dim in right)


def resolved(context, source: str, dims: str, target: str, result_dims: str) -> list[str]:
    """The operations of a function that reshapes its argument, with the last shapes left out."""
    module = parse(
        f"""sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%arg0: tensor<{source}xf32> {{sdy.sharding = #sdy.sharding<@mesh, {dims}>}}) {{
  %0 = stablehlo.reshape %arg0
    {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {result_dims}>]>}}
    : (tensor<{source}xf32>) -> tensor<{target}xf32>
  stablehlo.custom_call @use(%0) {{has_side_effect = true}} : (tensor<{target}xf32>) -> ()
  return
}}""",
        context,
    )
    resolve_permutation_factors(module)
    return [
        line.strip().rsplit(" : ", 1)[0]
        for line in asm(module).splitlines()
        if "reshape" in line or "reshard" in line or "custom_call" in line
    ]


RESHAPE = "stablehlo.reshape {} {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {}>]>}}"


@pytest.mark.parametrize(
    ("source", "dims", "target", "result_dims"),
    [
        ("8x4", '[{"x"}, {}]', "32", '[{"x"}]'),
        ("8x4", '[{"x", "y"}, {}]', "32", '[{"x", "y"}]'),
        ("32", '[{"x"}]', "8x4", '[{"x"}, {}]'),
        ("2x2x4", '[{"x"}, {"y"}, {}]', "4x4", '[{"x", "y"}, {}]'),
        ("8x4x6", '[{}, {}, {"x"}]', "32x6", '[{}, {"x"}]'),
    ],
)
def test_shards_that_hold_the_same_data_stay(context, source, dims, target, result_dims):
    kept = resolved(context, source, dims, target, result_dims)
    assert len(kept) == 2
    assert kept[0] == "%0 = " + RESHAPE.format("%arg0", result_dims)


def test_dimensions_in_question_become_whole(context):
    """The group (12, 24) with (8, 36) does; the dimension beside it keeps its axis."""
    assert resolved(context, "12x24x6", '[{}, {"x"}, {"y"}]', "8x36x6", '[{"x"}, {}, {"y"}]') == [
        '%0 = sdy.reshard %arg0 <@mesh, [{}, {}, {"y"}]>',
        "%1 = " + RESHAPE.format("%0", '[{}, {}, {"y"}]'),
        '%2 = sdy.reshard %1 <@mesh, [{"x"}, {}, {"y"}]>',
        "stablehlo.custom_call @use(%2) {has_side_effect = true}",
    ]


def test_a_minor_part_of_a_dimension_is_not_the_major_one(context):
    """Halves of 32 elements are no halves of rows of 4, but those of 8 rows."""
    assert resolved(context, "32", '[{"x"}]', "8x4", '[{}, {"x"}]') == [
        "%0 = " + RESHAPE.format("%arg0", '[{"x"}, {}]'),
        '%1 = sdy.reshard %0 <@mesh, [{}, {"x"}]>',
        "stablehlo.custom_call @use(%1) {has_side_effect = true}",
    ]


def test_axes_move_on_a_shape_between(context):
    """Quarters of 4 rows of 4 are no halves of columns of 2 x 8, but both cut (2, 2, 4)."""
    assert resolved(context, "4x4x999", '[{"y", "x"}, {}, {}]', "2x8x999", '[{}, {"x"}, {}]') == [
        "%0 = " + RESHAPE.format("%arg0", '[{"y"}, {"x"}, {}, {}]'),
        '%1 = sdy.reshard %0 <@mesh, [{}, {"x"}, {}, {}]>',
        "%2 = " + RESHAPE.format("%1", '[{}, {"x"}, {}]'),
        "stablehlo.custom_call @use(%2) {has_side_effect = true}",
    ]
