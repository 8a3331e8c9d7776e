# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows that select among infinities, NaN and signed zeros, with padding on other shards."""

import random

import numpy as np

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

SEEDS = 16
CONTENTS = (
    [-np.inf, -np.inf, np.nan, 1.0],
    [np.inf, np.inf, np.nan, 0.0],
    [0.0, -0.0, -0.0, -1.0],
    [-np.inf, np.inf, np.nan, -0.0],
)


def random_dim(rng):
    """A size, a window, a stride, padding before and after, and the number of windows."""
    size, window, stride = 4 * rng.randint(4, 13), rng.randint(2, 4), rng.randint(1, 3)
    low, high = rng.randint(0, window - 1), rng.randint(0, window - 1)
    return size, window, stride, low, high, (size + low + high - window) // stride + 1


def program(rng):
    dims = [random_dim(rng) for _ in range(rng.choice([1, 2]))]
    sizes, windows, strides, lows, highs, counts = zip(*dims, strict=True)
    padding = [list(pair) for pair in zip(lows, highs, strict=True)]
    operand, source = ("x".join([*map(str, each), "f32"]) for each in (sizes, counts))
    axes = rng.choice([['"x"', '"y"'], ['"y"', ""], ['"x", "y"', ""]])[: len(dims)]
    sharding = f"<@mesh, [{', '.join(f'{{{names}}}' for names in axes)}]>"
    shard = f"{{sdy.sharding = #sdy.sharding{sharding}}}"
    arguments = rng.choice(["%p, %q", "%q, %p"])
    return f"""
      sdy.mesh @mesh = <["x"=2, "y"=4]>
      func.func @main(%a: tensor<{operand}> {shard}, %b: tensor<{source}> {shard})
          -> (tensor<{operand}> {shard}) {{
        %i = stablehlo.constant dense<0.0> : tensor<f32>
        %r = "stablehlo.select_and_scatter"(%a, %b, %i) ({{
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %s = stablehlo.compare {rng.choice(["GE", "GT", "LE", "LT", "NE"])}, {arguments}
              : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %s : tensor<i1>
        }}, {{
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            %s = stablehlo.add %p, %q : tensor<f32>
            stablehlo.return %s : tensor<f32>
        }}) {{
          window_dimensions = array<i64: {", ".join(map(str, windows))}>,
          window_strides = array<i64: {", ".join(map(str, strides))}>,
          padding = dense<{padding}> : tensor<{len(dims)}x2xi64>,
          sdy.sharding = #sdy.sharding_per_value<[{sharding}]>
        }} : (tensor<{operand}>, tensor<{source}>, tensor<f32>) -> tensor<{operand}>
        return %r : tensor<{operand}>
      }}"""


def test_a_window_selects_an_element_and_never_the_padding(context):
    exchanges = 0
    for seed in range(SEEDS):
        rng, generator = random.Random(seed), np.random.default_rng(seed)
        module = sdy.parse(program(rng), context)
        partitioned = sdy.partition(module)
        operand, source = (port.spec.shape for port in partitioned.inputs)
        inputs = [
            generator.choice(np.array(CONTENTS[seed % 4]), operand).astype(np.float32),
            generator.integers(1, 9, source).astype(np.float32),
        ]
        expected = run_unpartitioned(module, inputs, "interpreter")
        np.testing.assert_array_equal(partitioned.run(inputs, "interpreter"), expected, str(module))
        exchanges += "collective_permute" in str(partitioned.module)
    assert exchanges > SEEDS / 4
