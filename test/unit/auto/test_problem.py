# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The cost and the memory of a choice, by their definition."""

import doctest
import math

import numpy as np
import pytest
from brute_force import brute_force

from pyshardy.auto.problem import arrays
from pyshardy.auto.problem.arrays import Buffer, Copy, Node, Problem, User, Value, evaluate
from pyshardy.auto.problem.solution import relative_gap


def test_the_example():
    assert not doctest.testmod(arrays).failed


def shared_value(**memory):
    """A producer of 2 classes whose value 2 nodes use, each in one of 2 classes."""
    nodes = [Node("p", [1, 4]), Node("u", [0, 0]), Node("v", [0, 0])]
    users = [User(1, [0, 1]), User(2, [0, 1])]
    return Problem(nodes, [Value(0, [0, 1], users, [[0, 5], [7, 0]])], **memory)


def test_users_of_one_class_share_a_reshard():
    assert evaluate(shared_value(), [0, 1, 1]).cost == 1 + 5
    assert evaluate(shared_value(), [0, 0, 1]).cost == 1 + 0 + 5
    assert evaluate(shared_value(), [1, 0, 1]).cost == 4 + 7 + 0


def test_memory_is_that_of_live_buffers_and_needed_copies():
    problem = shared_value(
        buffers=[Buffer(0, 2, 0, [10, 20]), Buffer(1, 3, 1, [1, 2])],
        copies=[Copy(2, 4, 0, 1, [100, 0])],
    )
    assert evaluate(problem, [0, 0, 1]).memory.tolist() == [10, 11, 101, 100]
    assert evaluate(problem, [1, 1, 0]).memory.tolist() == [20, 22, 2, 0]
    assert evaluate(problem, [0, 0, 0]).peak == 11


@pytest.mark.parametrize(("limit", "wanted"), [(None, [0, 0, 0]), (15, [1, 1, 1]), (4, None)])
def test_brute_force_respects_the_limit(limit, wanted):
    problem = shared_value(buffers=[Buffer(0, 1, 0, [16, 5])], limit=limit)
    solution = brute_force(problem)
    assert (None if solution.choice is None else solution.choice.tolist()) == wanted
    assert solution.status == ("infeasible" if wanted is None else "optimal")
    assert solution.gap == (math.inf if wanted is None else 0) or wanted is None


def test_arrays_are_constant():
    costs = np.array([1.0, 2.0])
    node = Node("a", costs)
    costs[0] = 5
    assert node.costs[0] == 1
    with pytest.raises(ValueError, match="read-only"):
        node.costs[0] = 2


@pytest.mark.parametrize(
    ("cost", "bound", "gap"), [(4, 3, 0.25), (0, 0, 0), (0, -1, math.inf), (math.inf, 1, math.inf)]
)
def test_gaps_are_fractions_of_the_cost(cost, bound, gap):
    assert relative_gap(cost, bound) == gap


A, B = Node("a", [0.0]), Node("b", [0.0, 1.0])


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (([Node("a", [])],), "node 'a' needs a list of costs"),
        (([Node("a", [math.nan])],), "node 'a' needs a list of costs"),
        (([Node("a", [-math.inf])],), "node 'a' has a cost of -inf"),
        (([A, B], [Value(0, [0], [User(1, [0, 0])], [[-1]])]), "matrix of non-negative costs"),
        (([A, B], [Value(0, [0], [], [[0]])]), "needs at least one user"),
        (([A, B], [Value(0, [0], [User(0, [0])], [[0]])]), "used by its producer"),
        (([A, B], [Value(0, [0], [User(1, [0])], [[0]])]), "has 2 strategies"),
        (([A, B], [Value(0, [0], [User(1, [0, 1])], [[0]])]), "costs for 1 classes"),
        (([A], [], [Buffer(2, 1, 0, [1])]), "live from 2 to 1"),
        (([A], [], [Buffer(0, 1, 0, [-1])]), "finite and non-negative"),
        (([B], [], [Buffer(0, 1, 0, [1])]), "has 2 strategies"),
        (([A, B], [Value(0, [0], [User(1, [0, 0])], [[0]])], [], [Copy(0, 1, 0, 1, [0])]), "copy"),
    ],
)  # fmt: skip
def test_wrong_parts_are_refused(parts, message):
    with pytest.raises(ValueError, match=message):
        Problem(*parts)
