# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages that are kept, for problems that differ in the permitted strategies.

Some nodes keep all their strategies when the problem is reduced, and messages are passed once. Each
solution permits some of these strategies: others get a penalty, so that a few more passes give its
bound. The search of `highs` goes on from them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Node, Problem, evaluate
from pyshardy.auto.problem.reduce import reduce
from pyshardy.auto.problem.solution import Solution
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.highs import HighsSearch, pass_messages
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver import ProgressCallback
from pyshardy.auto.solvers.solver_run import Task

_PENALTY = 2.0
"""The penalty of a strategy that isn't permitted, as a multiple of the cost of a known choice."""


class KeptMessages:
    """The messages of a problem.

    Args:
        problem: the problem, of which a choice is known.
        keep: the nodes whose strategies may be permitted or not.
        gap: the gap that suffices.
        timeout: the seconds for messages.
    """

    def __init__(
        self, problem: Problem, keep: Iterable[int], *, gap: float, timeout: float
    ) -> None:
        self._given, self._gap = problem, gap
        self._reduction = reduce(problem, frozenset(keep))
        reduced = self._reduction.problem
        assert reduced is not None, "a choice of the problem is known"
        self._problem = reduced
        self._dual = Dual(reduced)
        deadline = time.perf_counter() + timeout
        for _ in pass_messages(self._dual, gap, deadline):
            pass

    def solve(
        self,
        permitted: Mapping[int, frozenset[int]],
        *,
        timeout: float,
        cost: float,
        start: Ints,
        progress: ProgressCallback | None = None,
    ) -> Solution | None:
        """Return the best choice with some strategies of kept nodes that is found in time.

        The start has to be permitted. If its counterpart in the reduced problem isn't, because a
        strategy was removed, the result is None.

        Args:
            permitted: the strategies by node; all for other nodes.
            timeout: the seconds that may be spent.
            cost: the cost of a choice, by which penalties are scaled.
            start: a permitted choice to start from.
            progress: called with the state of the search now and then.
        """
        started = time.perf_counter()
        kept: dict[int, frozenset[int]] = {}
        for node, own in permitted.items():
            left: list[int] = self._reduction.strategies(node).tolist()
            at = self._reduction.position(node)
            kept[at] = frozenset(number for number, one in enumerate(left) if one in own)
        reduced = _with_penalty(self._problem, kept, np.inf)
        own = self._reduced_start(reduced, start, started + timeout)
        if own is None:
            return None
        reduction = replace(self._reduction, problem=reduced)
        dual = Dual(_with_penalty(self._problem, kept, _PENALTY * abs(cost) + 1e-300))
        dual.go_on_from(self._dual)
        problem = _with_penalty(self._given, permitted, np.inf)
        task = Task(problem, reduction, self._gap, started, timeout, progress)
        return HighsSearch(task, dual).run(reduction.restore(own))

    def _reduced_start(self, reduced: Problem, start: Ints, deadline: float) -> Ints | None:
        """Return a permitted choice of the reduced problem near a start, or None."""
        search = LocalSearch(reduced, self._reduction.restrict(start))
        search.descend(deadline)
        choice = np.array(search.choice, np.int64)
        found = evaluate(reduced, choice)
        return choice if math.isfinite(found.cost) and found.fits(reduced.limit) else None


def _with_penalty(
    problem: Problem, permitted: Mapping[int, frozenset[int]], penalty: float
) -> Problem:
    """Return a problem in which strategies that aren't permitted cost more."""
    nodes = list(problem.nodes)
    for node, kept in permitted.items():
        costs: Floats = np.array(nodes[node].costs)
        costs[[at for at in range(len(costs)) if at not in kept]] += penalty
        nodes[node] = Node(nodes[node].name, costs)
    return problem.with_nodes(nodes)
