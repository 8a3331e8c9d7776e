# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and solvers on random problems, compared with brute force."""

import math
from itertools import pairwise, product

import numpy as np
import pytest
from brute_force import brute_force
from hypothesis import given, settings
from hypothesis import strategies as st
from random_sharding_problems import random_problem

from pyshardy.auto.problem.arrays import Buffer, Node, Problem, User, Value, evaluate
from pyshardy.auto.problem.reduce import reduce
from pyshardy.auto.problem.solution import solution_of
from pyshardy.auto.solvers import combined
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.exact_parts import Neighborhoods
from pyshardy.auto.solvers.kept_messages import KeptMessages
from pyshardy.auto.solvers.least_memory import GAP, least_memory, smallest_peak
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver import solve

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_reductions_keep_the_optimum(seed):
    problem = random_problem(seed)
    best, reduction = brute_force(problem), reduce(problem)
    if reduction.problem is None:
        assert best.status == "infeasible"
        return
    reduced = brute_force(reduction.problem)
    assert reduced.status == best.status
    if reduced.choice is not None:
        choice = reduction.restore(reduced.choice)
        evaluation = evaluate(problem, choice)
        assert evaluation.fits(problem.limit)
        assert evaluation.cost == best.cost == reduced.cost
        again = reduction.restrict(choice)
        assert (reduction.restore(again) == choice).all()


def test_trees_are_solved_by_reduction():
    draw = np.random.default_rng(0)
    nodes = [Node(f"n{number}", draw.random(5)) for number in range(30)]
    own = np.arange(5)
    values = [
        Value(int(draw.integers(number)), own, [User(number, own)], draw.random((5, 5)))
        for number in range(1, 30)
    ]
    problem = Problem(nodes, values)
    reduction = reduce(problem)
    assert [len(node.costs) for node in reduction.problem.nodes] == [1]
    solution = solve(problem, gap=0)
    assert solution.status == "optimal"
    assert reduction.problem.nodes[0].costs[0] == pytest.approx(solution.cost)


@given(SEEDS, st.sampled_from([0.02, 0.1, 0.3]))
@settings(max_examples=60, deadline=None)
def test_bounds_hold_whatever_the_gap(seed, gap):
    """Strategies without which the gap can be proven are removed: the bound must not exceed it."""
    problem = random_problem(seed)
    best, found = brute_force(problem), solve(problem, by="highs", gap=gap)
    assert found.status == best.status
    if best.choice is not None:
        assert found.bound <= best.cost * (1 + 1e-6)
        assert best.cost <= found.cost * (1 + 1e-9)
        assert found.gap <= gap


@given(SEEDS)
@settings(max_examples=60, deadline=None)
def test_highs_finds_and_proves_the_optimum(seed):
    problem = random_problem(seed)
    best, found = brute_force(problem), solve(problem, by="highs", gap=0)
    assert found.status == best.status
    if best.choice is not None:
        assert found.cost == pytest.approx(best.cost)
        assert found.bound == pytest.approx(best.cost, abs=1e-4)
        assert evaluate(problem, found.choice).fits(problem.limit)
        again = solve(problem, by="highs", gap=0)
        assert (again.choice == found.choice).all()


def test_equal_strategies_give_the_first():
    own = [0, 1, 2]
    nodes = [Node("a", [1, 1, 1]), Node("b", [0, 0, 0])]
    values = [Value(0, own, [User(1, own)], np.ones((3, 3)))]
    assert solve(Problem(nodes, values)).choice.tolist() == [0, 0]


def test_missing_memory_is_listed():
    nodes = [Node("small", [0, 1]), Node("large", [0, 1])]
    buffers = [Buffer(0, 2, 0, [8, 4]), Buffer(1, 2, 1, [100, 60])]
    solution = solve(Problem(nodes, [], buffers, limit=50))
    assert solution.status == "infeasible"
    assert solution.shortage.nbytes == 14
    assert solution.shortage.least == 64
    assert solution.shortage.point == 1
    assert solution.shortage.needs == ((1, 60), (0, 4))


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_the_least_memory_is_found_and_bounded(seed):
    given = random_problem(seed)
    problem = Problem(given.nodes, given.values, given.buffers, given.copies, limit=1e-6)
    reduced = reduce(problem).problem
    permitted = [np.flatnonzero(np.isfinite(node.costs)) for node in problem.nodes]
    evaluations = (evaluate(problem, each) for each in product(*permitted))
    expected = min((each.peak for each in evaluations if np.isfinite(each.cost)), default=np.inf)
    if reduced is None:
        return
    found = least_memory(reduced, seconds=10)
    assert smallest_peak(reduced) <= found.bound <= expected * (1 + 1e-6) + 1e-6
    if found.choice is not None:
        assert expected <= found.peak * (1 + 1e-9)
        assert found.peak <= (1 + GAP) * found.bound + 1e-4
    else:
        assert expected == np.inf


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_kept_messages_solve_each_restriction(seed):
    problem = random_problem(seed)
    if brute_force(problem).choice is None:
        return
    draw = np.random.default_rng(seed)
    kept = draw.choice(len(problem.nodes), 2, replace=False).tolist()
    messages = KeptMessages(problem, kept, gap=0, timeout=10)
    for _ in range(4):
        permitted = {
            node: frozenset(np.flatnonzero(draw.random(problem.sizes[node]) < 0.7).tolist())
            for node in kept
        }
        costs = [np.array(node.costs) for node in problem.nodes]
        for node, strategies in permitted.items():
            costs[node][[at for at in range(len(costs[node])) if at not in strategies]] = np.inf
        nodes = [Node(node.name, own) for node, own in zip(problem.nodes, costs, strict=True)]
        restricted = Problem(nodes, problem.values, problem.buffers, problem.copies, problem.limit)
        best = brute_force(restricted)
        start = np.zeros(len(nodes), np.int64) if best.choice is None else best.choice
        found = messages.solve(permitted, timeout=10, cost=10.0, start=start)
        if best.choice is None:
            assert found is None
        elif found is not None:  # otherwise the reduction has removed a strategy of the start
            assert found.cost == pytest.approx(best.cost)
            assert best.cost - 1e-4 <= found.bound <= best.cost + 1e-4
            assert all(found.choice[node] in each for node, each in permitted.items())


def test_incompatible_strategies_are_named():
    nodes = [Node("a", [0]), Node("b", [0])]
    solution = solve(Problem(nodes, [Value(0, [0], [User(1, [0])], [[np.inf]])]))
    assert solution.status == "infeasible"
    assert solution.notes == ("no strategy of 'a' is compatible with those of its neighbors",)


def test_no_time_gives_what_is_known():
    solution = solve(Problem([Node("a", [2, 1])]), timeout=0)
    assert solution.status in ("optimal", "unknown")


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_message_passing_finds_choices_and_bounds(seed):
    problem = random_problem(seed)
    best = brute_force(problem)
    found = solve(problem, by="message_passing", gap=0.05, timeout=0.05)
    if best.choice is None:
        assert found.choice is None
        return
    assert found.bound <= best.cost + 1e-9
    if found.choice is not None:
        assert found.cost >= best.cost
        assert evaluate(problem, found.choice).fits(problem.limit)


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_message_passing_goes_on_from_highs(seed):
    """Without time for HiGHS, it improves the choice and the bound that are known until then."""
    problem = random_problem(seed)
    best = brute_force(problem)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combined, "HIGHS_SHARE", 0.0)
        found = solve(problem, gap=0.0, timeout=0.05)
    assert found.bound <= best.cost + 1e-9
    if found.choice is not None:
        assert found.cost >= best.cost
        assert evaluate(problem, found.choice).fits(problem.limit)
    elif best.choice is not None:
        assert found.status == "unknown"


def test_the_better_choice_and_the_higher_bound_are_joined():
    problem = Problem([Node("a", [4.0, 5.0])])
    first = solution_of(problem, np.array([1]), 3.0, 0.1, 0.0)
    second = solution_of(problem, np.array([0]), 1.0, 0.1, 0.0)
    joined = combined.joined(first, second, 0.1, 0.0)
    assert (joined.cost, joined.bound, joined.status) == (4.0, 3.0, "feasible")
    assert joined.notes[0] == "the choice is by message passing, the bound by HiGHS"
    assert combined.joined(second, first, 0.25, 0.0).status == "optimal"


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_messages_never_lower_the_bound(seed):
    reduced = reduce(random_problem(seed, nodes=6)).problem
    if reduced is None or not reduced.nodes:
        return
    dual, best = Dual(reduced), brute_force(reduced).cost
    bounds = []
    for _ in range(5):
        dual.run()
        bounds.append(dual.bound())
    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(bounds))
    dual.set_prices(np.full(reduced.points, 0.5))
    dual.run()
    assert max(*bounds, dual.bound()) <= best + 1e-9


@given(SEEDS)
@settings(max_examples=40, deadline=None)
def test_moves_keep_costs_and_memory(seed):
    problem = random_problem(seed, infinite=0)
    draw = np.random.default_rng(seed)
    search = LocalSearch(problem, np.zeros(len(problem.nodes), np.int64))
    for _ in range(10):
        node = int(draw.integers(len(problem.nodes)))
        search.move(node, int(draw.integers(len(problem.nodes[node].costs))))
    evaluation = evaluate(problem, search.choice)
    assert search.cost == pytest.approx(evaluation.cost)
    assert search.memory == pytest.approx(evaluation.memory)
    for node, one in enumerate(search.choice):
        for other, marginal in enumerate(search.marginals[node]):
            moved = [*search.choice[:node], other, *search.choice[node + 1 :]]
            added = marginal - search.marginals[node][one]
            assert evaluate(problem, moved).cost - evaluation.cost == pytest.approx(added)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_neighborhoods_are_parts_of_the_problem(seed):
    problem = random_problem(seed, nodes=6, infinite=0)
    draw = np.random.default_rng(seed)
    choice = np.array([draw.integers(len(node.costs)) for node in problem.nodes])
    neighborhoods = Neighborhoods(problem)
    free = neighborhoods.around([0, 3], 6)
    part = neighborhoods.part(choice, free)
    before = evaluate(part, [*choice[free], 0, 0])
    if problem.limit is not None:
        assert before.peak == evaluate(problem, choice).peak
    changed = choice.copy()
    changed[free] = [draw.integers(len(problem.nodes[node].costs)) for node in free]
    after = evaluate(part, [*changed[free], 0, 0])
    wanted = evaluate(problem, changed).cost - evaluate(problem, choice).cost
    assert after.cost - before.cost == pytest.approx(wanted)


def grid_of_ties(seed, width=5, strategies=4, most=4):
    """Return a problem on a grid with small whole costs, so that many strategies are as good."""
    draw = np.random.default_rng(seed)
    count, own = width * width, np.arange(strategies)
    nodes = [
        Node(f"n{number}", 1.0 * draw.integers(0, most, strategies)) for number in range(count)
    ]
    values = []
    for number in range(count):
        right = [number + 1] if (number + 1) % width else []
        below = [number + width] if number + width < count else []
        if right or below:
            costs = 1.0 * draw.integers(0, most, (strategies, strategies))
            np.fill_diagonal(costs, 0)
            users = [User(each, own) for each in (*right, *below)]
            values.append(Value(number, own, users, costs))
    return Problem(nodes, values)


@pytest.mark.parametrize("seed", [169, 179])
def test_the_best_choice_is_kept_when_strategies_are_removed(seed):
    """A strategy of it may be removed in favor of one that is as good, if a neighbor moves, too."""
    found = solve(grid_of_ties(seed), gap=0.3)
    assert found.cost == pytest.approx(found.bound, rel=1e-6)


def test_moves_of_users_of_one_value_keep_costs():
    draw = np.random.default_rng(0)
    nodes = [Node(f"n{number}", draw.integers(0, 8, 3)) for number in range(12)]
    # Node 11 uses the value twice. Costs of others change where the only use of a form goes.
    users = [User(number, draw.integers(0, 3, 3)) for number in [*range(1, 12), 11]]
    value = Value(0, np.arange(3), users, draw.integers(0, 8, (3, 3)).astype(float))
    problem = Problem(nodes, [value])
    search = LocalSearch(problem, np.zeros(12, np.int64))
    for _ in range(200):
        search.move(int(draw.integers(12)), int(draw.integers(3)))
        known = LocalSearch(problem, np.array(search.choice))
        assert search.cost == pytest.approx(known.cost)
        for changed, computed in zip(search.marginals, known.marginals, strict=True):
            assert changed == pytest.approx(computed)


def test_local_search_stops_after_some_work():
    problem = random_problem(1, nodes=12, infinite=0)
    search = LocalSearch(problem, np.zeros(12, np.int64))
    started = search.work
    search.improve(math.inf, most_work=1)
    assert search.work - started < 200
    stopped = search.cost
    search.improve(math.inf)
    assert search.cost < stopped
