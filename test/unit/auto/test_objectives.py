# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans that minimize something else than the time: the partitioner keeps them."""

import pytest

import pyshardy as sdy
from pyshardy.auto.strategies.costs import HardwareCosts, PricedBytes

SLOW = sdy.Hardware(
    name="slow",
    flops_per_second=1e6,
    bytes_per_second=1e6,
    bytes_of_memory=1e9,
    link=sdy.Link(bytes_per_second=1e9, seconds_to_start=1e-8),
)
"""Devices on which it saves time to compute on shards, and to gather what is computed."""

BRANCHING = """
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>})
    -> (tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>},
        tensor<64x64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.tanh %a : tensor<64x64xf32>
  %1 = stablehlo.exponential %0 : tensor<64x64xf32>
  %2 = stablehlo.tanh %1 : tensor<64x64xf32>
  %3 = stablehlo.tanh %2 : tensor<64x64xf32>
  return %1, %3 : tensor<64x64xf32>, tensor<64x64xf32>
}"""
"""Elementwise operations that can be replicated, without communication, or sharded."""


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, 64 * 64 * 4 * 7 / 8),
        ({"objective": "bytes"}, 0),
        ({"costs": PricedBytes(HardwareCosts(SLOW), price=1.0)}, 0),
    ],
    ids=["time", "bytes", "price"],
)
def test_the_partitioner_keeps_the_objective(options, sent):
    """Only to save time it shards elementwise operations, and gathers their results."""
    check = sdy.auto_shard(sdy.parse(BRANCHING), hardware=SLOW, **options).check()
    assert sum(check.predicted.values()) == sum(check.counted.values()) == sent
