# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that only annotate shardings: they cost nothing."""

import pytest

import pyshardy as sdy

PROGRAM = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%arg0: tensor<16x32xf32>, %arg1: tensor<32x8xf32>) -> tensor<16x8xf32> {{
  %0 = {annotation} %arg0 {sharding} : tensor<16x32xf32>
  %1 = stablehlo.dot_general %0, %arg1, contracting_dims = [1] x [0]
      : (tensor<16x32xf32>, tensor<32x8xf32>) -> tensor<16x8xf32>
  %2 = {annotation} %1 {sharding} : tensor<16x8xf32>
  return %2 : tensor<16x8xf32>
}}
"""


@pytest.mark.parametrize(
    ("annotation", "sharding"),
    [
        ("sdy.sharding_constraint", "<@mesh, [{?}, {?}]>"),
        ("sdy.propagation_barrier", "allowed_direction=NONE"),
    ],
)
def test_annotations_cost_nothing(annotation, sharding):
    """On CPU devices, 4x2 shards of the product access the fewest bytes."""
    module = sdy.parse(PROGRAM.format(annotation=annotation, sharding=sharding))
    plan = sdy.auto_shard(module, hardware="cpu", gap=0.0)
    accessed = 4 * (4 * 32 + 32 * 4 + 4 * 4)
    assert plan.cost == pytest.approx(accessed / 5e9)
    assert plan.estimate.seconds == pytest.approx(plan.cost)


def test_results_may_have_axes_in_another_order_than_the_mesh():
    text = """
    sdy.mesh @mesh = <["x"=2, "y"=2]>
    func.func @main(%arg0: tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
        -> (tensor<1024x1024xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y", "x"}]>}) {
      %0 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0]
          : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    }"""
    plan = sdy.auto_shard(sdy.parse(text), hardware="h100")
    assert plan.estimate.nbytes_sent == 0
    assert plan.program.collectives == ()
