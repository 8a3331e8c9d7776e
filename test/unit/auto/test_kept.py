# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What automatic sharding keeps: manual computations, collectives of users, single devices."""

from collections import Counter

import numpy as np
import pytest
from auto_programs import HARDWARE

import pyshardy as sdy
from mlir_sdy.values import get_sharding
from pyshardy.irtools.walks import operations_named
from pyshardy.program import run_unpartitioned

PIPELINE = """
sdy.mesh @mesh = <["stage"=4, "data"=2]>
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"stage"}, {}]>]
    out_shardings=[<@mesh, [{"stage"}, {}]>] manual_axes={"stage"} (%a: tensor<2x64xf32>) {
    %2 = stablehlo.tanh %a : tensor<2x64xf32>
    %3 = "stablehlo.collective_permute"(%2) <{
      channel_handle = #stablehlo.channel_handle<handle = 7, type = 1>,
      source_target_pairs = dense<[[0, 2], [2, 4], [4, 6], [6, 0], [1, 3], [3, 5], [5, 7], [7, 1]]>
        : tensor<8x2xi64>}> : (tensor<2x64xf32>) -> tensor<2x64xf32>
    sdy.return %3 : tensor<2x64xf32>
  } : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %4 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
    : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %4 : tensor<8x64xf32>
}"""


def assert_as_predicted(plan):
    """Check that each kind of collective sends what was predicted."""
    check = plan.check()
    predicted, counted = (Counter() for _ in range(2))
    for found, given in ((predicted, check.predicted), (counted, check.counted)):
        for (kind, _), nbytes in given.items():
            found[kind] += nbytes
    assert counted == pytest.approx(predicted), check


def inputs_of(plan):
    generator = np.random.default_rng(0)
    return [generator.standard_normal(port.spec.shape, np.float32) for port in plan.program.inputs]


def test_pipelines_of_manual_computations():
    """The stages and the permute between them are as the user wrote them."""
    module = sdy.parse(PIPELINE)
    (given,) = operations_named({"sdy.manual_computation"}, module.operation)
    plan = sdy.auto_shard(module, hardware=HARDWARE)
    (kept,) = operations_named({"sdy.manual_computation"}, plan.module.operation)
    for attribute in ("in_shardings", "out_shardings", "manual_axes"):
        assert str(kept.attributes[attribute]) == str(given.attributes[attribute])
    bodies = [[each.name for each in one.regions[0].blocks[0].operations] for one in (given, kept)]
    assert bodies[0] == bodies[1]
    assert plan.prediction.bytes_by_kind["collective_permute", "stage"] > 0
    assert_as_predicted(plan)
    x, w = inputs_of(plan)
    (found,) = plan.program.run([x, w])
    wanted = np.roll(np.tanh(x @ w), 2, axis=0) @ w
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_collectives_of_users():
    """A user's all-gather in the global program stays, with the sharding that it declares."""
    text = """
    sdy.mesh @mesh = <["x"=8]>
    func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
        : tensor<64x64xf32>
      %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<64x64xf32>
      %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
        : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %2 : tensor<64x64xf32>
    }"""
    plan = sdy.auto_shard(sdy.parse(text), hardware=HARDWARE)
    assert plan.prediction.bytes_by_kind["all_gather", "x"] >= 64 * 64 * 4 * 7 / 8
    assert_as_predicted(plan)
    inputs = inputs_of(plan)
    (wanted,) = run_unpartitioned(plan.module, inputs)
    (found,) = plan.program.run(inputs)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


SINGLE = """
sdy.mesh @mesh = <["x"=4, "y"=2]>
sdy.mesh @one = <[], device_ids=[3]>
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %t: !stablehlo.token)
    -> (tensor<64x64xf32>, !stablehlo.token) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  OPERATION
  %3 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %3, %2 : tensor<64x64xf32>, !stablehlo.token
}"""

CALLBACK = """%1, %2 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%0, %t) {
    has_side_effect = true,
    sdy.sharding = #sdy.sharding_per_value<[<@one, []>, <@one, []>]>}
    : (tensor<64x64xf32>, !stablehlo.token) -> (tensor<64x64xf32>, !stablehlo.token)"""

WITHOUT_RESULT = """stablehlo.custom_call @xla_ffi_python_cpu_callback(%0) {
    has_side_effect = true, sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>}
    : (tensor<64x64xf32>) -> ()
  %1 = stablehlo.tanh %0 : tensor<64x64xf32>
  %2 = stablehlo.after_all %t : !stablehlo.token"""

TWICE = f"{WITHOUT_RESULT.partition('%1')[0]}{WITHOUT_RESULT}"

INFEED = """%i, %2 = "stablehlo.infeed"(%t) {
    sdy.sharding = #sdy.sharding_per_value<[<@one, []>, <@one, []>]>}
    : (!stablehlo.token) -> (tensor<64x64xf32>, !stablehlo.token)
  %1 = stablehlo.add %0, %i : tensor<64x64xf32>"""


@pytest.mark.parametrize("operation", [CALLBACK, TWICE, INFEED])
def test_callbacks_and_infeed_run_on_one_device(operation, capsys):
    """The operand is gathered for it, and the result is sent to all devices."""
    plan = sdy.auto_shard(sdy.parse(SINGLE.replace("OPERATION", operation)), hardware=HARDWARE)
    kinds = {"stablehlo.custom_call", "stablehlo.infeed"}
    kept, *_ = operations_named(kinds, plan.module.operation)
    if len(kept.results):
        assert str(get_sharding(kept.results[0])) == "<@one, []>"
        assert ("all_reduce", "x, y") in plan.prediction.bytes_by_kind
    assert_as_predicted(plan)
    for local in operations_named(kinds, plan.program.module.operation):
        assert local.parent.name == "stablehlo.if", "the other devices skip it"
    assert "replicated" not in capsys.readouterr().err


def test_open_dimensions_of_manual_computations_get_propagated_axes():
    """The computation leaves `y` free, which shards the columns of its operand."""
    text = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x8xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", ?}, {?}]>]
      out_shardings=[<@mesh, [{"x", ?}, {?}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    %1 = stablehlo.tanh %b : tensor<4x8xf32>
    sdy.return %1 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}"""
    plan = sdy.auto_shard(sdy.parse(text), hardware=HARDWARE, objective="bytes")
    assert plan.bytes == plan.estimate.nbytes_sent == 0
    assert str(plan.shardings["result[0]"]) == '<@mesh, [{"x"}, {"y"}]>'
