# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prices of memory: bounds that hold, and choices within a limit that is scarce."""

import time

import numpy as np
from brute_force import brute_force
from hypothesis import given, settings
from hypothesis import strategies as st
from random_sharding_problems import random_problem

from pyshardy.auto.problem.arrays import Buffer, Copy, Node, Problem, User, Value, evaluate
from pyshardy.auto.problem.prices import priced
from pyshardy.auto.problem.reduce import reduce
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.price_search import PriceSearch
from pyshardy.auto.solvers.solver_run import SolverRun, Task

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_bounds_hold_while_prices_change(seed):
    """Prices rise and fall, also those of copies, which several users share."""
    problem = reduce(random_problem(seed)).problem
    best = None if problem is None else brute_force(problem)
    if best is None or best.choice is None:
        return
    draw, dual = np.random.default_rng(seed), Dual(problem)
    for _ in range(6):
        prices = draw.random(problem.points) * draw.integers(0, 2, problem.points)
        dual.set_prices(prices)
        dual.run()
        assert dual.bound() <= best.cost + 1e-9
    dual.set_prices(np.zeros(problem.points))
    assert dual.bound() <= best.cost + 1e-9


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_priced_problems_cost_their_live_bytes(seed):
    problem = random_problem(seed)
    draw = np.random.default_rng(seed)
    prices = draw.random(problem.points)
    choice = [int(draw.integers(size)) for size in problem.sizes]
    found, expected = evaluate(priced(problem, prices), choice), evaluate(problem, choice)
    np.testing.assert_allclose(found.cost, expected.cost + prices @ expected.memory)


def test_a_free_plan_that_does_not_fit_is_left():
    """Everything replicated costs nothing. Within the limit, all nodes have to move together.

    Each node holds 4 bytes, or 1 if it is sharded, and each move between both makes a copy.
    """
    count, same = 12, np.array([0, 1])
    nodes = [Node(f"n{number}", [0.0, 1.0 if number % 3 == 0 else 0.0]) for number in range(count)]
    values = [
        Value(number, same, [User(number + 1, same)], [[0.0, 5.0], [5.0, 0.0]])
        for number in range(count - 1)
    ]
    buffers = [Buffer(0, count, number, [4.0, 1.0]) for number in range(count)]
    copies = [
        Copy(number, number + 1, number, target, [4.0 * (target != source) for source in (0, 1)])
        for number in range(count - 1)
        for target in (0, 1)
    ]
    problem = Problem(nodes, values, buffers, copies, limit=16.0)
    run = SolverRun(Task(problem, reduce(problem), 0.0, time.perf_counter(), 60.0))
    dual = Dual(run.problem)
    search = LocalSearch(run.problem, np.zeros(len(run.problem.nodes), np.int64))
    PriceSearch(run, search, dual).run(run.deadline)
    assert run.reduction.restore(run.choice).tolist() == [1] * count
    assert 0 < run.bound <= run.cost == 4.0
