# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which functions compute the same."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from pyshardy.irtools.functions import CallGraph
from pyshardy.passes.exporting.unflatten_call_graph import body_numbers

T = "tensor<8xf32>"
MESH = '#sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>'
NEGATE = f"%0 = stablehlo.negate %a : {T}"


@pytest.fixture(scope="module")
def context() -> Context:
    return Context()


def function(name: str, body: str, result: str = "%0") -> str:
    return (
        f"func.func private @{name}(%a: {T}, %b: {T}) -> {T} {{\n{body}\n"
        f"func.return {result} : {T}\n}}"
    )


def are_same(context: Context, first: str, second: str, *others: str) -> bool:
    texts = [function("first", first), function("second", second), *others]
    module = parse("\n".join(texts), context)
    numbers = body_numbers(CallGraph(module), ["first", "second"])
    return numbers["first"] == numbers["second"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NEGATE, NEGATE),
        (NEGATE, f"%0 = stablehlo.negate %a {{sdy.sharding = {MESH}}} : {T}"),
        (
            f'%0 = sdy.sharding_constraint %a <mesh<["x"=2]>, [{{"x"}}]> : {T}',
            f'%0 = sdy.sharding_constraint %a <mesh<["x"=2]>, [{{}}]> : {T}',
        ),
    ],
)
def test_same(context, first, second):
    assert are_same(context, first, second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (NEGATE, f"%0 = stablehlo.abs %a : {T}"),
        (NEGATE, f"%0 = stablehlo.negate %b : {T}"),
        (NEGATE, f"%0 = stablehlo.negate %a {{tag}} : {T}"),
        (NEGATE, f"{NEGATE}\n%1 = stablehlo.negate %0 : {T}"),
        (
            f"%0 = sdy.constant dense<1.0> : {T}",
            f"%0 = sdy.constant dense<2.0> : {T}",
        ),
        (f"%0 = stablehlo.subtract %a, %b : {T}", f"%0 = stablehlo.subtract %b, %a : {T}"),
        (NEGATE, f"%0 = func.call @second(%a, %b) : ({T}, {T}) -> {T}"),
    ],
)
def test_different(context, first, second):
    assert not are_same(context, first, second)


def test_manual_axes_count_and_free_ones_do_not(context):
    def computation(in_axes: str, manual: str = "x") -> str:
        sharding = f'<mesh<["x"=2, "y"=2]>, [{{{in_axes}}}]>'
        return (
            f"%0 = sdy.manual_computation(%a) in_shardings=[{sharding}] "
            f'out_shardings=[{sharding}] manual_axes={{"{manual}"}} (%c: tensor<4xf32>) {{\n'
            f"sdy.return %c : tensor<4xf32>\n}} : ({T}) -> {T}"
        )

    assert are_same(context, computation('"x"'), computation('"x", "y"'))
    assert not are_same(context, computation('"x"'), computation('"y"', "y"))


def test_what_is_called_counts_not_its_name(context):
    def call(name: str) -> str:
        return f"%0 = func.call @{name}(%a, %b) : ({T}, {T}) -> {T}"

    others = [
        function("f", NEGATE),
        function("f_0", NEGATE),
        function("g", f"%0 = stablehlo.abs %a : {T}"),
    ]
    assert are_same(context, call("f"), call("f_0"), *others)
    assert not are_same(context, call("f"), call("g"), *others)


def test_long_chains_of_calls(context):
    depth = 2_000
    chain = [
        function(f"f{index}", f"%0 = func.call @f{index + 1}(%a, %b) : ({T}, {T}) -> {T}")
        for index in range(depth)
    ]
    module = parse("\n".join([*chain, function(f"f{depth}", NEGATE)]), context)
    assert len(set(body_numbers(CallGraph(module), ["f0"]).values())) == depth + 1
