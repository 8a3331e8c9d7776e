# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharding rules against those that C++ Shardy has for the same operations."""

import random

import pytest
from programs import ProgramWriter, random_reshape, random_shape, tensor
from shardy import Shardy

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import collect
from mlir_sdy.dialect import Context
from pyshardy.pipeline import run_pipeline
from pyshardy.rules.families.pointwise import POINTWISE_CUSTOM_CALLS

POPULATE = "sdy-populate-op-sharding-rules"


def compare(shardy: Shardy, context: Context, text: str) -> None:
    module = parse(text, context)
    expected = shardy.run(asm(module), f"builtin.module(func.func({POPULATE}))")
    with collect():
        run_pipeline(module, POPULATE)
    for own, theirs in zip(
        asm(module).splitlines(), asm(parse(expected, context)).splitlines(), strict=True
    ):
        assert own == theirs


@pytest.mark.parametrize("seed", range(20))
def test_random_operations(shardy, context, seed):
    writer = ProgramWriter(random.Random(seed), None)
    compare(shardy, context, writer.function("main", 60))


@pytest.mark.parametrize("seed", range(8))
def test_reshapes(shardy, context, seed):
    rng = random.Random(seed)
    lines: list[str] = []
    for index in range(100):
        shape = random_shape(rng, 4)
        result = random_reshape(rng, shape)
        lines.append(f"func.func @f{index}(%a: {tensor(shape)}) -> {tensor(result)} {{")
        lines.append(f"  %0 = stablehlo.reshape %a : ({tensor(shape)}) -> {tensor(result)}")
        lines.append(f"  return %0 : {tensor(result)}")
        lines.append("}")
    compare(shardy, context, "\n".join(lines))


FLOAT_UNARY = [
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "exponential",
    "exponential_minus_one",
    "floor",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
]
FLOAT_BINARY = [
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "subtract",
]
INTEGER_BINARY = ["and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"]


def test_pointwise_operations(shardy, context):
    types = {"f": "tensor<4x6xf32>", "i": "tensor<4x6xi32>", "c": "tensor<4x6xcomplex<f32>>"}
    lines = [
        f"func.func @f(%f: {types['f']}, %i: {types['i']}, %c: {types['c']},"
        " %s: tensor<f32>, %p: tensor<i1>, %e: tensor<0x3xf32>, %v: tensor<6xf32>) {",
        *(f"  %{name} = stablehlo.{name} %f : {types['f']}" for name in FLOAT_UNARY),
        *(f"  %{name} = stablehlo.{name} %f, %f : {types['f']}" for name in FLOAT_BINARY),
        *(f"  %{name} = stablehlo.{name} %i, %i : {types['i']}" for name in INTEGER_BINARY),
        f"  %not = stablehlo.not %i : {types['i']}",
        f"  %popcnt = stablehlo.popcnt %i : {types['i']}",
        f"  %clz = stablehlo.count_leading_zeros %i : {types['i']}",
        f"  %convert = stablehlo.convert %i : ({types['i']}) -> {types['f']}",
        f"  %real = stablehlo.real %c : ({types['c']}) -> {types['f']}",
        f"  %imag = stablehlo.imag %c : ({types['c']}) -> {types['f']}",
        f"  %complex = stablehlo.complex %f, %f : {types['c']}",
        f"  %finite = stablehlo.is_finite %f : ({types['f']}) -> tensor<4x6xi1>",
        f"  %compare = stablehlo.compare LT, %f, %f : ({types['f']}, {types['f']})"
        " -> tensor<4x6xi1>",
        f"  %precision = stablehlo.reduce_precision %f, format = e5m10 : {types['f']}",
        f"  %clamp = stablehlo.clamp %s, %f, %s : (tensor<f32>, {types['f']}, tensor<f32>)"
        f" -> {types['f']}",
        f"  %select = stablehlo.select %p, %f, %f : tensor<i1>, {types['f']}",
        "  %scalar = stablehlo.add %s, %s : tensor<f32>",
        "  %empty = stablehlo.reshape %e : (tensor<0x3xf32>) -> tensor<3x0xf32>",
        "  %iota = stablehlo.iota dim = 0 : tensor<4xf32>",
        "  %token = stablehlo.create_token : !stablehlo.token",
        "  %all = stablehlo.after_all %token : !stablehlo.token",
        "  %vm = stablehlo.dot %v, %m : (tensor<6xf32>, tensor<6x4xf32>) -> tensor<4xf32>",
        "  return",
        "}",
    ]
    text = "\n".join(lines).replace("%v: tensor<6xf32>)", "%v: tensor<6xf32>, %m: tensor<6x4xf32>)")
    compare(shardy, context, text)


DOTS = (("6", "6", ""), ("6", "6x4", "4"), ("4x6", "6", "4"), ("4x6", "6x8", "4x8"))


@pytest.mark.parametrize(("lhs", "rhs", "result"), DOTS)
def test_dot(shardy, context, lhs, rhs, result):
    types = [f"tensor<{shape}{'x' if shape else ''}f32>" for shape in (lhs, rhs, result)]
    compare(
        shardy,
        context,
        f"func.func @f(%a: {types[0]}, %b: {types[1]}) -> {types[2]} {{\n"
        f"  %0 = stablehlo.dot %a, %b : ({types[0]}, {types[1]}) -> {types[2]}\n"
        f"  return %0 : {types[2]}\n}}",
    )


def test_reduce_of_several_inputs(shardy, context):
    compare(
        shardy,
        context,
        """
        func.func @f(%a: tensor<4x6x8xf32>, %b: tensor<4x6x8xi32>, %x: tensor<f32>, %y: tensor<i32>)
            -> (tensor<4x8xf32>, tensor<4x8xi32>) {
          %0:2 = stablehlo.reduce(%a init: %x), (%b init: %y) across dimensions = [1]
              : (tensor<4x6x8xf32>, tensor<4x6x8xi32>, tensor<f32>, tensor<i32>)
              -> (tensor<4x8xf32>, tensor<4x8xi32>)
              reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<i32>, %s: tensor<i32>) {
            %1 = stablehlo.add %p, %q : tensor<f32>
            %2 = stablehlo.add %r, %s : tensor<i32>
            stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
          }
          return %0#0, %0#1 : tensor<4x8xf32>, tensor<4x8xi32>
        }
        """,
    )


def test_custom_calls(shardy, context):
    targets = (*POINTWISE_CUSTOM_CALLS, "sdy_testonly", "tpu_custom_call", "unheard_of")
    lines = [
        f'  %{index} = stablehlo.custom_call @"{target}"(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>'
        for index, target in enumerate(targets)
    ]
    text = "\n".join(["func.func @f(%a: tensor<4x6xf32>) {", *lines, "  return", "}"])
    compare(shardy, context, text)
