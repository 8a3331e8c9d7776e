# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named computations without shardings of their own are sharded like the operations around them."""

import pytest
from auto_programs import HARDWARE, assert_correct

import pyshardy as sdy

MATRIX = "tensor<32x32xf32>"
PROGRAM = f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: {MATRIX}, %w: {MATRIX}) -> {MATRIX} {{
  %two = stablehlo.constant dense<2.0> : {MATRIX}
  %0 = sdy.named_computation<"layer">(%a, %w, %two) IN OUT
      (%h: {MATRIX}, %v: {MATRIX}, %c: {MATRIX}) {{
    %1 = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0]
      : ({MATRIX}, {MATRIX}) -> {MATRIX}
    %2 = stablehlo.multiply %1, %c : {MATRIX}
    sdy.return %2 : {MATRIX}
  }} : ({MATRIX}, {MATRIX}, {MATRIX}) -> {MATRIX}
  %3 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0]
    : ({MATRIX}, {MATRIX}) -> {MATRIX}
  return %3 : {MATRIX}
}}
"""
OPEN, COLUMNS = "<@mesh, [{}, {}]>", '<@mesh, [{}, {"x"}]>'


@pytest.mark.parametrize("given_in", ["", f"in_shardings=[{OPEN}, {COLUMNS}, {OPEN}]"])
@pytest.mark.parametrize("given_out", ["", f"out_shardings=[{COLUMNS}]"])
def test_missing_shardings_are_chosen(given_in, given_out):
    text = PROGRAM.replace("IN", given_in).replace("OUT", given_out)
    plan = sdy.auto_shard(sdy.parse(text), hardware=HARDWARE)
    (line,) = (line for line in sdy.asm(plan.module).splitlines() if "named_computation" in line)
    assert "in_shardings=" in line
    assert "out_shardings=" in line
    assert f"in_shardings=[{OPEN}, {COLUMNS}, {OPEN}]" in line or not given_in
    assert f"out_shardings=[{COLUMNS}]" in line or not given_out
    check = plan.check()
    assert sum(check.counted.values()) <= sum(check.predicted.values()), check
    assert_correct(plan)


def test_they_cost_what_their_operations_cost():
    computation = sdy.auto_shard(
        sdy.parse(PROGRAM.replace("IN", "").replace("OUT", "")), hardware=HARDWARE
    )
    flat = f"""
        sdy.mesh @mesh = <["x"=2, "y"=4]>
        func.func @main(%a: {MATRIX}, %w: {MATRIX}) -> {MATRIX} {{
          %two = stablehlo.constant dense<2.0> : {MATRIX}
          %1 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0]
            : ({MATRIX}, {MATRIX}) -> {MATRIX}
          %2 = stablehlo.multiply %1, %two : {MATRIX}
          %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0]
            : ({MATRIX}, {MATRIX}) -> {MATRIX}
          return %3 : {MATRIX}
        }}"""
    plan = sdy.auto_shard(sdy.parse(flat), hardware=HARDWARE)
    # Nothing is fused across the border of the computation.
    assert plan.cost <= computation.cost < 1.05 * plan.cost
