# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which reshards upstream's `shard-partition` gets wrong, and that it does."""

import collections
import itertools

import pytest

from mlir_sdy.assembly import asm, parse
from mlir_sdy.host import ir, passmanager
from mlir_sdy.shard.values import GridSharding
from pyshardy.passes.shard.shard_partition import UpstreamOutcome, verdict_on


@pytest.mark.parametrize(
    ("source", "target", "verdict"),
    [
        (((0,), ()), ((), (0,)), UpstreamOutcome.RIGHT),
        (((0, 1), ()), ((0,), (1,)), UpstreamOutcome.RIGHT),
        (((0, 1, 2), ()), ((0,), ()), UpstreamOutcome.RIGHT),
        (((), ()), ((0,), (1,)), UpstreamOutcome.RIGHT),
        (((), (0,)), ((0,), ()), UpstreamOutcome.WRONG),
        (((0,), (1,)), ((0, 1), ()), UpstreamOutcome.WRONG),
        (((0,), (1,)), ((), (0, 1)), UpstreamOutcome.WRONG),
        (((0,), (1,)), ((1, 0), ()), UpstreamOutcome.WRONG),
        (((0, 1), (2,)), ((0,), (1, 2)), UpstreamOutcome.WRONG),
        (((0,), ()), ((1,), ()), UpstreamOutcome.UNKNOWN),
        (((), ()), ((0, 1), ()), UpstreamOutcome.UNKNOWN),
        (((0, 1), ()), ((1, 0), ()), UpstreamOutcome.UNKNOWN),
    ],
)
def test_examples(source, target, verdict):
    assert verdict_on(source, target) is verdict


def all_shardings():
    """All ways to split two dimensions along the axes of a grid of three."""
    for count in range(4):
        for axes in itertools.permutations(range(3), count):
            for cut in range(count + 1):
                yield axes[:cut], axes[cut:]


def test_all_pairs():
    pairs = itertools.product(all_shardings(), repeat=2)
    found = collections.Counter(itertools.starmap(verdict_on, pairs))
    assert found == {
        UpstreamOutcome.RIGHT: 412,
        UpstreamOutcome.WRONG: 123,
        UpstreamOutcome.UNKNOWN: 1866,
    }


PIPELINE = "builtin.module(func.func(shard-partition))"
PROGRAM = """
shard.grid @g(shape = 2x2x2)
func.func @main(%a: tensor<16x16xf32>) -> tensor<16x16xf32> {{
  %s = shard.sharding {source} : !shard.sharding
  %t = shard.sharding {target} : !shard.sharding
  %0 = shard.shard %a to %s : tensor<16x16xf32>
  %1 = shard.shard %0 to %t annotate_for_users : tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}}
"""


def test_upstream_does_as_is_said(context):
    """What is called unknown fails, and all else passes, right or wrong."""
    pairs = list(itertools.product(all_shardings(), repeat=2))[::41]
    for source, target in pairs:
        texts = {"source": GridSharding("g", source), "target": GridSharding("g", target)}
        module = parse(PROGRAM.format(**texts), context)
        try:
            with context:
                manager = passmanager.PassManager.parse(
                    "builtin.module(func.func(shard-partition))"
                )
                manager.run(module.operation)
        except ir.MLIRError:
            assert verdict_on(source, target) is UpstreamOutcome.UNKNOWN, texts
        else:
            assert verdict_on(source, target) is not UpstreamOutcome.UNKNOWN, asm(module)
