# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A dimension that its axes don't divide stays sharded where a function takes or returns it."""

import random

import numpy as np
import pytest
from case_counts import cases

import pyshardy as sdy

MATRIX_AXES = (
    ("", '"x"'),
    ("", '"y"'),
    ("", '"x", "y"'),
    ("", '"y":(1)2'),
    ("", '"x", "y":(2)2'),
    ('"x"', '"y"'),
    ('"y"', '"x"'),
)
REDUCTIONS = {"add": ("0.0", np.sum), "maximum": ("0xFF800000", np.max)}
OPERATIONS = 44
"""In a function: more than what is inlined for being small."""


def program(axes, rows, columns, calls, kind):
    """Reduce the columns of a matrix in a function, which returns the matrix as well."""
    matrix, column = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}xf32>"
    negations = "\n".join(
        f"  %n{i + 1} = stablehlo.negate %n{i} : {matrix}" for i in range(OPERATIONS)
    )
    called = "\n".join(
        f"  %r{i}:2 = call @f(%v{i}) : ({matrix}) -> ({matrix}, {column})\n"
        f"  %v{i + 1} = stablehlo.negate %r{i}#0 : {matrix}"
        for i in range(calls)
    )
    return f"""
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: {matrix}) -> {column} {{
  %v0 = sdy.sharding_constraint %a <@mesh, [{{{axes[0]}}}, {{{axes[1]}}}]> : {matrix}
{called}
  return %r{calls - 1}#1 : {column}
}}
func.func private @f(%n0: {matrix}) -> ({matrix}, {column}) {{
{negations}
  %i = stablehlo.constant dense<{REDUCTIONS[kind][0]}> : tensor<f32>
  %s = stablehlo.reduce(%n{OPERATIONS} init: %i) applies stablehlo.{kind} across dimensions = [1]
    : ({matrix}, tensor<f32>) -> {column}
  return %n{OPERATIONS}, %s : {matrix}, {column}
}}"""


@pytest.mark.parametrize("seed", range(cases(8)))
def test_uneven_dimensions_are_not_gathered_for_calls(seed):
    rng = random.Random(seed)
    axes, kind, calls = rng.choice(MATRIX_AXES), rng.choice([*REDUCTIONS]), rng.choice([1, 2, 3])
    rows, columns = rng.choice([4, 5, 7]), rng.choice([13, 31, 61])
    module = sdy.parse(program(axes, rows, columns, calls, kind), sdy.Context())
    sdy.propagate(module)
    made = sdy.partition(module)
    x = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    expected = REDUCTIONS[kind][1]((-1) ** (calls - 1) * x, axis=1)
    np.testing.assert_allclose(made.run([x])[0], expected, rtol=1e-5, atol=1e-5)
    # Only columns are sent: to reduce them, and to gather the result.
    assert made.collectives
    assert max(each.nbytes for each in made.collectives) <= 4 * (rows + 1)
