# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partial results, which are completed after operations that are linear in them."""

from dataclasses import replace

import pytest
from auto_programs import HARDWARE, assert_correct, assert_kept, least_cost

import pyshardy as sdy

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
    assert_correct(plan)


LINEAR = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %x: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
    %u: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
    %w: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
    %v: tensor<16x8xf32>, %c: tensor<16xf32>) -> RESULT {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  LINES
  %last = stablehlo.tanh %linear : RESULT
  return %last : RESULT
}"""

SLICE = """%t = stablehlo.transpose %p, dims = [1, 0] : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %linear = stablehlo.slice %t [0:4, 0:32] : (tensor<16x32xf32>) -> tensor<4x32xf32>"""

PRODUCT = """%n = stablehlo.negate %p : tensor<32x16xf32>
  %linear = stablehlo.dot_general %n, %v, contracting_dims = [1] x [0]
    : (tensor<32x16xf32>, tensor<16x8xf32>) -> tensor<32x8xf32>"""

SUM = """%s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0]
    : (tensor<32x16xf32>, tensor<f32>) -> tensor<16xf32>
  %linear = stablehlo.divide %s, %c : tensor<16xf32>"""

JOINED = """%q = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0]
    : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %h = stablehlo.concatenate %p, %q, dim = 1
    : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
  %r = stablehlo.reshape %h : (tensor<32x32xf32>) -> tensor<1024xf32>
  %d = stablehlo.convert %r : (tensor<1024xf32>) -> tensor<1024xf64>
  %linear = stablehlo.slice %d [0:512] : (tensor<1024xf64>) -> tensor<512xf64>"""


@pytest.mark.parametrize(
    ("lines", "result", "nbytes"),
    [
        (SLICE, "tensor<4x32xf32>", 4 * 32 * 4),
        (PRODUCT, "tensor<32x8xf32>", 32 * 8 * 4),
        (SUM, "tensor<16xf32>", 16 * 4),
        (JOINED, "tensor<512xf64>", 512 * 8),
    ],
    ids=["slice", "product", "sum", "concatenation"],
)
def test_partial_results_are_completed_where_they_are_small(lines, result, nbytes):
    """A device sends at most the bytes of a reduce-scatter of the last value."""
    text = LINEAR.replace("LINES", lines).replace("RESULT", result)
    plan = sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, gap=0.0, objective="bytes")
    assert plan.cost == pytest.approx(least_cost(plan.search.built.problem))
    assert 0 < plan.cost <= nbytes * 7 / 8
    check = plan.check()
    assert check.counted == pytest.approx(check.predicted), check
    assert_kept(plan)
    assert_correct(plan)


CHUNKS = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(
    %x: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
    %u: tensor<16x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x", "y"}]>},
    %w: tensor<64x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>},
    %r: tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>})
    -> (tensor<16x32xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %1 = stablehlo.dot_general %u, %w, contracting_dims = [1] x [0]
    : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 1
    : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x32xf32>
  %3 = stablehlo.add %r, %2 : tensor<16x32xf32>
  return %3 : tensor<16x32xf32>
}"""


def test_partial_chunks_are_scattered_together():
    """Propagation doesn't reshard the operands of a concatenation that a plan leaves partial."""
    slow = replace(HARDWARE, link=sdy.Link(bytes_per_second=1e8, seconds_to_start=1e-4), axes={})
    plan = sdy.auto_shard(sdy.parse(CHUNKS), hardware=slow, gap=0.0)
    assert [each.kind for each in plan.program.collectives] == ["reduce_scatter"]
    check = plan.check()
    assert check.counted == pytest.approx(check.predicted), check
    assert plan.estimate.seconds == pytest.approx(plan.cost, rel=0.01)
    assert_correct(plan)
