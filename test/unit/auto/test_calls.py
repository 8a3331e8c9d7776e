# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls: the arguments of inlined functions are the operands, and share their reshards."""

import pytest
from auto_programs import HARDWARE, assert_correct

import pyshardy as sdy


def sharding(*dims):
    """Return the attribute of a closed sharding."""
    return f"#sdy.sharding<@mesh, [{', '.join(dims)}]>"


COLUMNS, ROWS = sharding("{}", '{"x", "y"}'), sharding('{"x", "y"}', "{}")

PADDED = f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<128x16xf32> {{sdy.sharding = {COLUMNS}}})
    -> (tensor<130x18xf32> {{sdy.sharding = {sharding('{"x"}', "{}")}}},
        tensor<512x4xf32> {{sdy.sharding = {ROWS}}}) {{
  %0 = call @pad(%a) : (tensor<128x16xf32>) -> tensor<130x18xf32>
  %1 = stablehlo.reshape %a : (tensor<128x16xf32>) -> tensor<512x4xf32>
  return %0, %1 : tensor<130x18xf32>, tensor<512x4xf32>
}}
func.func private @pad(%a: tensor<128x16xf32>) -> tensor<130x18xf32> ATTRIBUTES {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %a, %z, low = [1, 0], high = [1, 2], interior = [0, 0]
    : (tensor<128x16xf32>, tensor<f32>) -> tensor<130x18xf32>
  return %0 : tensor<130x18xf32>
}}
"""
"""A function whose argument another operation uses as well."""

MATRIX = "tensor<32x32xf32>"

LOOP = f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%w: {MATRIX} {{sdy.sharding = {ROWS}}}, %x: {MATRIX} {{sdy.sharding = {ROWS}}})
    -> {MATRIX} {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %h = %x) : tensor<i32>, {MATRIX}
  cond {{
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }} do {{
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %p = func.call @layer(%h, %w) : ({MATRIX}, {MATRIX}) -> {MATRIX}
    stablehlo.return %next, %p : tensor<i32>, {MATRIX}
  }}
  %1 = stablehlo.dot_general %0#1, %w, contracting_dims = [1] x [0]
    : ({MATRIX}, {MATRIX}) -> {MATRIX}
  return %1 : {MATRIX}
}}
func.func private @layer(%h: {MATRIX}, %w: {MATRIX}) -> {MATRIX} ATTRIBUTES {{
  %0 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0]
    : ({MATRIX}, {MATRIX}) -> {MATRIX}
  %1 = stablehlo.tanh %0 : {MATRIX}
  return %1 : {MATRIX}
}}
"""
"""A loop whose function takes a weight from outside; a later product uses it as well."""


def plan_of(text, attributes=""):
    return sdy.auto_shard(sdy.parse(text.replace("ATTRIBUTES", attributes)), hardware=HARDWARE)


@pytest.mark.parametrize("attributes", ["", "attributes {no_inline}"])
@pytest.mark.parametrize("text", [PADDED, LOOP], ids=["padded", "loop"])
def test_reshards_around_calls_are_predicted(text, attributes):
    """No more is sent than predicted, whether the partitioner inlines the call or not."""
    plan = plan_of(text, attributes)
    check = plan.check()
    assert 0 < sum(check.counted.values()) <= sum(check.predicted.values()), check
    assert_correct(plan)
