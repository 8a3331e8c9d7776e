# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshards of values that are made of one value by moving its elements: numbers, and bytes."""

import itertools
import math
import random

import numpy as np
import pytest
from case_counts import cases
from programs import tensor
from small_programs import random_sharding

import pyshardy as sdy
from mlir_sdy.model import Mesh, MeshAxis, TensorSharding
from pyshardy.program import run_unpartitioned


def factored(rng, shape):
    """A shape that splits and merges dimensions of another one."""
    factors = [factor for size in shape for factor in _factors(size)]
    cuts = sorted(rng.sample(range(1, len(factors)), min(rng.randint(0, 3), len(factors) - 1)))
    return tuple(math.prod(factors[a:b]) for a, b in itertools.pairwise([0, *cuts, len(factors)]))


def _factors(size):
    for factor in (2, 3):
        if size % factor == 0 and size > factor:
            return [factor, *_factors(size // factor)]
    return [size]


def program(rng):
    """Transposes, reshapes and conversions of an argument, some of which are resharded."""
    mesh = Mesh(tuple(map(MeshAxis, "xyz", rng.choice([(2, 2), (4, 2), (2, 2, 2), (3, 2)]))))
    shape = rng.choice([(8, 12), (4, 8, 6), (12, 12), (16, 8), (6, 4, 4)])
    given = _dims(_even(rng, shape, mesh))
    lines: list[str] = []
    values = [("%a", shape, "f32")]
    results: list[tuple[str, str]] = []
    for index in range(rng.randint(4, 10)):
        value, shape, element = rng.choice(values)
        before = tensor(shape).replace("f32", element)
        kind = rng.random()
        if kind < 0.3:
            order = rng.sample(range(len(shape)), len(shape))
            shape = tuple(shape[dim] for dim in order)
            line = f"stablehlo.transpose {value}, dims = {order} : "
        elif kind < 0.6:
            shape = factored(rng, shape)
            line = f"stablehlo.reshape {value} : "
        elif kind < 0.7:
            element = rng.choice(["f32", "bf16"])
            line = f"stablehlo.convert {value} : "
        else:
            sharding = _dims(_even(rng, shape, mesh))
            lines.append(f"%s{index} = sdy.reshard {value} <@mesh, {sharding}> : {before}")
            lines.append(f"%n{index} = stablehlo.negate %s{index} : {before}")
            results.append((f"%n{index}", before))
            continue
        lines.append(f"%v{index} = {line}({before}) -> {tensor(shape).replace('f32', element)}")
        values.append((f"%v{index}", shape, element))
    axes = ", ".join(f'"{axis.name}"={axis.size}' for axis in mesh.axes)
    body = "\n  ".join(lines)
    names = ", ".join(name for name, _ in results)
    types = ", ".join(each for _, each in results)
    argument = f"%a: {tensor(values[0][1])} {{sdy.sharding = #sdy.sharding<@mesh, {given}>}}"
    return f"""
sdy.mesh @mesh = <[{axes}]>
func.func @main({argument}) -> ({types}) {{
  {body}
  return {names}{" : " if results else ""}{types}
}}"""


def _even(rng, shape, mesh):
    while True:
        drawn = random_sharding(rng, len(shape), mesh, "mesh", unreduced=False)
        if drawn.divides(shape, mesh) or rng.random() < 0.05:
            return TensorSharding.from_axes("mesh", drawn.dim_axes)


def _dims(sharding):
    return str(sharding).partition("@mesh, ")[2].removesuffix(">")


@pytest.mark.parametrize("batch", range(cases(1)))
def test_random_programs(batch):
    for seed in range(25 * batch, 25 * batch + 25):
        text = program(random.Random(seed))
        module = sdy.parse(text, sdy.Context())
        sdy.propagate(module)
        made = sdy.partition(module)
        inputs = [
            np.random.default_rng(seed).integers(-99, 99, port.spec.shape).astype(np.float32)
            for port in made.inputs
        ]
        wanted = run_unpartitioned(module, inputs)
        for one, other in zip(made.run(inputs), wanted, strict=True):
            np.testing.assert_array_equal(one, other, f"{seed}: {text}")


def sent(body, results):
    """Return the bytes that a device sends for reshards of a 4 x 8 argument in two shards."""
    module = sdy.parse(
        f"""
        sdy.mesh @mesh = <["x"=2, "y"=2]>
        func.func @main(
            %a: tensor<4x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}})
            -> ({results}) {{
          {body}
          return %r, %s : {results}
        }}""",
        sdy.Context(),
    )
    sdy.propagate(module)
    made = sdy.partition(module)
    value = np.arange(32, dtype=np.float32).reshape(4, 8)
    for one, other in zip(made.run([value]), run_unpartitioned(module, [value]), strict=True):
        np.testing.assert_array_equal(one, other)
    return [(each.kind, each.nbytes_sent) for each in made.collectives]


TRANSPOSED = """
    %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %u = stablehlo.reshape %t : (tensor<8x4xf32>) -> tensor<8x2x2xf32>"""


def test_behind_a_transpose_and_a_change_of_rank():
    """Both are made of one all-gather, whichever is first."""
    gathered = """
    %g = sdy.reshard %a <@mesh, [{}, {}]> : tensor<4x8xf32>
    %r = stablehlo.negate %g : tensor<4x8xf32>"""
    behind = f"""{TRANSPOSED}
    %h = sdy.reshard %u <@mesh, [{{}}, {{}}, {{}}]> : tensor<8x2x2xf32>
    %s = stablehlo.negate %h : tensor<8x2x2xf32>"""
    types = "tensor<4x8xf32>, tensor<8x2x2xf32>"
    assert sent(gathered + behind, types) == [("all_gather", 64)]
    assert sent(behind + gathered, types) == [("all_gather", 64)]


def test_a_part_of_what_has_been_gathered():
    """The second one is sliced from the first."""
    body = f"""
    %g = sdy.reshard %a <@mesh, [{{}}, {{}}]> : tensor<4x8xf32>
    %r = stablehlo.negate %g : tensor<4x8xf32>{TRANSPOSED}
    %h = sdy.reshard %u <@mesh, [{{"x"}}, {{"y"}}, {{}}]> : tensor<8x2x2xf32>
    %s = stablehlo.negate %h : tensor<8x2x2xf32>"""
    assert sent(body, "tensor<4x8xf32>, tensor<8x2x2xf32>") == [("all_gather", 64)]
