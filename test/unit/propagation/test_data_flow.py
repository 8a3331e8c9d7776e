# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data flow: shardings pass into and out of regions, through edges only."""

import pytest

PASSES = "sdy-add-data-flow-edges,sdy-basic-propagate"
T = "tensor<8x8xf32>"
A = '[{"a"}, {?}]'
SHARDED = f"{{sdy.sharding = #sdy.sharding<@m, {A}>}}"
OPEN = '[{"a", ?}, {?}]'

LOOP = f"""
  %c = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%i = %x) : {T} cond {{
    stablehlo.return %c : tensor<i1>
  }} do {{
    %1 = stablehlo.tanh %i : {T}
    stablehlo.return %1 : {T}
  }}
"""
BRANCHES = f"""
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = "stablehlo.case"(%c) ({{
    %1 = stablehlo.tanh %x : {T}
    stablehlo.return %1 : {T}
  }}, {{
    stablehlo.return %y : {T}
  }}) : (tensor<i32>) -> {T}
"""
BARRIER = f"  %0 = stablehlo.optimization_barrier %x : {T}\n"
NAMED = f"""
  %0 = sdy.named_computation<"f">(%x) (%i: {T}) {{
    %1 = stablehlo.tanh %i : {T}
    sdy.return %1 : {T}
  }} : ({T}) -> {T}
"""
MANUAL = f"""
  %0 = sdy.manual_computation(%x) in_shardings=[<@m, [{{"b", ?}}, {{?}}]>]
      out_shardings=[<@m, [{{"b", ?}}, {{?}}]>] manual_axes={{"b"}} (%i: tensor<4x8xf32>) {{
    %1 = stablehlo.tanh %i : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  }} : ({T}) -> {T}
"""


def function(body, *, argument="", result=""):
    head = f"func.func @main(%x: {T} {argument}, %y: {T}) -> ({T} {result})"
    return f"{head} {{{body}\n  return %0 : {T}\n}}"


@pytest.mark.parametrize(
    "body", [LOOP, BRANCHES, BARRIER, NAMED], ids=["while", "case", "barrier", "named"]
)
def test_forward_and_backward(outcome, body):
    found = outcome(function(body, argument=SHARDED), PASSES)
    assert found.results == [OPEN]
    assert set(found.of("sdy.data_flow_edge") + found.of("stablehlo.tanh")) == {OPEN}
    found = outcome(function(body, result=SHARDED), PASSES)
    assert found.arguments[0] == OPEN
    assert set(found.of("sdy.data_flow_edge") + found.of("stablehlo.tanh")) == {OPEN}


@pytest.mark.parametrize("body", [LOOP, BRANCHES, BARRIER], ids=["while", "case", "barrier"])
def test_nothing_passes_without_edges(outcome, body):
    found = outcome(function(body, argument=SHARDED), "sdy-basic-propagate")
    assert found.results == ["none"]


def test_all_branches_are_sources(outcome):
    found = outcome(function(BRANCHES, argument=SHARDED), PASSES)
    assert found.arguments == [A, OPEN]


def test_a_closed_source_limits_its_edge(outcome):
    body = LOOP.replace(
        "tanh %i", "tanh %i {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>}"
    )
    assert outcome(function(body, argument=SHARDED), PASSES).results == ["none"]


def test_inside_of_a_manual_computation_there_are_free_axes_only(outcome):
    sharded = '{sdy.sharding = #sdy.sharding<@m, [{"b", "a"}, {"c"}]>}'
    found = outcome(function(MANUAL, argument=sharded), PASSES)
    assert found.of("stablehlo.tanh") == ['[{"a", ?}, {"c", ?}]']
    assert found.results == ['[{"b", "a", ?}, {"c", ?}]']
    found = outcome(function(MANUAL, result=sharded), PASSES)
    assert found.of("stablehlo.tanh") == ['[{"a", ?}, {"c", ?}]']
    assert found.arguments[0] == '[{"b", "a", ?}, {"c", ?}]'


def test_manual_axes_alone_reach_the_operand(outcome):
    assert outcome(function(MANUAL), PASSES).arguments[0] == '[{"b", ?}, {?}]'


CALL = f"""
func.func @main(%x: {T} {SHARDED}, %y: {T}) -> ({T}, {T}) {{
  %0 = call @f(%x) : ({T}) -> {T}
  %1 = call @f(%y) : ({T}) -> {T}
  return %0, %1 : {T}, {T}
}}
func.func private @f(%x: {T}) -> {T} {{
  %0 = stablehlo.tanh %x : {T}
  return %0 : {T}
}}"""


def test_calls_share_their_function(outcome):
    found = outcome(CALL, "sdy-add-func-data-flow-edges,sdy-basic-propagate")
    assert found.arguments == [A, OPEN]
    assert found.results == [OPEN, OPEN]
    assert found.of("stablehlo.tanh") == [OPEN]


def test_arguments_of_reducers_hold_no_shardings(outcome):
    body = f"""
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %c) across dimensions = [1] : ({T}, tensor<f32>) -> tensor<8xf32>
    reducer(%p: tensor<f32>, %q: tensor<f32>) {{
      %2 = stablehlo.add %p, %q {{sdy.sharding = #sdy.sharding_per_value<[<@m, []>]>}} : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }}
  %0 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> {T}"""
    found = outcome(function(body, argument=SHARDED), "sdy-aggressive-propagate")
    assert found.of("stablehlo.reduce") == ['[{"a", ?}]']


@pytest.mark.parametrize(
    ("direction", "argument", "result"),
    [("FORWARD", "none", OPEN), ("BACKWARD", OPEN, "none"), ("NONE", "none", "none")],
)
def test_barriers_have_a_direction(outcome, direction, argument, result):
    body = f"  %0 = sdy.propagation_barrier %x allowed_direction={direction} : {T}"
    assert outcome(function(body, argument=SHARDED), PASSES).results == [result]
    assert outcome(function(body, result=SHARDED), PASSES).arguments[0] == argument
