# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes that become part of a neighbor, compared with brute force."""

import numpy as np
from brute_force import brute_force
from hypothesis import given, settings
from hypothesis import strategies as st
from random_sharding_problems import random_problem

from pyshardy.auto.problem.arrays import Buffer, Node, Problem, User, Value, evaluate
from pyshardy.auto.problem.reduce import reduce
from pyshardy.auto.problem.reduction_tables import tie


def with_ties(seed, number):
    """Return a random problem with values that tie nodes, in cycles as well."""
    given, draw = random_problem(seed, nodes=6, infinite=0), np.random.default_rng(seed)
    values = list(given.values)
    for _ in range(number):
        producer, user = draw.permutation(len(given.nodes))[:2].tolist()
        rows, columns = given.sizes[producer], given.sizes[user]
        table = np.full((rows, columns), np.inf)
        table[np.arange(rows), draw.integers(0, columns, rows)] = draw.integers(0, 4, rows)
        ends = [(producer, np.arange(rows)), (user, np.arange(columns))]
        if draw.random() < 0.5:  # the user determines the producer
            ends, table = ends[::-1], table.T
        (producer, source), (user, target) = ends
        values.append(Value(producer, source, [User(user, target)], table))
    return Problem(given.nodes, values, given.buffers, given.copies, given.limit)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_ties_keep_the_optimum(seed, number):
    problem = with_ties(seed, number)
    best, tied = brute_force(problem), tie(problem)
    found = brute_force(tied.problem)
    assert found.status == best.status
    assert found.cost == best.cost
    reduction = reduce(problem)
    if found.choice is None:
        return
    choice = found.choice.copy()
    for node, strategy_of in tied.rules():
        choice[node] = strategy_of(found.choice)
    assert evaluate(problem, choice).cost == best.cost
    assert evaluate(problem, choice).fits(problem.limit)
    restored = reduction.restore(brute_force(reduction.problem).choice)
    assert evaluate(problem, restored).cost == best.cost
    assert evaluate(problem, restored).fits(problem.limit)


def test_a_chain_of_ties_is_one_node():
    own = np.arange(3)
    forbidden = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    nodes = [Node(f"n{number}", [2.0, 1.0, 3.0]) for number in range(50)]
    values = [Value(number, own, [User(number + 1, own)], forbidden) for number in range(49)]
    buffers = [Buffer(number, number + 2, number, [1.0, 4.0, 1.0]) for number in range(50)]
    problem = Problem(nodes, values, buffers, limit=5.0)
    tied = tie(problem)
    assert len(tied.nodes) == 49
    assert not tied.problem.values
    choice = reduce(problem).restore(np.zeros(1, np.int64))
    assert choice.tolist() == [0] * 50
