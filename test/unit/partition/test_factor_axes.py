# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choosing the axes of factors: each method by examples, and what holds for all results."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import mesh_of_sizes, refs, sharding

from mlir_sdy.model import (
    DimMapping,
    Mesh,
    OpShardingRule,
    TensorMapping,
    lists_overlap,
)
from pyshardy.partition.types.factor_axes import choose_factor_axes
from pyshardy.propagation.projection import ShardingProjection

MESH = mesh_of_sizes(x=2, y=2, z=4)


def rule(text: str, sizes: dict[str, int], **kinds: str) -> OpShardingRule:
    """Read `i k, k j -> i j`, factors being letters and `(ab)` a dimension of two of them."""
    order = {name: index for index, name in enumerate(sizes)}
    operands, results = (
        tuple(
            TensorMapping(
                tuple(
                    DimMapping(tuple(order[name] for name in dim.strip("()")))
                    for dim in re.findall(r"\(\w+\)|\w", tensor)
                )
            )
            for tensor in side.split(",")
        )
        for side in text.split("->")
    )
    factors = {
        f"{kind}_factors": tuple(order[name] for name in names) for kind, names in kinds.items()
    }
    return OpShardingRule(tuple(sizes.values()), operands, results, **factors)


def choose(
    rule: OpShardingRule,
    *dims_of_tensors: tuple[str, ...],
    mesh: Mesh = MESH,
    dynamic: tuple[int, ...] = (),
) -> list[str]:
    """The axes of each factor as text, for tensors sharded by the given axes of dimensions."""
    shardings = tuple(sharding(*dims) for dims in dims_of_tensors)
    shapes = [
        tuple(
            -1 if index in dynamic else product(rule, dim.factor_indices)
            for dim in mapping.dim_mappings
        )
        for index, mapping in enumerate(rule.mappings)
    ]
    projection = ShardingProjection.of(rule, shardings, mesh, closed_if_missing=True)
    chosen = choose_factor_axes(rule, projection, shapes, mesh)
    return [" ".join(map(str, axes)).replace('"', "") for axes in chosen]


def product(rule: OpShardingRule, factors: tuple[int, ...]) -> int:
    size = 1
    for factor in factors:
        size *= rule.factor_sizes[factor]
    return size


ADD = rule("ij, ij -> ij", {"i": 8, "j": 8})
NEGATE = rule("ij -> ij", {"i": 8, "j": 8})
MATMUL = rule("ik, kj -> ij", {"i": 8, "j": 16, "k": 4}, reduction="k")
SORT = rule("ij -> ij", {"i": 8, "j": 8}, need_replication="j")
REVERSE = rule("ij -> ij", {"i": 8, "j": 8}, permutation="j")


# --- Method A: all tensors agree ----------------------------------------------------------------


def test_tensors_that_agree_keep_their_axes():
    assert choose(ADD, ("x", "y"), ("x", "y"), ("x", "y")) == ["x", "y"]
    assert choose(MATMUL, ("x", "y"), ("y", "z"), ("x", "z")) == ["x", "z", "y"]


def test_a_factor_that_needs_replication_does_not_agree():
    assert choose(SORT, ("", "x"), ("", "x")) == ["x", ""]


def test_factors_that_share_an_axis_do_not_agree():
    # Both free factors are sharded by x in their operands, so the result can have but one.
    assert choose(MATMUL, ("x", ""), ("", "x"), ("x", "")) == ["x", "", ""]


# --- Method B: two tensors ----------------------------------------------------------------------


def test_of_equally_large_tensors_the_one_in_more_pieces_wins():
    assert choose(NEGATE, ("x", ""), ("", "z")) == ["", "z"]
    assert choose(NEGATE, ("", "z"), ("x", "")) == ["", "z"]


def test_of_equal_tensors_the_operand_wins():
    assert choose(NEGATE, ("x", ""), ("", "y")) == ["x", ""]


def test_the_larger_tensor_wins():
    reduce = rule("ik -> i", {"i": 8, "k": 8}, reduction="k")
    assert choose(reduce, ("x", ""), ("z",)) == ["x", ""]
    broadcast = rule("i -> ik", {"i": 8, "k": 8})
    assert choose(broadcast, ("z",), ("x", "")) == ["x", ""]


def test_a_factor_that_only_the_other_tensor_has_keeps_what_is_free():
    """The result is empty or of unknown size, so that the smaller tensor is the preferred one."""
    broadcast = rule("i -> ik", {"i": 8, "k": 8})
    assert choose(broadcast, ("x",), ("", "y"), dynamic=(1,)) == ["x", "y"]
    assert choose(broadcast, ("x",), ("", "y x"), dynamic=(1,)) == ["x", "y"]
    assert choose(broadcast, ("x",), ("", "x y"), dynamic=(1,)) == ["x", ""]


def test_a_tensor_that_would_have_to_be_permuted_loses():
    assert choose(REVERSE, ("", "z"), ("x", "")) == ["x", ""]
    assert choose(REVERSE, ("", "x"), ("", "z")) == ["", "z"]


# --- Method C: greedy ---------------------------------------------------------------------------


def test_the_axes_of_most_elements_win():
    assert choose(ADD, ("x", ""), ("y", ""), ("y", "")) == ["y", ""]
    # k is x for 32 elements, i is x for 128 elements.
    assert choose(MATMUL, ("", "x"), ("", ""), ("x", "")) == ["x", "", ""]
    # Both operands together have 96 elements; the result has 128.
    assert choose(MATMUL, ("", "x"), ("x", ""), ("", "x")) == ["", "x", ""]


def test_a_prefix_counts_for_all_that_begin_with_it():
    # y counts three times, y x but once; then it extends what the factor has.
    assert choose(ADD, ("y x", ""), ("y", ""), ("y", "")) == ["y x", ""]
    assert choose(ADD, ("x y", ""), ("y", ""), ("x", "")) == ["x y", ""]


def test_a_sub_axis_is_a_prefix():
    assert choose(ADD, ("z", ""), ("z:(1)2", ""), ("", "z:(1)2")) == ["z", ""]


def test_kinds_of_factors_break_ties():
    square = rule("ik, kj -> ij", {"i": 8, "j": 8, "k": 8}, reduction="k")
    assert choose(square, ("x", ""), ("x", ""), ("", "")) == ["x", "", ""]
    concatenate = rule("ij, ij -> ij", {"i": 8, "j": 8}, permutation="j")
    assert choose(concatenate, ("", "x"), ("x", ""), ("", "")) == ["x", ""]
    two_of_three = rule("ij, ij -> ij", {"i": 8, "j": 8}, need_replication="i", permutation="j")
    assert choose(two_of_three, ("x", ""), ("", "x"), ("", "")) == ["", "x"]


def test_more_pieces_break_ties_then_the_later_factor():
    assert choose(ADD, ("x", ""), ("z", ""), ("", "")) == ["z", ""]
    assert choose(ADD, ("x", ""), ("", "x"), ("", "")) == ["", "x"]


def test_factors_of_all_tensors_exclude_each_other():
    """Also those that never meet in a tensor: i and j share no operand, but k is in both."""
    assert choose(MATMUL, ("x", "y"), ("y", "x"), ("", "")) == ["", "x", "y"]


def test_candidates_are_cut_where_they_overlap_what_was_chosen():
    # j gets x from the result; of i's z x, z is left.
    assert choose(MATMUL, ("z x", ""), ("", ""), ("", "x")) == ["z", "x", ""]
    assert choose(MATMUL, ("x z", ""), ("", ""), ("", "x")) == ["", "x", ""]


def test_a_minor_factor_waits_until_the_major_one_is_fully_sharded():
    merge = rule("a, b -> (ab)", {"a": 2, "b": 4})
    assert choose(merge, ("",), ("y",), ("",)) == ["", ""]
    assert choose(merge, ("x",), ("y",), ("",)) == ["x", "y"]


# --- Factors that need replication --------------------------------------------------------------


def test_freed_axes_go_to_batching_factors():
    two_batches = rule("bci -> bci", {"b": 2, "c": 8, "i": 8}, need_replication="i")
    assert choose(two_batches, ("", "", "x"), ("", "", "x")) == ["x", "", ""]
    assert choose(two_batches, ("", "", "x z"), ("", "", "x z")) == ["x", "z", ""]
    assert choose(two_batches, ("y", "", "x z"), ("y", "", "x z")) == ["y", "x z", ""]


def test_freed_axes_that_fit_nowhere_are_dropped():
    odd = rule("bi -> bi", {"b": 3, "i": 8}, need_replication="i")
    assert choose(odd, ("", "x"), ("", "x")) == ["", ""]
    # z fits nowhere, and those after it wait for it.
    small = rule("bi -> bi", {"b": 2, "i": 8}, need_replication="i")
    assert choose(small, ("", "z x"), ("", "z x")) == ["", ""]


def test_a_batching_factor_that_its_axes_do_not_divide_takes_no_more():
    padded = rule("bi -> bi", {"b": 2, "i": 8}, need_replication="i")
    assert choose(padded, ("z", "x"), ("z", "x")) == ["z", ""]


def test_axes_of_a_factor_that_some_tensor_lacks_are_dropped():
    partial = rule("bi, b -> bi", {"b": 8, "i": 8}, need_replication="i")
    assert choose(partial, ("", "x"), ("",), ("", "x")) == ["", ""]


def test_axes_join_those_that_the_batching_factor_has():
    batch = rule("bi -> bi", {"b": 8, "i": 8}, need_replication="i")
    mesh = mesh_of_sizes(z=4)
    assert choose(batch, ("z:(1)2", "z:(2)2"), ("z:(1)2", "z:(2)2"), mesh=mesh) == ["z", ""]


# --- Whatever the method ------------------------------------------------------------------------

_DIMS = ("", "x", "y", "z", "x y", "y x", "z:(1)2", "z:(2)2", "x z", "z y")


@st.composite
def valid_dims(draw, rank: int) -> tuple[str, ...]:
    used: tuple = ()
    dims = []
    for _ in range(rank):
        dim = draw(st.sampled_from(_DIMS))
        dim = "" if lists_overlap(refs(dim), used) else dim
        used += refs(dim)
        dims.append(dim)
    return tuple(dims)


@pytest.mark.parametrize("a_rule", [ADD, NEGATE, MATMUL, SORT, REVERSE])
@given(data=st.data())
def test_no_axis_shards_two_factors(a_rule, data):
    dims = [data.draw(valid_dims(mapping.rank)) for mapping in a_rule.mappings]
    chosen = [refs(text) for text in choose(a_rule, *dims)]
    for index, axes in enumerate(chosen):
        assert not any(lists_overlap(axes, other) for other in chosen[:index])
        given_refs = {ref for tensor in dims for dim in tensor for ref in refs(dim)}
        assert all(any(ref.overlaps(other) for other in given_refs) for ref in axes)
    assert not any(chosen[factor] for factor in a_rule.need_replication_factors)
