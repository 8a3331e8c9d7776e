# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatters whose windows are single elements along sharded dimensions send nothing."""

import random

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import run_unpartitioned

SEEDS = 60
AXES = {"x": 2, "y": 3, "z": 4}


class Scatter:
    """A random scatter, with its tensors sharded along dimensions of some kinds."""

    def __init__(self, rng):
        self.rng = rng
        kinds = ["inserted", "single", "fixed", "whole", "zero", "part"]
        self.kinds = rng.choices(kinds, [1, 3, 1, 1, 1, 1], k=rng.choice([1, 2, 3]))
        axes = rng.sample([*AXES], 3)
        self.axes = [
            axes.pop() if kind != "part" and rng.random() < 0.8 else None for kind in self.kinds
        ]
        self.sizes = [
            rng.choice([6, 7, 8, 12]) if axis is None else self.size_along(axis)
            for axis in self.axes
        ]
        self.is_even = all(
            axis is None or size % AXES[axis] == 0
            for axis, size in zip(self.axes, self.sizes, strict=True)
        )
        # In a random order, as JAX and others write them.
        self.indexed = [
            dim for dim, kind in enumerate(self.kinds) if kind not in ("fixed", "whole")
        ]
        rng.shuffle(self.indexed)
        self.windows = [dim for dim, kind in enumerate(self.kinds) if kind != "inserted"]
        self.window_sizes = {
            dim: {"whole": self.sizes[dim], "zero": self.sizes[dim], "part": 3}.get(
                self.kinds[dim], 1
            )
            for dim in self.windows
        }
        self.body = rng.choice(["add", "maximum", "return"])
        self.count = 1 if self.body == "return" else rng.choice([1, 3, 5])

    def size_along(self, axis):
        return AXES[axis] * self.rng.choice([2, 3]) - self.rng.choice([0, 0, 1])

    @property
    def is_sent_nowhere(self):
        """Whether no communication is needed. An index of zero isn't left out if it is alone."""
        return (
            self.is_even
            and any(self.axes)
            and {self.kinds[dim] for dim in self.indexed} != {"zero"}
        )

    def text(self):
        inputs = "x".join([*map(str, self.sizes), "f32"])
        updates = "x".join([str(self.count), *map(str, self.window_sizes.values()), "f32"])
        indices = f"{self.count}x{len(self.indexed)}xi32"
        names = [f'{{"{axis}"}}' if axis else "{}" for axis in self.axes]
        sharding = f"<@mesh, [{', '.join(names)}]>"
        of_updates = ", ".join(
            [
                "{}",
                *(
                    names[dim] if self.kinds[dim] in ("whole", "zero") else "{}"
                    for dim in self.windows
                ),
            ]
        )
        inserted = [dim for dim, kind in enumerate(self.kinds) if kind == "inserted"]
        value = "%q" if self.body == "return" else "%v"
        combine = (
            "" if self.body == "return" else f"%v = stablehlo.{self.body} %p, %q : tensor<f32>"
        )
        bounds = [
            [0 if self.kinds[dim] == "zero" else at for dim in self.indexed] for at in (-3, 20)
        ]
        vector = f"tensor<{len(self.indexed)}xi32>"
        window_dims = list(range(1, 1 + len(self.windows)))
        return f"""
          sdy.mesh @mesh = <["x"=2, "y"=3, "z"=4]>
          func.func @main(%a: tensor<{inputs}> {{sdy.sharding = #sdy.sharding{sharding}}},
              %i: tensor<{indices}>,
              %u: tensor<{updates}> {{sdy.sharding = #sdy.sharding<@mesh, [{of_updates}]>}})
              -> (tensor<{inputs}> {{sdy.sharding = #sdy.sharding{sharding}}}) {{
            %b0 = stablehlo.constant dense<{bounds[0]}> : {vector}
            %b1 = stablehlo.constant dense<{bounds[1]}> : {vector}
            %b2 = stablehlo.broadcast_in_dim %b0, dims = [1] : ({vector}) -> tensor<{indices}>
            %b3 = stablehlo.broadcast_in_dim %b1, dims = [1] : ({vector}) -> tensor<{indices}>
            %j = stablehlo.clamp %b2, %i, %b3 : tensor<{indices}>
            %r = "stablehlo.scatter"(%a, %j, %u) <{{
                scatter_dimension_numbers = #stablehlo.scatter<
                  update_window_dims = {window_dims}, inserted_window_dims = {inserted},
                  scatter_dims_to_operand_dims = {self.indexed}, index_vector_dim = 1>}}> ({{
            ^bb0(%p: tensor<f32>, %q: tensor<f32>):
              {combine}
              stablehlo.return {value} : tensor<f32>
            }}) {{sdy.sharding = #sdy.sharding_per_value<[{sharding}]>}}
              : (tensor<{inputs}>, tensor<{indices}>, tensor<{updates}>) -> tensor<{inputs}>
            return %r : tensor<{inputs}>
          }}"""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_single_elements(context, seed):
    rng = random.Random(seed)
    scatter = Scatter(rng)
    text = scatter.text()
    module = sdy.parse(text, context)
    made = sdy.partition(module)
    if scatter.is_sent_nowhere:
        assert not made.collectives, text
    generator = np.random.default_rng(seed)
    shapes = [port.spec.shape for port in made.inputs]
    inputs = [
        generator.integers(-9, 10, shapes[0]).astype(np.float32),
        generator.integers(-2, 14, shapes[1]).astype(np.int32),  # out of bounds, too
        generator.integers(-9, 10, shapes[2]).astype(np.float32),
    ]
    expected = run_unpartitioned(module, inputs, "interpreter")
    for port, result, wanted in zip(made.outputs, made.run(inputs), expected, strict=True):
        assert compare(result, wanted, port.spec).is_small, text
