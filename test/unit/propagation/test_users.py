# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which operations are visited again after a change, and in which order."""

import pytest

from mlir_sdy.assembly import parse
from pyshardy.pipeline import run_pipeline
from pyshardy.propagation.engine import Users
from pyshardy.propagation.program import Program
from pyshardy.rules import ShardingRuleLookup


@pytest.fixture
def notified(context):
    """The names of the operations that a change of the first result of an operation wakes."""

    def find(text, name, *, index=0, edges=False):
        module = parse(text, context)
        if edges:
            run_pipeline(module, "sdy-add-data-flow-edges")
        program = Program(module, ShardingRuleLookup(quiet=True))
        maker = program.names.index(name)
        values = program.arguments[maker] if name == "func.func" else program.results[maker]
        slot = program.slots[values[index]]
        return [program.names[operation] for operation in Users(program).notified(slot)]

    return find


def function(*lines):
    return "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n" + "\n".join(lines) + "\n}"


T = "tensor<8xf32>"


def test_maker_first_then_users_last_one_first(notified):
    text = function(
        f"%0 = stablehlo.tanh %x : {T}",
        f"%1 = stablehlo.negate %0 : {T}",
        f"%2 = stablehlo.abs %0 : {T}",
        f"return %1 : {T}",
    )
    assert notified(text, "stablehlo.tanh") == [
        "stablehlo.tanh",
        "stablehlo.abs",
        "stablehlo.negate",
    ]
    assert notified(text, "func.func") == ["stablehlo.tanh"]


def test_a_value_used_twice_by_one_operation(notified):
    text = function(
        f"%0 = stablehlo.tanh %x : {T}", f"%1 = stablehlo.add %0, %0 : {T}", f"return %1 : {T}"
    )
    assert notified(text, "stablehlo.tanh") == ["stablehlo.tanh", "stablehlo.add", "stablehlo.add"]


WHILE = function(
    f"%0 = stablehlo.tanh %x : {T}",
    f"%1 = stablehlo.while(%i = %0) : {T} cond {{",
    "  %c = stablehlo.constant dense<true> : tensor<i1>",
    "  stablehlo.return %c : tensor<i1>",
    "} do {",
    f"  %2 = stablehlo.abs %i : {T}",
    f"  stablehlo.return %2 : {T}",
    "}",
    f"%3 = stablehlo.negate %1 : {T}",
    f"return %3 : {T}",
)


def test_sources_wake_the_edge(notified):
    """What the body returns as well as what is passed in."""
    assert notified(WHILE, "stablehlo.tanh", edges=True) == ["stablehlo.tanh", "sdy.data_flow_edge"]
    assert notified(WHILE, "stablehlo.abs", edges=True) == ["stablehlo.abs", "sdy.data_flow_edge"]


def test_an_edge_wakes_the_users_of_all_targets(notified):
    assert notified(WHILE, "sdy.data_flow_edge", edges=True) == [
        "stablehlo.abs",  # inside the loop
        "sdy.data_flow_edge",
        "stablehlo.negate",  # behind it
    ]


def test_without_an_edge_the_operation_itself_is_woken(notified):
    assert notified(WHILE, "stablehlo.tanh") == ["stablehlo.tanh", "stablehlo.while"]
    assert notified(WHILE, "stablehlo.abs") == ["stablehlo.abs", "stablehlo.while"]


def test_operands_of_a_computation_do_not_wake_the_edge(notified):
    text = 'sdy.mesh @m = <["a"=2]>\n' + function(
        f"%0 = stablehlo.tanh %x : {T}",
        "%1 = sdy.manual_computation(%0) in_shardings=[<@m, [{?}]>] out_shardings=[<@m, [{?}]>] "
        f"manual_axes={{}} (%i: {T}) {{",
        f"  %2 = stablehlo.abs %i : {T}",
        f"  sdy.return %2 : {T}",
        f"}} : ({T}) -> {T}",
        f"return %1 : {T}",
    )
    assert notified(text, "stablehlo.tanh", edges=True) == [
        "stablehlo.tanh",
        "sdy.manual_computation",
    ]


def test_through_calls_and_returns(notified):
    text = (
        function(
            f"%0 = stablehlo.tanh %x : {T}",
            f"%1 = call @f(%0) : ({T}) -> {T}",
            f"%2 = stablehlo.negate %1 : {T}",
            f"return %2 : {T}",
        )
        + f"\nfunc.func private @f(%x: {T}) -> {T} {{\n"
        f"  %0 = stablehlo.abs %x : {T}\n  return %0 : {T}\n}}"
    )
    assert notified(text, "stablehlo.tanh") == ["stablehlo.tanh", "stablehlo.abs"]
    assert notified(text, "stablehlo.abs") == ["stablehlo.abs", "stablehlo.negate"]


def test_a_function_that_calls_itself(notified):
    text = function(f"%0 = call @main(%x) : ({T}) -> {T}", f"return %0 : {T}")
    assert notified(text, "func.func") == []
