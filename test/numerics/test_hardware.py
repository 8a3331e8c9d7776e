# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slow links change the plan, and no numbers."""

from dataclasses import replace

import numpy as np
import pytest

import pyshardy as sdy
from pyshardy.cost.hardware import Link, load_hardware
from pyshardy.pipeline import pipeline_of, use
from pyshardy.pipeline.syntax import parse_pipeline
from pyshardy.program import run_unpartitioned

DEFAULT = load_hardware("default")
TWO_HOSTS = replace(DEFAULT, name="two hosts", axes={"host": Link(1e8, 1e-5)})
"""Hardware with slow links along "host"."""

PRODUCT = """
sdy.mesh @mesh = <["host"=2, "device"=4]>
func.func @main(
    %a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"host"}]>},
    %b: tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"device"}, {}]>})
    -> (tensor<64x128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<64x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}"""
RESHAPE = """
sdy.mesh @mesh = <["host"=2, "device"=4]>
func.func @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"device"}, {"host"}]>})
    -> (tensor<128xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"host", "device"}]>}) {
  %0 = stablehlo.reshape %a : (tensor<8x16xf32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}"""
LOOP = """
sdy.mesh @mesh = <["host"=2, "device"=4]>
func.func @main(
    %a: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"device"}, {}]>},
    %w: tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"host"}, {}]>})
    -> (tensor<16x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"device"}, {}]>}) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<4> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<16x16xf32>
    attributes {sdy.sharding = #sdy.sharding_per_value<
      [<@mesh, []>, <@mesh, [{"device"}, {}]>]>} cond {
    %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %p = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0]
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"device"}, {}]>]>}
      : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
    %t = stablehlo.tanh %p
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"device"}, {}]>]>} : tensor<16x16xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<16x16xf32>
  }
  return %r#1 : tensor<16x16xf32>
}"""


def plan(text, hardware):
    return sdy.partition(sdy.parse(text, sdy.Context()), hardware=hardware)


def bytes_along(program, axis):
    return sum(each.nbytes_sent for each in program.collectives if axis in (each.axes or ()))


@pytest.mark.parametrize("text", [PRODUCT, RESHAPE, LOOP])
@pytest.mark.parametrize("hardware", [TWO_HOSTS, "h100", "cpu"])
def test_numbers_are_those_of_one_device(text, hardware):
    program = plan(text, hardware)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(port.spec.shape, np.float32) for port in program.inputs]
    expected = run_unpartitioned(sdy.parse(text, sdy.Context()), inputs)
    for found, wanted in zip(program.run(inputs), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_slow_links_change_the_plan():
    """Half as many bytes go from host to host, and more between the devices of a host."""
    fast, slow = (plan(PRODUCT, hardware) for hardware in ("default", TWO_HOSTS))
    assert [each.kind for each in fast.collectives] == ["all_gather", "all_gather"]
    assert [each.kind for each in slow.collectives] == ["collective_permute", "all_reduce"]
    assert bytes_along(slow, "host") < bytes_along(fast, "host")
    assert bytes_along(slow, "device") > bytes_along(fast, "device")


def test_a_value_a_file_and_a_preset_are_the_same(tmp_path):
    path = tmp_path / "default.toml"
    path.write_text(
        "flops_per_second = 70368744177664.0\nbytes_per_second = 1099511627776.0\n"
        "bytes_of_memory = 8e10\nseconds_per_collective = 1.490116119384765625e-8\n"
        "[link]\nbytes_per_second = 17179869184.0\nseconds_to_start = 0\n"
        "[axes.host]\nbytes_per_second = 1e8\nseconds_to_start = 1e-5\n"
    )
    modules = [plan(PRODUCT, hardware).module for hardware in (TWO_HOSTS, str(path))]
    assert str(modules[0]) == str(modules[1])
    assert str(plan(PRODUCT, DEFAULT).module) == str(plan(PRODUCT, "default").module)


def test_hardware_in_a_pipeline_reads_back():
    pipeline = pipeline_of(use("sdy-partition-pipeline", hardware=TWO_HOSTS.text))
    (read,) = parse_pipeline(str(pipeline)).passes()
    assert load_hardware(read.options[0].value) == TWO_HOSTS


def test_unknown_hardware_is_refused():
    with pytest.raises(sdy.UsageError, match="unknown hardware 'abacus'"):
        plan(PRODUCT, "abacus")
