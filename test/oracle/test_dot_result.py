# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which results of matrix products Shardy reshards when it leaves the rest to others."""

import random

import pytest
from programs import tensor

from mlir_sdy.assembly import asm, parse
from mlir_sdy.model import AxisRef, AxisTuple, TensorSharding
from pyshardy.pipeline import run_pipeline

PASS = "func.func(sdy-insert-explicit-reshards)"
CASES_PER_TEST = 100

Factor = tuple[str, int]
"""A kind (b: batch, m: rows, k: contracted, n: columns) and a number."""


def random_product(rng: random.Random) -> str:
    """A product of sharded operands, whose result often has the axes of the contraction."""
    batch = [16] if rng.random() < 0.3 else []
    rows = [16] * rng.randint(0, 2)
    contracted = [rng.choice([64, 4]) for _ in range(rng.randint(1, 2))]
    columns = [rng.choice([4, 64]) for _ in range(rng.randint(0, 1))]
    sizes: dict[Factor, int] = {
        (kind, index): size
        for kind, dims in zip("bmkn", (batch, rows, contracted, columns), strict=True)
        for index, size in enumerate(dims)
    }
    axes: dict[Factor, AxisTuple] = dict.fromkeys(sizes, ())
    for name in "pqr":
        if rng.random() < 0.8:
            axes[rng.choice(list(sizes))] += (AxisRef(name),)
    result_axes = dict(axes)
    free = [factor for factor in sizes if factor[0] != "k"]
    if free and rng.random() < 0.8:
        reduced = tuple(axis for factor in axes if factor[0] == "k" for axis in axes[factor])
        other = (AxisRef(rng.choice("pqr")),)
        result_axes[rng.choice(free)] = reduced if rng.random() < 0.8 else other

    def of(kinds: str, values: dict) -> tuple:
        return tuple(
            value for kind in kinds for factor, value in values.items() if factor[0] == kind
        )

    used = [axis for dim in of("bmn", result_axes) for axis in dim]
    if len(set(used)) != len(used):
        return random_product(rng)
    lhs, rhs, result = (
        (tensor(of(kinds, sizes)), TensorSharding.from_axes("mesh", of(kinds, given)))
        for kinds, given in (("bmk", axes), ("bkn", axes), ("bmn", result_axes))
    )
    batching = f"batching_dims = {list(range(len(batch)))} x {list(range(len(batch)))}, "
    left = [len(batch) + len(rows) + index for index in range(len(contracted))]
    right = [len(batch) + index for index in range(len(contracted))]
    return f"""
sdy.mesh @mesh = <["p"=2, "q"=2, "r"=2]>
func.func @main(%a: {lhs[0]} {{sdy.sharding = #sdy.sharding{lhs[1]}}},
                %b: {rhs[0]} {{sdy.sharding = #sdy.sharding{rhs[1]}}})
    -> ({result[0]} {{sdy.sharding = #sdy.sharding{result[1]}}}) {{
  %0 = stablehlo.dot_general %a, %b, {batching if batch else ""}contracting_dims = {left} x {right}
    {{sdy.sharding = #sdy.sharding_per_value<[{result[1]}]>}}
    : ({lhs[0]}, {rhs[0]}) -> {result[0]}
  return %0 : {result[0]}
}}
"""


@pytest.mark.parametrize("seed", range(3))
def test_results_of_products(seed, shardy, context):
    rng = random.Random(seed)
    resharded = 0
    for _ in range(CASES_PER_TEST):
        text = random_product(rng)
        module = parse(text, context)
        run_pipeline(module, PASS)
        expected = shardy.run(text, f"builtin.module({PASS})").rstrip("\n")
        assert asm(module).rstrip("\n") == expected, text
        resharded += "sdy.reshard" in expected
    assert resharded >= CASES_PER_TEST // 10
