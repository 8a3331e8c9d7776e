# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of plans with equal costs.

1. A plan with fewer collectives precedes one with more: completions of partial results and reshards
   of values, each counted once for each place in the program.
2. Among these, a plan with fewer sharded values precedes.

Places move one by one to strategies with which the cost is the same and the plan precedes, in their
order in the program, until none moves.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Node, Problem, Value
from pyshardy.auto.search.build import Built
from pyshardy.auto.solvers.local_search import LocalSearch

TOLERANCE = 1e-12
"""The part of the cost of a plan by which equal costs may differ."""


def precedence(built: Built) -> Problem:
    """Return a problem whose costs order the plans of a program with equal costs.

    The cost is the number of collectives times a number above that of all values, plus the number
    of sharded values.
    """
    graph, problem = built.graph, built.problem
    weight = 1.0 + sum(len(site.alternatives.results) for site in graph.sites)
    places = Counter(built.colors)
    own: dict[int, Floats] = {}
    for site, color in zip(graph.sites, built.colors, strict=True):
        if color not in own:
            alternatives = site.alternatives
            completed = np.array([float(bool(each)) for each in alternatives.collectives])
            own[color] = completed * weight
            for result in alternatives.results:
                own[color] = own[color] + [float(any(dims)) for dims in result]
    nodes = [
        Node(node.name, np.where(np.isfinite(node.costs), own[color] * places[color], np.inf))
        for color, node in enumerate(problem.nodes)
    ]
    values = [
        Value(
            value.producer,
            value.source,
            value.users,
            np.where(
                np.isfinite(value.costs), (value.costs > 0) * weight * len(group.members), np.inf
            ),
        )
        for value, group in zip(problem.values, built.groups, strict=True)
    ]
    return Problem(nodes, values)


def break_ties(problem: Problem, order: Problem, choice: Ints) -> Ints:
    """Return a choice of the same cost, that no move of a single node makes precede.

    Args:
        problem: the problem.
        order: a problem with the same nodes, whose cost orders choices of equal cost.
        choice: the choice.
    """
    costs, precedences = LocalSearch(problem, choice), LocalSearch(order, choice)
    tolerance = TOLERANCE * abs(costs.cost)
    changed = True
    while changed:
        changed = False
        for node, one in enumerate(costs.choice):
            cost, rank = costs.marginals[node], precedences.marginals[node]
            better = np.flatnonzero((cost <= cost[one] + tolerance) & (rank < rank[one] - 0.5))
            for strategy in better[np.argsort(rank[better], kind="stable")].tolist():
                costs.move(node, strategy)
                if costs.fits:
                    precedences.move(node, strategy)
                    changed = True
                    break
                costs.move(node, one)
    return np.array(costs.choice, np.int64)
