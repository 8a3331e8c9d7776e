# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions that no all-reduce completes, as those of argmax: random ones, executed."""

import random

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.backends.arrays.comparison import compare
from pyshardy.program import run_unpartitioned

SEEDS = 30
AXES = {"x": 2, "y": 3, "z": 4}


def argmax(rng):
    """Return an argmax along sharded dimensions, of which one or both results are used."""
    rank = rng.choice([1, 2, 3])
    axes = rng.sample([*AXES], 3)
    shape = [rng.choice([4, 6, 12, 13, 24]) for _ in range(rank)]
    of_dims = [
        "{"
        + ", ".join(f'"{axes.pop()}"' for _ in range(min(len(axes), rng.choice([0, 1, 2]))))
        + "}"
        for _ in range(rank)
    ]
    dims = sorted(rng.sample(range(rank), rng.randint(1, rank)))
    sharding = f"<@mesh, [{', '.join(of_dims)}]>"
    operand = "x".join(map(str, shape))
    result = "".join(f"{size}x" for dim, size in enumerate(shape) if dim not in dims)
    returned = rng.choice([["%r#1 : {i}"], ["%r#0 : {f}"], ["%r#0 : {f}", "%r#1 : {i}"]])
    types = {"f": f"tensor<{result}f32>", "i": f"tensor<{result}i32>"}
    values, kinds = zip(*(each.format(**types).split(" : ") for each in returned), strict=True)
    return f"""
      sdy.mesh @mesh = <["x"=2, "y"=3, "z"=4]>
      func.func @main(%a: tensor<{operand}xf32>, %n: tensor<{operand}xi32>)
          -> ({", ".join(kinds)}) {{
        %v = sdy.sharding_constraint %a {sharding} : tensor<{operand}xf32>
        %i = sdy.sharding_constraint %n {sharding} : tensor<{operand}xi32>
        %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %r:2 = stablehlo.reduce(%v init: %low), (%i init: %zero) across dimensions = {dims}
            : (tensor<{operand}xf32>, tensor<{operand}xi32>, tensor<f32>, tensor<i32>)
            -> ({types["f"]}, {types["i"]})
          reducer(%p: tensor<f32>, %q: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {{
            %more = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %same = stablehlo.compare EQ, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
            %less = stablehlo.compare LT, %j, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
            %both = stablehlo.and %same, %less : tensor<i1>
            %first = stablehlo.or %more, %both : tensor<i1>
            %m = stablehlo.select %more, %p, %q : tensor<i1>, tensor<f32>
            %l = stablehlo.select %first, %j, %k : tensor<i1>, tensor<i32>
            stablehlo.return %m, %l : tensor<f32>, tensor<i32>
          }}
        return {", ".join(values)} : {", ".join(kinds)}
      }}"""


@pytest.mark.parametrize("seed", range(SEEDS))
def test_argmax(context, seed):
    rng = random.Random(seed)
    text = argmax(rng)
    module = sdy.parse(text, context)
    made = sdy.partition(module)
    generator = np.random.default_rng(seed)
    shape = made.inputs[0].spec.shape
    # Few different values, so that there are ties.
    values = generator.integers(-3, 4, shape).astype(np.float32)
    indices = np.arange(values.size, dtype=np.int32).reshape(shape)
    inputs = [values, indices]
    expected = run_unpartitioned(module, inputs, "interpreter")
    for port, result, wanted in zip(made.outputs, made.run(inputs), expected, strict=True):
        assert compare(result, wanted, port.spec).is_small, text


def test_only_parts_are_sent(context):
    """Of 24 columns on 4 devices each device completes 6, and gathers the indices only."""
    module = sdy.parse(
        """
        sdy.mesh @mesh = <["x"=4]>
        func.func @main(
            %a: tensor<16x24xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
            %n: tensor<16x24xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
            -> tensor<24xi32> {
          %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %r:2 = stablehlo.reduce(%a init: %low), (%n init: %zero) across dimensions = [0]
              : (tensor<16x24xf32>, tensor<16x24xi32>, tensor<f32>, tensor<i32>)
              -> (tensor<24xf32>, tensor<24xi32>)
            reducer(%p: tensor<f32>, %q: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
              %more = stablehlo.compare GE, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
              %m = stablehlo.select %more, %p, %q : tensor<i1>, tensor<f32>
              %l = stablehlo.select %more, %j, %k : tensor<i1>, tensor<i32>
              stablehlo.return %m, %l : tensor<f32>, tensor<i32>
            }
          return %r#1 : tensor<24xi32>
        }""",
        context,
    )
    made = sdy.partition(module)
    sent = [(one.kind, one.nbytes_sent) for one in made.collectives]
    assert sent == [("all_to_all", 72), ("all_to_all", 72), ("all_gather", 72)]
