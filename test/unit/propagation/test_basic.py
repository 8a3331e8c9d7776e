# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The basic strategy: the examples that describe it."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import PassError
from mlir_sdy.dialect import Context
from mlir_sdy.model import AxisRef
from pyshardy.passes.propagating import basic_propagate
from pyshardy.propagation.basic import combine
from pyshardy.propagation.debugging.explanation import Propagation
from pyshardy.propagation.driver import (
    STRATEGIES,
    Hierarchy,
    PropagationSettings,
    propagate,
)

A, B, C, D = (AxisRef(name) for name in "abcd")
A1, A2 = AxisRef.sub("a", 1, 2), AxisRef.sub("a", 1, 4)


@pytest.fixture(scope="module")
def context():
    return Context()


@pytest.mark.parametrize(
    ("lists", "expected"),
    [
        ([(A,), (A, B)], (A, B)),
        ([(A, B), (A, C)], (A,)),
        ([(A,), (), (A, B, C), (A, B, D)], (A, B)),
        ([(A1,), (A2,)], (A2,)),
        ([(A1, B), (A2,)], (A1,)),
        ([(A2,), (A1, B)], (A1,)),
        ([(B,), (A,)], ()),
    ],
)
def test_combine(lists, expected):
    result, can_expand = (), True
    for axes in lists:
        result, can_expand = combine(result, axes, can_expand)
    assert result == expected


def test_combine_without_expanding():
    assert combine((), (A,), False) == ((), False)
    assert combine((A,), (A, B), False) == ((A,), False)
    assert combine((A1,), (A2,), False) == ((A1,), False)


def propagated(context, body: str, arguments: str, result: str) -> str:
    module = parse(
        f"""
        sdy.mesh @m = <["a"=2, "b"=2, "c"=4, "p"=8]>
        func.func @main({arguments}) -> {result} {{
          {body}
          return %0 : {result}
        }}
        """,
        context,
    )
    basic_propagate(module)
    return asm(module)


def argument(name: str, shape: str, sharding: str) -> str:
    return f"%{name}: tensor<{shape}xf32> {{sdy.sharding = #sdy.sharding<@m, {sharding}>}}"


T = "tensor<8x8xf32>"
ADD = f"%0 = stablehlo.add %x, %y : {T}"
DOT = f"%0 = stablehlo.dot %x, %y : ({T}, {T}) -> {T}"


def test_replicated_axes_bar_an_axis_for_all(context):
    x = argument("x", "8x8", '[{"a", "b"}, {?}]')
    y = argument("y", "8x8", '[{?}, {?}], replicated={"b"}')
    text = propagated(context, ADD, f"{x}, {y}", T)
    assert '[{"a", "b"}, {?}]' in text
    assert '[{"a", ?}, {?}], replicated={"b"}' in text
    assert '[<@m, [{"a", ?}, {?}]>]' in text


def test_conflicting_factors_get_nothing(context):
    x = argument("x", "8x8", '[{"a"}, {?}]')
    y = argument("y", "8x8", '[{?}, {"a"}]')
    assert "sharding_per_value" not in propagated(context, DOT, f"{x}, {y}", T)


@pytest.mark.parametrize(
    ("operand", "sharding", "result", "expected"),
    [
        ("24", '[{"p", ?}]', "6x4", '[{"p":(1)2, ?}, {?}]'),
        ("4x6", '[{"p"}, {?}]', "24", '[{"p":(1)4, ?}]'),
    ],
)
def test_reshape(context, operand, sharding, result, expected):
    x, result_type = argument("x", operand, sharding), f"tensor<{result}xf32>"
    body = f"%0 = stablehlo.reshape %x : (tensor<{operand}xf32>) -> {result_type}"
    text = propagated(context, body, x, result_type)
    assert f"#sdy.sharding_per_value<[<@m, {expected}>]>" in text


def test_minor_most_factors_take_axes_that_do_not_divide(context):
    body = "%0 = stablehlo.negate %x : tensor<5xf32>"
    text = propagated(context, body, argument("x", "5", '[{"p"}]'), "tensor<5xf32>")
    assert '#sdy.sharding_per_value<[<@m, [{"p", ?}]>]>' in text


def test_record(context):
    x = argument("x", "8x8", '[{"a"}, {}]')
    module = parse(
        f"""
        sdy.mesh @m = <["a"=2]>
        func.func @main({x}, %y: {T}) -> {T} {{
          %0 = stablehlo.add %x, %y : {T}
          %1 = stablehlo.negate %0 : {T}
          %2 = stablehlo.abs %1 : {T}
          return %0 : {T}
        }}
        """,
        context,
    )
    record = Propagation()
    propagate(module, Hierarchy(STRATEGIES["basic"]), PropagationSettings(), [record])
    step = record[0]
    assert step.name == "stablehlo.add"
    assert [(flow.factor, flow.source, flow.target) for flow in step.flows] == [
        (0, 0, 1),
        (0, 0, 2),
    ]
    dead = next(step for step in record if step.name == "stablehlo.negate")
    assert dead.location is not None
    assert "stablehlo.negate" not in asm(module)
    assert [step.name for step in record][-1] == "func.func"
    assert len(record) == len(list(record))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {\n"
            "  %0 = stablehlo.negate %a : tensor<?xf32>\n  return %0 : tensor<?xf32>\n}",
            r"t.mlir:2:8: error: Shardy propagation only supports ranked tensors with a static "
            r"shape. type: 'tensor<\?xf32>'",
        ),
        (
            "func.func @f(%a: tensor<2xf32>) {\n"
            "  %0 = stablehlo.tuple %a : tuple<tensor<2xf32>>\n  return\n}",
            "propagation doesn't support tuples: 'tuple<tensor<2xf32>>'",
        ),
        (
            "func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}",
            "must have one called 'main'",
        ),
    ],
)
def test_unsupported(context, text, message):
    with pytest.raises(PassError, match=message):
        basic_propagate(parse(text, context, "t.mlir"))


def test_module_without_functions(context):
    record = Propagation()
    module = parse('sdy.mesh @m = <["a"=2]>', context)
    propagate(module, Hierarchy(STRATEGIES["basic"]), PropagationSettings(), [record])
    assert len(record) == 0
