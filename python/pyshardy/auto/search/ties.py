# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of plans with equal costs.

1. A plan with fewer collectives precedes one with more: completions of partial results and reshards
   of values, each counted once for each place in the program.
2. Among these, a plan with fewer sharded values precedes.

Places move one by one to strategies with which the cost is the same and the plan precedes, in their
order in the program, until none moves.
"""

from __future__ import annotations

import math
import time
from collections import Counter

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Node, Problem, Value
from pyshardy.auto.problem.reduce import entries, reduce
from pyshardy.auto.search.build import Built, Permitted, build
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.flow_model import FlowModel
from pyshardy.auto.solvers.highs import CHEAP_ENTRIES, SCALE, TOLERANCE, pass_messages
from pyshardy.auto.solvers.linear_program import LinearProgram
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver import is_installed

_TIE_TOLERANCE = 1e-12
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
    tolerance = _TIE_TOLERANCE * abs(costs.cost)
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


# --- Plans without folding ------------------------------------------------------------------------

# Folding (`fold`) ties the strategies of equal sites, so the bound of a plan is that of plans with
# equal shardings in all layers. The bound here is that of the problem without folding, which may be
# fifty times as large: no choice is searched, but messages are passed until the bound hardly rises,
# and the linear relaxation is solved where it is small.


MOST_SITES = 20_000
"""The sites up to which the bound is computed: half a minute for the largest programs."""

QUICK_SITES = 1_000
"""The sites up to which the bound is a part of the certificate: less than a second."""


def is_quick(built: Built) -> bool:
    """Whether a program is folded, and so small that the bound takes little time."""
    return built.is_folded and len(built.graph.sites) <= QUICK_SITES


def untied_bound(
    built: Built,
    permitted: Permitted,
    *,
    gap: float,
    timeout: float,
    most: int = MOST_SITES,
) -> float | None:
    """Return a lower bound of the cost of plans in which equal sites may differ.

    Args:
        built: the program.
        permitted: the strategies that sites may choose.
        gap: the gap asked for.
        timeout: the seconds for messages and the relaxation.
        most: the largest number of sites.

    Returns:
        The bound; None if the program is too large.
    """
    if len(built.graph.sites) > most:
        return None
    untied = build(built.graph, built.reshards, colors=[*range(len(built.graph.sites))])
    return lower_bound(untied.restricted(untied.problem, permitted), gap=gap, timeout=timeout)


def lower_bound(problem: Problem, *, gap: float, timeout: float) -> float:
    """Return a lower bound of the cost of all choices, however much memory they take.

    Args:
        problem: the problem.
        gap: passes of messages end when the bound rises by less than a part of this fraction.
        timeout: the seconds that may be spent; the bound is valid at any time.
    """
    deadline = time.perf_counter() + timeout
    reduced = reduce(problem).problem
    if reduced is None:
        return math.inf
    if not reduced.nodes:
        return 0.0
    least = sum(float(node.costs.min()) for node in reduced.nodes)
    bound = max([least, *pass_messages(Dual(reduced), gap, deadline)])
    if entries(reduced) > CHEAP_ENTRIES or not is_installed("highspy"):
        return bound
    return max(bound, _relaxed(reduced, deadline - time.perf_counter()))


def _relaxed(problem: Problem, seconds: float) -> float:
    """Return the optimum of the linear relaxation less tolerances; -inf if it isn't found."""
    if seconds <= 0:
        return -math.inf
    model = FlowModel(problem)
    scale = SCALE / max(1e-300, float(model.costs.max(initial=0.0)))
    program = LinearProgram(model.costs * scale, model.rows)
    found = program.run(seconds)
    if found.status != "kOptimal":
        return -math.inf
    objective = found.objective
    return (objective - 0.1 * TOLERANCE * max(1.0, abs(objective))) / scale
