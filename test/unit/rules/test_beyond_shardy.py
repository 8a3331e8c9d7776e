# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for operations that C++ Shardy has none for."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from pyshardy.rules import ShardingRuleLookup, compatible_rules

VALUE = "tensor<4x6xf32>"
IDENTITY = "<([i, j])->([i, j]) {i=4, j=6}>"


@pytest.fixture(scope="module")
def context():
    return Context()


def rules_of(context, body: str, *functions: str, **options: bool) -> list[str]:
    """The rules of operations on %a, a value, %s, a scalar, and %n, two integers."""
    arguments = f"%a: {VALUE}, %s: tensor<f32>, %n: tensor<2xi32>"
    text = "\n".join([f"func.func @f({arguments}) {{", body, "return", "}", *functions])
    module = parse(text, context, "test.mlir")
    block = module.body.operations[0].operation.regions[0].blocks[0]
    lookup = ShardingRuleLookup(**options)
    return [str(lookup.rule(view.operation)) for view in block.operations]


def test_compatible_lookups_warn_as_shardy_does(context):
    body = f"%0 = chlo.erf %a : {VALUE} -> {VALUE}\n%1 = chlo.tan %a : {VALUE} -> {VALUE}"
    for enter in (False, True):
        with collect() as diagnostics:
            if enter:
                with compatible_rules():
                    rules = rules_of(context, body)
            else:
                rules = rules_of(context, body, compatible=True)
        assert rules == ["None"] * 3
        (diagnostic,) = diagnostics
        expected = "test.mlir:2:6: warning: op 'chlo.erf' is unknown to SDY sharding rule registry"
        assert str(diagnostic).startswith(expected)
    with collect() as diagnostics:
        assert rules_of(context, body) == [IDENTITY, IDENTITY, "None"]
    assert not diagnostics


def test_a_lookup_can_be_quiet_and_compatible(context):
    with collect() as diagnostics:
        rules_of(context, f"%0 = chlo.erf %a : {VALUE} -> {VALUE}", compatible=True, quiet=True)
    assert not diagnostics


BODIES = {
    "point-wise": (
        f"%0 = stablehlo.constant dense<2.0> : {VALUE}\n"
        f"%1 = stablehlo.multiply %x, %0 : {VALUE}\n"
        f"%2 = chlo.erf %1 : {VALUE} -> {VALUE}",
        IDENTITY,
    ),
    "scalars are spread": (
        f"%0 = stablehlo.constant dense<2.0> : tensor<f32>\n"
        "%1 = stablehlo.sqrt %0 : tensor<f32>\n"
        f"%s = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> {VALUE}\n"
        f"%2 = stablehlo.add %x, %s : {VALUE}",
        IDENTITY,
    ),
    "elements change places": (f"%2 = stablehlo.reverse %x, dims = [0] : {VALUE}", "None"),
    "dimensions are needed whole": (
        f"%2 = stablehlo.custom_call @X64Combine(%x, %x) : ({VALUE}, {VALUE}) -> {VALUE}",
        IDENTITY,
    ),
    "elements know their place": (f"%2 = stablehlo.iota dim = 0 : {VALUE}", "None"),
    "other shapes between": (
        f"%0 = stablehlo.transpose %x, dims = [1, 0] : ({VALUE}) -> tensor<6x4xf32>\n"
        f"%2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<6x4xf32>) -> {VALUE}",
        "None",
    ),
    "no rule": (f"%2 = stablehlo.custom_call @unheard_of(%x) : ({VALUE}) -> {VALUE}", "None"),
    "another composite": (
        f'%2 = stablehlo.composite "my.g" %x {{decomposition = @g}} : ({VALUE}) -> {VALUE}',
        "None",
    ),
    "complex numbers": (
        "%0 = stablehlo.constant dense<(2.0, 0.0)> : tensor<4x6xcomplex<f32>>\n"
        f"%2 = stablehlo.real %0 : (tensor<4x6xcomplex<f32>>) -> {VALUE}",
        IDENTITY,
    ),
    "different values": (
        "%2 = stablehlo.constant dense<"
        f"{[[row * 6 + column for column in range(6)] for row in range(4)]}> : tensor<4x6xi32>\n"
        f"%3 = stablehlo.convert %2 : (tensor<4x6xi32>) -> {VALUE}",
        "None",
    ),
}


@pytest.mark.parametrize("kind", BODIES)
def test_composite(context, kind):
    body, expected = BODIES[kind]
    result = body.splitlines()[-1].partition(" ")[0]
    function = (
        f"func.func private @g(%x: {VALUE}) -> {VALUE} {{\n{body}\nreturn {result} : {VALUE}\n}}"
    )
    call = f'%0 = stablehlo.composite "my.g" %a {{decomposition = @g}} : ({VALUE}) -> {VALUE}'
    with collect() as diagnostics:
        assert rules_of(context, call, function)[0] == expected
    assert not diagnostics


def test_dynamic_pad_passes_where_nothing_is_padded(context):
    body = f"""
        %low = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
        %high = stablehlo.constant dense<[0, -1]> : tensor<2xi32>
        %none = stablehlo.constant dense<0> : tensor<2xi32>
        %0 = stablehlo.dynamic_pad %a, %s, %low, %high, %none
            : ({VALUE}, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> {VALUE}
        %1 = stablehlo.dynamic_pad %a, %s, %n, %none, %none
            : ({VALUE}, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> {VALUE}
    """
    partly, unknown = rules_of(context, body)[3:5]
    assert partly.startswith("<([i, j], [], [l], [m], [n])->([i, k]) {i=4, j=6, k=6, ")
    assert unknown.startswith("<([i, k], [], [m], [n], [o])->([j, l]) {i=4, j=4, k=6, l=6, ")


def test_the_default_dimension_of_sort_is_the_last(context):
    body = f"""
        %0 = "stablehlo.sort"(%a) ({{
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        }}) : ({VALUE}) -> {VALUE}
    """
    assert rules_of(context, body)[0] == f"{IDENTITY[:-1]} need_replication={{j}}>"


@pytest.mark.parametrize(
    ("attributes", "operands", "result", "expected"),
    [
        # The ragged dimension is contracting: one product for each group.
        (
            "lhs_batching_dimensions = [], rhs_batching_dimensions = [], "
            "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0], "
            "lhs_ragged_dimensions = [1], rhs_group_dimensions = []",
            ["tensor<4x6xf32>", "tensor<6x5xf32>", "tensor<2xi32>"],
            "tensor<2x4x5xf32>",
            "<([k, l], [l, j], [m])->([i, k, j]) {i=2, j=5, k=4, l=6, m=2} "
            "reduction={l} need_replication={m}>",
        ),
        # Each batch has groups of its own.
        (
            "lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
            "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], "
            "lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]",
            ["tensor<3x4x6xf32>", "tensor<2x3x6x5xf32>", "tensor<3x2xi32>"],
            "tensor<3x4x5xf32>",
            "<([j, k, l], [m, j, l, i], [j, n])->([j, k, i]) {i=5, j=3, k=4, l=6, m=2, n=2} "
            "reduction={l, m} need_replication={n}>",
        ),
        # The ragged dimension is a batch: the sizes have no effect.
        (
            "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
            "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], "
            "lhs_ragged_dimensions = [0], rhs_group_dimensions = []",
            ["tensor<3x4x6xf32>", "tensor<3x6x5xf32>", "tensor<2xi32>"],
            "tensor<3x4x5xf32>",
            "<([j, k, l], [j, l, i], [m])->([j, k, i]) {i=5, j=3, k=4, l=6, m=2} reduction={l}>",
        ),
    ],
)
def test_ragged_dot(context, attributes, operands, result, expected):
    arguments = ", ".join(f"%{at}: {kind}" for at, kind in enumerate(operands))
    text = f"""
        func.func @f({arguments}) {{
          %r = "chlo.ragged_dot"(%0, %1, %2)
              <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<{attributes}>}}>
              : ({", ".join(operands)}) -> {result}
          return
        }}
    """
    module = parse(text, context)
    operation = module.body.operations[0].operation.regions[0].blocks[0].operations[0].operation
    assert str(ShardingRuleLookup().rule(operation)) == expected
