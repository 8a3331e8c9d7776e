# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two policies of compatible shardings, and what only one of them changes."""

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.diagnostics import remarks
from pyshardy.pipeline import run_pipeline

MESH = 'sdy.mesh @mesh = <["x"=2, "y"=2]>\n'
UNKNOWN = """
func.func @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.custom_call @unknown(%a) {sdy.sharding =
    #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}"""
BARRIER = """
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = sdy.propagation_barrier %a allowed_direction=NONE {sdy.sharding =
    #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding =
    #sdy.sharding_per_value<[<@mesh, [{"y"}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}"""
UNREDUCED = """
func.func @main() -> tensor<8xf32> {
  %0 = stablehlo.iota dim = 0 {sdy.sharding =
    #sdy.sharding_per_value<[<@mesh, [{}], unreduced={"x"}>]>} : tensor<8xf32>
  %1 = stablehlo.negate %0 {sdy.sharding =
    #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<8xf32>
  return %1 : tensor<8xf32>
}"""


def resharded(text, compatibility, context):
    module = parse(MESH + text, context)
    options = f"enable-full-version=true compatibility={compatibility}"
    run_pipeline(module, f"func.func(sdy-insert-explicit-reshards{{{options}}})")
    return asm(module)


@pytest.mark.parametrize(("compatibility", "stays"), [("shardy", True), ("cheapest", False)])
def test_barriers_have_no_effect_on_devices(context, compatibility, stays):
    assert ("sdy.propagation_barrier" in resharded(BARRIER, compatibility, context)) == stays


@pytest.mark.parametrize(
    ("compatibility", "is_replicated"), [("shardy", False), ("cheapest", True)]
)
def test_unknown_operations_are_replicated_for_devices(context, compatibility, is_replicated):
    text = resharded(UNKNOWN, compatibility, context)
    assert ("sdy.reshard %arg0 <@mesh, [{}, {}]>" in text) == is_replicated


def test_remarks_change_nothing(context):
    """A complete value loses its unreduced axes, also if remarks are wanted."""
    text = resharded(UNREDUCED, "cheapest", context)
    with remarks():
        assert resharded(UNREDUCED, "cheapest", context) == text
