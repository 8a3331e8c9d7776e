# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans with equal costs: fewer collectives, then fewer sharded values."""

import numpy as np

import pyshardy as sdy
from pyshardy.auto.problem.arrays import Buffer, Node, Problem, User, Value, evaluate
from pyshardy.auto.search.ties import break_ties, precedence

CHAIN = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(
    %a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} loc("a"),
    %b: tensor<8x8xf32> loc("b"), %c: tensor<8x8xf32> loc("c")) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.dot_general %0, %c, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}"""


def test_the_order_of_plans_without_costs():
    """No collective is needed if only the rows are sharded, and so the weights are not."""
    plan = sdy.auto_shard(sdy.parse(CHAIN), hardware="h100", objective="bytes")
    assert plan.cost == 0
    assert not plan.program.collectives
    texts = {name: str(each) for name, each in plan.shardings.items()}
    assert texts["b"] == texts["c"] == "<@mesh, [{}, {}]>"
    again = sdy.auto_shard(sdy.parse(CHAIN), hardware="h100", objective="bytes")
    assert sdy.asm(again.module) == sdy.asm(plan.module)


def test_precedence_counts_collectives_first():
    plan = sdy.auto_shard(sdy.parse(CHAIN), hardware="h100")
    built = plan.search.built
    order = precedence(built)
    weight = 1 + sum(len(site.alternatives.results) for site in built.graph.sites)
    rank = evaluate(order, plan.choice).cost
    sharded = sum(
        any(built.axes_of(plan.choice, site, result))
        for site, each in enumerate(built.graph.sites)
        for result in range(len(each.alternatives.results))
    )
    assert rank == weight * len(built.collectives(plan.choice)) + sharded


def test_ties_are_broken_within_the_memory():
    """The second strategy has the better rank, but doesn't fit beside that of the other node."""
    nodes = [Node("a", [1.0, 1.0, 2.0]), Node("b", [1.0, 1.0])]
    ranks = [Node("a", [3.0, 0.0, 0.0]), Node("b", [2.0, 1.0])]
    value = Value(0, [0, 1, 1], [User(1, [0, 0])], [[0.0], [0.0]])
    free = Problem(nodes, [value])
    order = Problem(ranks, [value])
    assert break_ties(free, order, np.array([0, 0])).tolist() == [1, 1]
    buffers = [Buffer(0, 1, 0, [1.0, 2.0, 2.0]), Buffer(0, 1, 1, [1.0, 1.0])]
    limited = Problem(nodes, [value], buffers, limit=2.0)
    assert break_ties(limited, order, np.array([0, 0])).tolist() == [0, 1]
