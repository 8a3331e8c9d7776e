# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hidden communication in the optimization problem, compared with all choices."""

import itertools
from functools import partial

import numpy as np
import pytest
from random_sharding_problems import random_problem

from pyshardy.auto.problem.arrays import evaluate
from pyshardy.auto.problem.hiding import Hiding, HidingBody
from pyshardy.auto.solvers.overlapped import solve_with_overlap
from pyshardy.auto.solvers.solver import solve


def random_hiding(problem, seed, bodies):
    """Return bodies that share the nodes and the values of a problem."""
    rng = np.random.default_rng(seed)
    found = [HidingBody(number) for number in range(bodies)]
    for node, costs in enumerate(problem.nodes):
        finite = np.where(np.isfinite(costs.costs), costs.costs, 0.0)
        body = found[rng.integers(bodies)]
        part = rng.random(len(finite))
        body.computed[node] = 0.8 * part * finite
        if rng.random() < 0.3:
            body.sent[node] = (1 - part) * finite
    for index in range(len(problem.values)):
        if rng.random() < 0.7:
            costs = problem.values[index].costs
            finite = np.where(np.isfinite(costs), costs, 0.0)
            found[rng.integers(bodies)].resharded[index] = rng.random() * finite
    return Hiding(tuple(body for body in found if not body.is_empty))


def best_cost(problem, hiding):
    sizes = [range(len(node.costs)) for node in problem.nodes]
    costs = []
    for choice in itertools.product(*sizes):
        found = evaluate(problem, choice)
        if np.isfinite(found.cost) and found.fits(problem.limit):
            costs.append(found.cost - hiding.seconds(problem, choice))
    return min(costs, default=np.inf)


@pytest.mark.parametrize("seed", range(16))
def test_the_best_choice_is_found(seed):
    problem = random_problem(seed)
    hiding = random_hiding(problem, seed, 1 + seed % 3)
    run = partial(_run, gap=1e-6)
    found = solve_with_overlap(problem, hiding, run, gap=1e-3, start=None)
    best = best_cost(problem, hiding)
    if found.choice is None:
        assert best == np.inf
        return
    assert found.cost == pytest.approx(best, rel=2e-3)
    assert found.bound <= best * (1 + 1e-6)
    sent, computed = hiding.amounts(problem, found.choice)
    plain = evaluate(problem, found.choice).cost
    assert found.cost == pytest.approx(plain - np.minimum(sent, computed).sum())
    rng = np.random.default_rng(seed)
    prices = rng.random(len(hiding.bodies))
    priced = evaluate(hiding.priced(problem, prices), found.choice).cost
    assert priced <= found.cost * (1 + 1e-9)


def _run(problem, start, seconds, *, gap):
    return solve(problem, gap=gap, timeout=min(seconds, 10.0) + 1.0, start=start)
