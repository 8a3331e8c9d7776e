# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches and loops that use values from outside, and communicate, on XLA."""

import functools
import random

import jax
import jax_devices  # noqa: F401 (before JAX looks for devices)
import numpy as np
import pytest
from case_counts import cases
from jax import lax
from jax import numpy as jnp

import pyshardy as sdy

MESH = sdy.Mesh.of({"x": 4, "y": 2})

# XLA ended its process ("Check failed: !IsManualLeaf() && !IsUnknownLeaf()"): its reader replaces
# the second transpose by a reshape, without the mark of the transpose.
CAPTURED_TRANSPOSE = """
sdy.mesh @m = <["x"=4, "y"=2]>
func.func @main(%a: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {"x"}]>},
                %b: tensor<4x2xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0]
    {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"y"}, {"x":(2)2, ?}]>]>}
    : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %3 = "stablehlo.case"(%i) ({
    %5 = stablehlo.slice %b [0:1, 0:2] : (tensor<4x2xf32>) -> tensor<1x2xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x2xf32>) -> tensor<2xf32>
    stablehlo.return %6 : tensor<2xf32>
  }, {
    %m = stablehlo.multiply %1, %b : tensor<4x2xf32>
    %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %4 = stablehlo.reduce(%m init: %c) applies stablehlo.maximum across dimensions = [0]
      : (tensor<4x2xf32>, tensor<f32>) -> tensor<2xf32>
    stablehlo.return %4 : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}
"""


@pytest.mark.parametrize("how", ["interpreter", "jit", "xla", "as_jax"])
@pytest.mark.parametrize("index", [0, 1])
def test_a_captured_transpose(context, index, how):
    module = sdy.parse(CAPTURED_TRANSPOSE, context)
    sdy.propagate(module)
    program = sdy.partition(module)
    a = np.arange(8, dtype=np.float32).reshape(4, 2)
    inputs = a, a - 3, np.int32(index)
    expected = (a * (a - 3)).max(0) if index else a[0] - 3
    (found,) = program.as_jax()(*inputs) if how == "as_jax" else program.run(inputs, how)
    np.testing.assert_allclose(found, expected)


STEPS = (
    lambda v: v.T,
    lambda v: v.reshape(v.shape[::-1]),
    jnp.tanh,
    lambda v: v + v.sum(0, keepdims=True),
    lambda v: v - v.max(1, keepdims=True),
    lambda v: v[::-1],
    lambda v: jnp.concatenate([v[1:], v[:1]]),
    lambda v: v + jnp.arange(v.shape[1], dtype=v.dtype),
    lambda v: v @ (v.T @ v) / 100,
)


class RandomBranches:
    """A function with branches or loops, and shardings of its arguments."""

    def __init__(self, seed):
        choose = random.Random(seed)
        self.shape = choose.choice([1, 2, 4, 8]), choose.choice([1, 2, 4, 8])
        self.kind = choose.choice(["switch", "cond", "loop", "nested"])
        self.chains = [
            [choose.choice(STEPS) for _ in range(choose.randint(0, 2))] for _ in range(7)
        ]
        self.shardings = [self.sharding(choose) for _ in range(2)]

    def sharding(self, choose):
        dims = [[], []]
        for axis in ("x", "y"):
            dims[choose.randint(0, 1)].append(f'"{axis}"')
        return sdy.sharding("<@mesh, [{{{}}}, {{{}}}]>".format(*map(", ".join, dims)))

    def chain(self, number, value):
        return functools.reduce(lambda v, step: step(v), self.chains[number], value).reshape(
            self.shape
        )

    def __call__(self, a, b, index):
        captured, state = self.chain(0, a), self.chain(1, b)

        def branch(number):
            return lambda v: self.chain(number, captured) + self.chain(number + 1, v)

        def either(condition, v):
            return lax.cond(condition, branch(2), branch(4), v)

        match self.kind:
            case "switch":
                state = lax.switch(index, [branch(2), branch(3), branch(4)], state)
            case "cond":
                state = either(index > 0, state)
            case "loop":
                state = lax.fori_loop(0, index + 2, lambda k, c: jnp.tanh(either(k > 0, c)), state)
            case "nested":
                state = lax.cond(
                    index > 0,
                    lambda v: either(v.sum() > 0, v),
                    lambda v: lax.fori_loop(0, 2, lambda _, c: jnp.tanh(branch(3)(c)), v),
                    state,
                )
        return self.chain(6, state)


@pytest.mark.parametrize("seed", range(cases(8)))
def test_random_branches(seed):
    function = RandomBranches(seed)
    values = np.random.default_rng(seed).standard_normal((2, *function.shape)).astype(np.float32)
    inputs = *values, np.int32(seed % 2)
    module = sdy.jax.trace(function, *inputs, mesh=MESH, in_shardings=(*function.shardings, None))
    sdy.propagate(module)
    program = sdy.partition(module)
    expected = jax.jit(function)(*inputs)
    for found in (program.run(inputs, "xla")[0], program.as_jax()(*inputs)):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
