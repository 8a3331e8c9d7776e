# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost of all collectives of a program."""

import pytest

import pyshardy as sdy
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import load_hardware
from pyshardy.partition.resharding.cost import total_cost

DEFAULT = load_hardware(DEFAULT_HARDWARE)
MESH = 'sdy.mesh @mesh = <["x"=2]>\n'
SUM = 'sdy.all_reduce {"x"} %v out_sharding=<@mesh, [{}]> : tensor<64xf32>'
GATHER = 'sdy.all_gather [{"x"}] %v out_sharding=<@mesh, [{}]> : tensor<64xf32>'
LOOP = """
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %step = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<64xf32> cond {
    %c = stablehlo.compare LT, %i, LIMIT : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %s = COLLECTIVE
    %j = stablehlo.add %i, %step : tensor<i32>
    stablehlo.return %j, %s : tensor<i32>, tensor<64xf32>
  }
  return %r#1 : tensor<64xf32>
"""


def cost(body, sharding="{}"):
    text = f"""{MESH}func.func @main(
      %a: tensor<64xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{sharding}]>}}, %n: tensor<i32>)
      -> tensor<64xf32> {{{body}}}"""
    return total_cost(sdy.parse(text, sdy.Context()), DEFAULT)


def one(collective):
    return f"%0 = {collective.replace('%v', '%a')}\n return %0 : tensor<64xf32>"


@pytest.mark.parametrize(
    ("body", "sharding", "sent", "starts"),
    [
        ("return %a : tensor<64xf32>", "{}", 0, 0),
        (one(SUM), "{}", 256, 1),
        (one(GATHER), '{"x"}', 128, 1),
        (LOOP.replace("COLLECTIVE", SUM).replace("LIMIT", "%end"), "{}", 3 * 256, 3),
        (LOOP.replace("COLLECTIVE", SUM).replace("LIMIT", "%n"), "{}", 8 * 256, 8),
    ],
)
def test_cost(body, sharding, sent, starts):
    assert (
        cost(body, sharding)
        == sent / DEFAULT.link.bytes_per_second + starts * DEFAULT.seconds_per_collective
    )
