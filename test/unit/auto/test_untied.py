# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bounds of plans in which equal sites may have different strategies."""

import json
import math

import numpy as np
import pytest
from brute_force import brute_force

import pyshardy as sdy
from pyshardy.auto.problem.arrays import Node, Problem, evaluate
from pyshardy.auto.problem.reduce import reduce
from pyshardy.auto.search.build import build, fold
from pyshardy.auto.search.ties import lower_bound, untied_bound

pytest.importorskip("highspy")

LAYER = """
  %p{0} = stablehlo.dot_general %h{0}, %w, contracting_dims = [1] x [0]
    : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %h{1} = stablehlo.transpose %p{0}, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>"""


def layers(number):
    """Return a program of equal layers, each with a product and a transposition."""
    body = "".join(LAYER.format(layer, layer + 1) for layer in range(number))
    return sdy.parse(f"""
sdy.mesh @mesh = <["x"=2]>
func.func @main(%h0: tensor<8x8xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{{"x"}}, {{}}]>}},
    %w: tensor<8x8xf32>) -> tensor<8x8xf32> {{{body}
  return %h{number} : tensor<8x8xf32>
}}""")


@pytest.fixture(scope="module")
def small():
    return sdy.auto_shard(layers(4), hardware="h100", objective="bytes", gap=0.0)


@pytest.fixture(scope="module")
def folded():
    """A plan of a program that is folded."""
    return sdy.auto_shard(layers(160), hardware="h100", objective="bytes")


def test_between_zero_and_the_optimum(small):
    """Tied choices cost at least the optimum without ties, and that is at least the bound."""
    built = small.search.built
    tied = build(built.graph, built.reshards, colors=fold(built.graph, most=4))
    assert tied.is_folded
    assert not built.is_folded
    optimum = brute_force(reduce(built.problem).problem).cost
    assert optimum == small.cost > 0
    bound = untied_bound(tied, {}, gap=0.01, timeout=10.0)
    assert bound == pytest.approx(optimum, rel=1e-5)
    assert bound <= optimum <= brute_force(reduce(tied.problem).problem).cost
    assert small.untied_bound == small.bound


def test_permitted_strategies_count(small):
    """The bound is that of the strategies that are permitted, infinite without any."""
    built = small.search.built
    last = len(built.graph.sites) - 1
    chosen = int(small.choice[built.colors[last]])
    number = len(built.graph.sites[last].alternatives.costs)
    others = {last: frozenset(range(number)) - {chosen}}
    optimum = brute_force(reduce(built.restricted(built.problem, others)).problem).cost
    assert 0 < untied_bound(built, others, gap=0.01, timeout=10.0) <= optimum
    assert untied_bound(built, {last: frozenset()}, gap=0.01, timeout=10.0) == math.inf


def test_random_problems(small):
    """With other costs of nodes, the bound is at most that of all choices."""
    draw = np.random.default_rng(0)
    problem = small.search.built.problem
    for _ in range(5):
        nodes = [
            Node(node.name, node.costs + draw.integers(0, 300, len(node.costs)))
            for node in problem.nodes
        ]
        changed = Problem(nodes, problem.values)
        optimum = brute_force(reduce(changed).problem).cost
        bound = lower_bound(changed, gap=0.01, timeout=10.0)
        assert 0 < bound <= optimum + 1e-9
    assert evaluate(problem, small.choice).cost == small.cost


def test_certificate(folded, tmp_path):
    assert folded.search.built.is_folded
    assert 0 < folded.untied_bound <= folded.bound <= folded.cost
    (note,) = (each for each in folded.notes if "in which equal places differ" in each)
    assert note in " ".join(str(folded).split())  # lines are wrapped
    path = tmp_path / "plan.json"
    folded.save(path)
    assert sdy.ShardingPlan.load(path).untied_bound == folded.untied_bound
    entries = json.loads(path.read_text())
    del entries["untied_bound"]
    path.write_text(json.dumps(entries))
    assert sdy.ShardingPlan.load(path).untied_bound is None


def test_no_bound_of_large_programs(small):
    built = small.search.built
    assert untied_bound(built, {}, gap=0.01, timeout=10.0, most=len(built.graph.sites) - 1) is None
