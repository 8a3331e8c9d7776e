# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules and names of factors, all-to-all moves, propagation edges, directions."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_helpers import refs

from mlir_sdy.model import (
    AllToAllParam,
    AllToAllParamList,
    AxisRef,
    AxisToPropagationDetails,
    DimMapping,
    EdgeNodeType,
    EdgeValueRef,
    FactorType,
    ModelError,
    OpShardingRule,
    PropagationDirection,
    PropagationEdges,
    PropagationOneStep,
    TensorMapping,
    factor_indices,
    factor_name,
)


def mapping(text: str) -> TensorMapping:
    return TensorMapping(tuple(DimMapping(factor_indices(dim)) for dim in text.split()))


# --- Rules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "indices"),
    [
        ("", ()),
        ("ij", (0, 1)),
        ("z", (17,)),
        ("zz_1", (17, 18)),
        ("z_8z_9", (25, 26)),
        ("z_10i", (27, 0)),
    ],
)
def test_factor_names(names: str, indices: tuple[int, ...]):
    assert factor_indices(names) == indices
    assert "".join(map(factor_name, indices)) == names


@pytest.mark.parametrize(
    "names", ["h", "z_", "z_0", "z_01", "i_1", "z_2_i", "i j", "*", "I", "z_\u0661"]
)
def test_bad_factor_names_are_refused(names: str):
    with pytest.raises(ModelError, match="expected factors"):
        factor_indices(names)


@given(st.lists(st.integers(0, 200)))
def test_factor_names_are_read_back(indices: list[int]):
    assert factor_indices("".join(map(factor_name, indices))) == tuple(indices)


def test_rule_queries():
    rule = OpShardingRule(
        factor_sizes=(4, 2, 3, 5, 6),
        operand_mappings=(mapping("i jl"), mapping("i k"), mapping("")),
        result_mappings=(mapping("i m"),),
        reduction_factors=(1,),
        need_replication_factors=(2,),
        permutation_factors=(3,),
    )
    assert rule.num_factors == 5
    assert rule.non_scalar_tensor_indices == (0, 1, 3)
    assert rule.has_dims_with_several_factors
    assert [rule.factor_type(factor) for factor in range(5)] == [
        FactorType.PASS_THROUGH,
        FactorType.REDUCTION,
        FactorType.NEED_REPLICATION,
        FactorType.PERMUTATION,
        FactorType.PASS_THROUGH,
    ]
    assert [rule.is_batching_factor(factor) for factor in range(5)] == [True] + [False] * 4
    assert [mapping("jl").dim_mappings[0].is_minor_most(factor) for factor in (1, 3)] == [
        False,
        True,
    ]
    assert not DimMapping().is_minor_most(0)
    simple = OpShardingRule((2,), (mapping("i"),), (mapping("i"),), (0,))
    assert not simple.has_dims_with_several_factors
    assert not simple.is_batching_factor(0)


# --- All-to-all -----------------------------------------------------------------------------


def moves(*pairs: tuple[int, int]) -> AllToAllParamList:
    return AllToAllParamList(tuple(AllToAllParam(refs("x"), *pair) for pair in pairs))


def test_all_to_all_lists():
    assert moves((0, 1)).overlaps(moves((1, 2)))
    assert not moves((0, 1)).overlaps(moves((2, 3)))
    assert moves((0, 0)).overlaps(moves())
    assert moves((2, 3)).combine(moves((0, 1), (4, 5))) == moves((0, 1), (2, 3), (4, 5))


# --- Propagation edges ----------------------------------------------------------------------

OPERAND, RESULT = EdgeValueRef(EdgeNodeType.OPERAND, 0), EdgeValueRef(EdgeNodeType.RESULT, 0)


def step(index: int, *targets: EdgeValueRef) -> PropagationOneStep:
    entry = AxisToPropagationDetails(AxisRef("u"), OPERAND, targets)
    return PropagationOneStep(index, (entry,))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([step(-1, RESULT)], "negative step index: -1"),
        ([step(1, RESULT), step(0, RESULT), step(1, RESULT)], "duplicate step index: 1"),
        (
            [step(1, RESULT, OPERAND)],
            "the same as a target for step index: 1 and axis: u: operand-0",
        ),
        ([step(2, RESULT, RESULT)], "duplicate targets for step index: 2 and axis: u: result-0"),
    ],
)
def test_bad_edges_are_refused(steps, reason: str):
    with pytest.raises(ModelError, match=reason):
        PropagationEdges(tuple(steps))


def test_a_target_may_recur_in_another_step():
    assert len(PropagationEdges((step(3, RESULT), step(1, RESULT))).value) == 2


# --- Directions -----------------------------------------------------------------------------


def test_directions_are_sets():
    none, forward, backward, both = PropagationDirection
    sets = {none: set(), forward: {"f"}, backward: {"b"}, both: {"f", "b"}}
    for a, b in itertools.product(PropagationDirection, repeat=2):
        assert sets[a.union(b)] == sets[a] | sets[b]
        assert sets[a.intersection(b)] == sets[a] & sets[b]
    assert [int(direction) for direction in PropagationDirection] == [0, 1, 2, 3]
    assert isinstance(forward.union(backward), PropagationDirection)
