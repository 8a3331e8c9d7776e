# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The traffic of values that are fused into their users, in predictions of plans."""

from dataclasses import replace

import pytest
from auto_programs import HARDWARE

import pyshardy as sdy
from pyshardy.auto.graph.operation_forms import InlinedCalls
from pyshardy.irtools.functions import functions_of
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.partition.op_facts.fusion import FusedValues

PROGRAM = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x64xf32>, %z: tensor<f32>) -> tensor<64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x32xf32>, tensor<32x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<64x64xf32>
  %2 = call @where(%1, %0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = stablehlo.tanh %2 : tensor<64x64xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %4 : tensor<64xf32>
}
func.func private @where(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> ATTR {
  %0 = stablehlo.compare GT, %a, %b
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %1 = stablehlo.select %0, %a, %b : tensor<64x64xi1>, tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}"""
"""All but the product are fused into the reduction, if the function is inlined."""

KEPT = "attributes {no_inline}"


@pytest.mark.parametrize(
    ("attributes", "fused"),
    [("", ["multiply", "tanh", "compare", "select"]), (KEPT, ["tanh", "compare"])],
    ids=["inlined", "kept"],
)
def test_bodies_of_inlined_functions_stand_in_place_of_calls(attributes, fused):
    module = sdy.parse(PROGRAM.replace("ATTR", attributes))
    functions = {symbol_name(each): each for each in functions_of(module)}
    values = FusedValues(module, InlinedCalls(functions).bodies_in(module))
    found = [
        view.operation.name.removeprefix("stablehlo.")
        for function in functions.values()
        for view in function.regions[0].blocks[0].operations
        if view.operation.name.startswith("stablehlo.")
        and values.is_fused(view.operation.results[0])
    ]
    assert found == fused


@pytest.mark.parametrize("attributes", ["", KEPT], ids=["inlined", "kept"])
def test_the_time_is_that_of_the_partitioned_program(attributes):
    hardware = replace(HARDWARE, flops_per_second=1e12)  # so that memory traffic decides
    plan = sdy.auto_shard(sdy.parse(PROGRAM.replace("ATTR", attributes)), hardware=hardware, gap=0)
    assert plan.estimate.seconds == pytest.approx(plan.cost, rel=5e-3)  # the neutral element


RESHARDED = """
sdy.mesh @mesh = <["x"=4]>
func.func @main(
    %a: tensor<32x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %z: tensor<f32>)
    -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
  %0 = stablehlo.exponential %a {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    : tensor<32x64xf32>
  %1 = sdy.sharding_constraint %0 <@mesh, [{}, {"x"}]> : tensor<32x64xf32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0]
    : (tensor<32x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %2 : tensor<64xf32>
}"""


def test_resharded_values_are_written_and_read():
    """The exponential would be fused into the sum if it weren't resharded in between."""
    hardware = replace(HARDWARE, flops_per_second=1e12)  # so that memory traffic decides
    plan = sdy.auto_shard(sdy.parse(RESHARDED), hardware=hardware, gap=0)
    (moved,) = plan.program.collectives
    assert moved.kind == "all_to_all"
    communication = plan.estimate.communication_seconds
    # The exponential reads and writes a shard, the sum reads one and the scalar, and writes.
    accessed = 4 * (3 * 32 * 64 / 4 + 1 + 64 / 4)
    assert plan.estimate.seconds == pytest.approx(communication + accessed / 1e9)
    assert plan.cost == pytest.approx(plan.estimate.seconds)
