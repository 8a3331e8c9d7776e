# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings that are left of an argument's that was dropped add no communication."""

import random

import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

SIZE, WIDTH = 9, 4
T = f"tensor<{SIZE}x{WIDTH}xf32>"
ARGUMENT = f'%a: {T} {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}'


def program(rng):
    """Some operations on an argument that 4 devices can't share evenly."""
    lines, values = [], ["%a"]
    for index in range(rng.randrange(1, 7)):
        value, other = rng.choice(values), rng.choice(values)
        operation = rng.choice(
            [
                f"stablehlo.negate {value} : {T}",
                f"stablehlo.add {value}, {other} : {T}",
                f"stablehlo.multiply {value}, {other} : {T}",
                f"stablehlo.dot_general {value}, %w, contracting_dims = [1] x [0] "
                f": ({T}, tensor<{WIDTH}x{WIDTH}xf32>) -> {T}",
                f"stablehlo.reverse {value}, dims = [0] : {T}",
            ]
        )
        lines.append(f"  %{index} = {operation}")
        values.append(f"%{index}")
    return f"""
sdy.mesh @mesh = <["x"=4]>
func.func @main({ARGUMENT}, %w: tensor<{WIDTH}x{WIDTH}xf32>) -> ({T}, tensor<{SIZE}xf32>) {{
  %z = stablehlo.constant dense<0.0> : tensor<f32>
{chr(10).join(lines)}
  %s = stablehlo.reduce({values[-1]} init: %z) applies stablehlo.add across dimensions = [1]
    : ({T}, tensor<f32>) -> tensor<{SIZE}xf32>
  return {values[-1]}, %s : {T}, tensor<{SIZE}xf32>
}}"""


@pytest.mark.parametrize("seed", range(cases(8)))
def test_nothing_is_sent(seed):
    module = sdy.parse(program(random.Random(seed)), sdy.Context())
    sdy.propagate(module)
    made = sdy.partition(module)
    assert not made.collectives
    numbers = np.random.default_rng(seed)
    inputs = [numbers.uniform(-1, 1, port.spec.shape).astype("f4") for port in made.inputs]
    for found, wanted in zip(made.run(inputs), run_unpartitioned(module, inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


def kept(body, *, size=9):
    """The uneven dimension of 3 shards stays sharded in a program: something is sent for it."""
    module = sdy.parse(
        f"""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<{size}x4xf32>) -> tensor<{size}x4xf32> {{
          {body}
        }}""".replace("!t", f"tensor<{size}x4xf32>"),
        sdy.Context(),
    )
    sdy.propagate(module)
    return bool(sdy.partition(module).collectives)


def test_what_the_user_asks_for_stays():
    """A constraint makes the devices share the work, also if the result is gathered."""
    assert kept(
        """
        %0 = sdy.sharding_constraint %a <@mesh, [{"x"}, {}]> : !t
        %1 = stablehlo.tanh %0 : !t
        return %1 : !t"""
    )


def test_much_work_is_shared():
    sharding = '{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}'
    product = f"""
        %w = stablehlo.constant dense<1.0> : tensor<4x20000xf32>
        %v = stablehlo.constant dense<1.0> : tensor<20000x4xf32>
        %0 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] {sharding}
          : (!t, tensor<4x20000xf32>) -> tensor<SIZEx20000xf32>
        %1 = stablehlo.dot_general %0, %v, contracting_dims = [1] x [0] {sharding}
          : (tensor<SIZEx20000xf32>, tensor<20000x4xf32>) -> !t
        return %1 : !t"""
    assert kept(product.replace("SIZE", "4001"), size=4001)
