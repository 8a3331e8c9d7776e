# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of products, whose partial results are completed together."""

import numpy as np
import pytest
from auto_programs import HARDWARE, least_cost

import pyshardy as sdy
from pyshardy.program import run_unpartitioned

PROGRAM = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %x: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %u: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
    %w: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>},
    %v: tensor<64x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<32x32xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %1 = stablehlo.dot_general %u, %v, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>
  SUM
  %last = stablehlo.tanh %sum : tensor<32x32xf32>
  return %last : tensor<32x32xf32>
}"""

JOINT = """%3 = stablehlo.add %0, %1 : tensor<32x32xf32>
  %sum = stablehlo.subtract %2, %3 : tensor<32x32xf32>"""

APART = """%3 = stablehlo.tanh %1 : tensor<32x32xf32>
  %4 = stablehlo.subtract %2, %3 : tensor<32x32xf32>
  %sum = stablehlo.add %0, %4 : tensor<32x32xf32>"""

RESIDUAL = """%3 = stablehlo.add %0, %1 : tensor<32x32xf32>
  %4 = stablehlo.cosine %2 : tensor<32x32xf32>
  %sum = stablehlo.add %3, %4 : tensor<32x32xf32>"""


@pytest.mark.parametrize(
    ("lines", "num_completions"),
    [(JOINT, 1), (APART, 3), (RESIDUAL, 2)],
    ids=["joint", "apart", "residual"],
)
def test_partial_results_of_a_sum_are_completed_once(lines, num_completions):
    """A term that isn't partial is added after the completion of the others."""
    text = PROGRAM.replace("SUM", lines)
    plan = sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, gap=0.0)
    assert plan.cost == pytest.approx(least_cost(plan.search.built.problem))
    check = plan.check()
    assert check.counted == pytest.approx(check.predicted), check
    kinds = [each.kind for each in plan.program.collectives]
    assert kinds == ["reduce_scatter"] * num_completions
    assert plan.estimate.seconds == pytest.approx(plan.cost, rel=0.01)
    generator = np.random.default_rng(0)
    inputs = [
        generator.standard_normal(port.spec.shape, np.float32) / 8 for port in plan.program.inputs
    ]
    (wanted,) = run_unpartitioned(plan.module, inputs)
    (found,) = plan.program.run(inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
