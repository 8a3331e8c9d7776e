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


def product(mesh, given, returned):
    """Return a product of matrices with shardings of its first operand and its result."""
    return sdy.parse(f"""
    sdy.mesh @mesh = <[{mesh}]>
    func.func @main(
        %arg0: tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, {given}>}},
        %arg1: tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{}}, {{}}]>}})
        -> (tensor<4096x4096xf32> {{sdy.sharding = #sdy.sharding<@mesh, {returned}>}}) {{
      %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
          : (tensor<4096x4096xf32>, tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
      return %0 : tensor<4096x4096xf32>
    }}""")


def test_results_may_have_axes_in_another_order_than_the_mesh():
    module = product('"x"=2, "y"=2', "[{}, {}]", '[{}, {"y", "x"}]')
    plan = sdy.auto_shard(module, hardware="h100")
    assert plan.estimate.nbytes_sent == 0
    assert plan.program.collectives == ()


def test_axes_of_a_single_device_are_no_choice():
    module = product('"x"=4, "one"=1', '[{"one", "x"}, {}]', '[{"x"}, {"one"}]')
    plan = sdy.auto_shard(module, hardware="h100")
    assert plan.program.collectives == ()
    assert str(plan.shardings["%arg0"]) == '<@mesh, [{"x"}, {}]>'
    assert plan.fix("%arg0", (("one", "x"), None)).solve().cost == plan.cost
    alone = sdy.auto_shard(product('"one"=1', '[{"one"}, {}]', "[{}, {}]"), hardware="h100")
    assert alone.gap == 0
