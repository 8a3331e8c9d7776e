# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Updates at constant indices exchange halos: random windows, executed and compared."""

import random

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import run_unpartitioned

SEEDS = 60
AXES = {"x": 2, "y": 3, "z": 4}
BODIES = ["return", "add", "maximum", "multiply"]


class Update:
    """A random update of one window at constant indices, by an operation of either kind."""

    def __init__(self, rng):
        self.rng = rng
        rank = rng.choice([1, 2, 2, 3])
        axes = rng.sample([*AXES], 3)
        self.axes = [axes.pop() if rng.random() < 0.8 else None for _ in range(rank)]
        self.sizes = [rng.choice([6, 8, 12, 13, 16]) for _ in range(rank)]
        self.lengths = [
            rng.choice([size, rng.randint(1, size), max(1, size - 2)]) for size in self.sizes
        ]
        self.starts = [
            rng.randint(0, size - length)
            for size, length in zip(self.sizes, self.lengths, strict=True)
        ]
        self.is_scatter = rng.random() < 0.6
        self.body = rng.choice(BODIES) if self.is_scatter else "return"
        # A scatter may leave out dimensions of size 1.
        self.inserted = [
            dim
            for dim, length in enumerate(self.lengths)
            if self.is_scatter and length == 1 and rng.random() < 0.5
        ]
        self.windows = [dim for dim in range(rank) if dim not in self.inserted]
        self.indexed = [dim for dim in range(rank) if self.starts[dim] or dim in self.inserted]
        rng.shuffle(self.indexed)
        self.update_axes = [self.axes[dim] if rng.random() < 0.7 else None for dim in self.windows]

    def text(self):
        operand = "x".join([*map(str, self.sizes), "f32"])
        update = "x".join([*(str(self.lengths[dim]) for dim in self.windows), "f32"])
        sharding, of_update = (
            "<@mesh, [" + ", ".join(f'{{"{axis}"}}' if axis else "{}" for axis in axes) + "]>"
            for axes in (self.axes, self.update_axes)
        )
        operation = self.scatter if self.is_scatter else self.update_slice
        return f"""
          sdy.mesh @mesh = <["x"=2, "y"=3, "z"=4]>
          func.func @main(%a: tensor<{operand}>, %v: tensor<{update}>) -> tensor<{operand}> {{
            %b = sdy.sharding_constraint %a {sharding} : tensor<{operand}>
            %u = sdy.sharding_constraint %v {of_update} : tensor<{update}>
            {operation(operand, update, sharding)}
            %s = sdy.sharding_constraint %r {sharding} : tensor<{operand}>
            return %s : tensor<{operand}>
          }}"""

    def update_slice(self, operand, update, sharding):
        # Indices beyond the end are clamped.
        starts = [
            start + self.rng.choice([0, 5]) * (start + length == size)
            for start, length, size in zip(self.starts, self.lengths, self.sizes, strict=True)
        ]
        constants = "\n".join(
            f"%i{dim} = stablehlo.constant dense<{start}> : tensor<i32>"
            for dim, start in enumerate(starts)
        )
        names = ", ".join(f"%i{dim}" for dim in range(len(starts)))
        types = ", ".join(
            [f"tensor<{operand}>", f"tensor<{update}>", *["tensor<i32>"] * len(starts)]
        )
        return f"""{constants}
            %r = stablehlo.dynamic_update_slice %b, %u, {names}
              {{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}
              : ({types}) -> tensor<{operand}>"""

    def scatter(self, operand, update, sharding):
        value = "%q" if self.body == "return" else "%w"
        combine = (
            "" if self.body == "return" else f"%w = stablehlo.{self.body} %p, %q : tensor<f32>"
        )
        starts = [self.starts[dim] for dim in self.indexed]
        count = len(starts)
        pieces = "\n".join(
            f"%c{number} = stablehlo.constant dense<{start}> : tensor<i32>\n"
            f"%i{number} = stablehlo.broadcast_in_dim %c{number}, dims = []"
            " : (tensor<i32>) -> tensor<1xi32>"
            for number, start in enumerate(starts)
        )
        names = ", ".join(f"%i{number}" for number in range(count))
        types = ", ".join(["tensor<1xi32>"] * count)
        indices = (
            f"%i = stablehlo.concatenate {names}, dim = 0 : ({types}) -> tensor<{count}xi32>"
            if count
            else "%i = stablehlo.constant dense<> : tensor<0xi32>"
        )
        return f"""{pieces}
            {indices}
            %r = "stablehlo.scatter"(%b, %i, %u) <{{
                scatter_dimension_numbers = #stablehlo.scatter<
                  update_window_dims = {list(range(len(self.windows)))},
                  inserted_window_dims = {self.inserted},
                  scatter_dims_to_operand_dims = {self.indexed}, index_vector_dim = 0>}}> ({{
            ^bb0(%p: tensor<f32>, %q: tensor<f32>):
              {combine}
              stablehlo.return {value} : tensor<f32>
            }}) {{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}
              : (tensor<{operand}>, tensor<{count}xi32>, tensor<{update}>) -> tensor<{operand}>"""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_windows(context, seed):
    rng = random.Random(seed)
    text = Update(rng).text()
    module = sdy.parse(text, context)
    made = sdy.partition(module)
    generator = np.random.default_rng(seed)
    inputs = [
        generator.integers(-9, 10, port.spec.shape).astype(np.float32) for port in made.inputs
    ]
    expected = run_unpartitioned(module, inputs, "interpreter")
    for port, result, wanted in zip(made.outputs, made.run(inputs), expected, strict=True):
        assert compare(result, wanted, port.spec).is_small, text


@pytest.mark.parametrize("body", BODIES)
def test_shifted_rows_are_exchanged(context, body):
    """A window shifted by one row sends one row."""
    combine = "" if body == "return" else f"%w = stablehlo.{body} %p, %q : tensor<f32>"
    module = sdy.parse(
        f"""
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(
            %a: tensor<16x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
            %b: tensor<16x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
            -> (tensor<16x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}}) {{
          %u = stablehlo.slice %b [0:15, 0:8] {{sdy.sharding =
            #sdy.sharding_per_value<[<@mesh, [{{"x"}}, {{}}]>]>}}
            : (tensor<16x8xf32>) -> tensor<15x8xf32>
          %i = stablehlo.constant dense<1> : tensor<1xi32>
          %r = "stablehlo.scatter"(%a, %i, %u) <{{
              scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1],
                scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}}> ({{
          ^bb0(%p: tensor<f32>, %q: tensor<f32>):
            {combine}
            stablehlo.return {"%q" if body == "return" else "%w"} : tensor<f32>
          }}) {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{{"x"}}, {{}}]>]>}}
            : (tensor<16x8xf32>, tensor<1xi32>, tensor<15x8xf32>) -> tensor<16x8xf32>
          return %r : tensor<16x8xf32>
        }}""",
        context,
    )
    made = sdy.partition(module)
    assert [(one.kind, one.nbytes) for one in made.collectives] == [("collective_permute", 32)]
