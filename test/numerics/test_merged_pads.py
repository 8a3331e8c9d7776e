# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pads and slices of each other's results are merged, and operands without elements dropped."""

import random

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import run_unpartitioned

SEEDS = 60


class Chain:
    """Random pads and slices of the last value, or of an earlier value."""

    def __init__(self, rng):
        self.rng = rng
        self.lines = []
        self.values = [("%a", (12, 6))]
        for index in range(rng.choice([2, 2, 3, 4])):
            source, shape = self.values[-1] if rng.random() < 0.8 else rng.choice(self.values)
            self.add(f"%v{index}", source, shape)

    def add(self, name, source, shape):
        rng = self.rng
        if rng.random() < 0.5:
            starts = [rng.choice([0, 0, 1, 3]) for _ in shape]
            ends = [size - rng.choice([0, 0, 1, 2]) for size in shape]
            steps = [rng.choice([1, 1, 2]) for _ in shape]
            columns = list(zip(starts, ends, steps, strict=True))
            after = tuple(-(-(end - start) // step) for start, end, step in columns)
            bounds = ", ".join(f"{start}:{end}:{step}" for start, end, step in columns)
            text, operands = f"stablehlo.slice {source} [{bounds}]", ""
        else:
            low, high = ([rng.choice([-1, 0, 0, 1, 5]) for _ in shape] for _ in range(2))
            interior = [rng.choice([0, 0, 0, 1]) for _ in shape]
            after = tuple(
                before + size + (size - 1) * between + behind
                for before, size, between, behind in zip(low, shape, interior, high, strict=True)
            )
            fill = rng.choice(["%zero", "%zero", "%same", "%one"])
            amounts = f"low = {low}, high = {high}, interior = {interior}"
            text, operands = f"stablehlo.pad {source}, {fill}, {amounts}", ", tensor<f32>"
        if min(after) < 1:
            return
        axes = self.rng.choice(['{"x"}, {}', '{"x"}, {"y"}', "{}, {}", '{}, {"x"}'])
        self.lines.append(
            f"{name} = {text} {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{axes}]>]>}}"
            f" : ({self.type_of(shape)}{operands}) -> {self.type_of(after)}"
        )
        self.values.append((name, after))

    @staticmethod
    def type_of(shape):
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    def text(self):
        # All values are returned, or only the last one.
        returned = self.values[-1:] if self.rng.random() < 0.7 else self.values
        names = ", ".join(name for name, _ in returned)
        types = ", ".join(self.type_of(shape) for _, shape in returned)
        body = "\n            ".join(self.lines)
        return f"""
          sdy.mesh @mesh = <["x"=4, "y"=2]>
          func.func @main(%a: tensor<12x6xf32>
              {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{"y"}}]>}}) -> ({types}) {{
            %zero = stablehlo.constant dense<0.0> : tensor<f32>
            %same = stablehlo.constant dense<0.0> : tensor<f32>
            %one = stablehlo.constant dense<1.0> : tensor<f32>
            {body}
            return {names} : {types}
          }}"""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_chains(context, seed):
    text = Chain(random.Random(seed)).text()
    module = sdy.parse(text, context)
    made = sdy.partition(module)
    inputs = [np.arange(1, 73, dtype=np.float32).reshape(12, 6)]
    expected = run_unpartitioned(module, inputs, "interpreter")
    for port, result, wanted in zip(made.outputs, made.run(inputs), expected, strict=True):
        assert compare(result, wanted, port.spec).is_small, text


def test_shift(context):
    """A shift by an element sends an element, as a concatenation does."""
    module = sdy.parse(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
            -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
          %zero = stablehlo.constant dense<0.0> : tensor<f32>
          %0 = stablehlo.pad %a, %zero, low = [1], high = [0], interior = [0]
            : (tensor<64xf32>, tensor<f32>) -> tensor<65xf32>
          %1 = stablehlo.slice %0 [0:64] : (tensor<65xf32>) -> tensor<64xf32>
          return %1 : tensor<64xf32>
        }""",
        context,
    )
    sdy.propagate(module)
    (permute,) = sdy.partition(module).collectives
    assert (permute.kind, permute.nbytes_sent) == ("collective_permute", 4)


def test_roll_by_zero(context):
    """A roll of the first dimension, as JAX writes it, moves nothing along the second."""
    module = sdy.parse(
        """
        sdy.mesh @mesh = <["x"=2, "y"=2]>
        func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
            -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) {
          %0 = stablehlo.slice %a [7:8, 0:8] : (tensor<8x8xf32>) -> tensor<1x8xf32>
          %1 = stablehlo.slice %a [0:7, 0:8] : (tensor<8x8xf32>) -> tensor<7x8xf32>
          %2 = stablehlo.concatenate %0, %1, dim = 0
            : (tensor<1x8xf32>, tensor<7x8xf32>) -> tensor<8x8xf32>
          %3 = stablehlo.slice %2 [0:8, 0:0] : (tensor<8x8xf32>) -> tensor<8x0xf32>
          %4 = stablehlo.slice %2 [0:8, 0:8] : (tensor<8x8xf32>) -> tensor<8x8xf32>
          %5 = stablehlo.concatenate %3, %4, dim = 1
            : (tensor<8x0xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
          return %5 : tensor<8x8xf32>
        }""",
        context,
    )
    sdy.propagate(module)
    program = sdy.partition(module)
    (permute,) = program.collectives
    assert (permute.kind, permute.nbytes_sent) == ("collective_permute", 16)
    tensor = np.arange(64, dtype=np.float32).reshape(8, 8)
    (rolled,) = program.run([tensor])
    assert (rolled == np.roll(tensor, 1, 0)).all()


def test_only_empty_operands(context):
    """A concatenation may have no elements at all."""
    module = sdy.parse(
        """
        sdy.mesh @mesh = <["x"=2]>
        func.func @main(%a: tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>})
            -> (tensor<0x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) {
          %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<0x8xf32>, tensor<0x8xf32>)
            -> tensor<0x8xf32>
          return %0 : tensor<0x8xf32>
        }""",
        context,
    )
    sdy.propagate(module)
    (found,) = sdy.partition(module).run([np.zeros((0, 8), np.float32)])
    assert found.shape == (0, 8)
