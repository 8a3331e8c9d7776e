# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A linear relaxation that is kept, for problems that differ in the permitted strategies.

Some nodes keep all their strategies when the problem is reduced. Each solution permits some of
them: the bounds of the other columns are zero. The simplex method goes on from the last basis, so
that a solution takes a fraction of the time of the first one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.flow_model import FlowModel
from pyshardy.auto.linear_program import add_rows, linear_program
from pyshardy.auto.problem import Floats, Ints, Problem
from pyshardy.auto.reduce import reduce

_SCALE = 1e4
_TOLERANCE = 1e-6
_POINTS_AT_A_TIME = 24


@dataclass(frozen=True, slots=True, eq=False)
class Relaxed:
    """A solution of a relaxation.

    Attributes:
        bound: a lower bound of the cost; infinite if no choice is permitted.
        choice: the rounded choice of the given problem; None without one.
    """

    bound: float
    choice: Ints | None


class KeptRelaxation:
    """The linear relaxation of a problem.

    Args:
        problem: the problem.
        keep: the nodes whose strategies may be permitted or not.
        cost: the cost of a choice, by which costs are scaled.
    """

    def __init__(self, problem: Problem, keep: Iterable[int], cost: float) -> None:
        self._reduction = reduce(problem, frozenset(keep))
        reduced = self._reduction.problem
        assert reduced is not None, "a choice of the problem is known"
        self._problem = reduced
        self._model = FlowModel(reduced)
        self._scale = _SCALE / (abs(cost) or 1.0)
        self._highs = linear_program(self._model.costs * self._scale, self._model.rows)
        self._points: set[int] = set()

    def solve(self, permitted: Mapping[int, frozenset[int]], seconds: float) -> Relaxed | None:
        """Return the solution with some strategies of kept nodes; None if the time is up.

        Args:
            permitted: the strategies by node; all for other nodes.
            seconds: the time.
        """
        deadline = time.perf_counter() + seconds
        forbidden = self._columns_without(permitted)
        zeros = np.zeros(len(forbidden))
        self._highs.changeColsBounds(len(forbidden), forbidden, zeros, zeros)
        try:
            return self._solve(deadline)
        finally:
            self._highs.changeColsBounds(len(forbidden), forbidden, zeros, zeros + np.inf)

    def _solve(self, deadline: float) -> Relaxed | None:
        while (left := deadline - time.perf_counter()) > 0:
            self._highs.setOptionValue("time_limit", self._highs.getRunTime() + left)
            self._highs.run()
            status = self._highs.getModelStatus().name
            if status == "kInfeasible":
                return Relaxed(math.inf, None)
            if status != "kOptimal":
                return None
            solution: Floats = np.array(self._highs.getSolution().col_value)
            if self._add_violated(solution):
                continue
            objective = float(self._highs.getInfo().objective_function_value)
            bound = (objective - _TOLERANCE * max(1.0, abs(objective))) / self._scale
            return Relaxed(bound, self._reduction.restore(self._model.choice_of(solution)))
        return None

    def _columns_without(self, permitted: Mapping[int, frozenset[int]]) -> Ints:
        """Return the columns of strategies that aren't permitted."""
        found: list[int] = []
        for node, kept in permitted.items():
            at = self._reduction.position(node)
            first = int(self._model.first[at])
            strategies = self._reduction.strategies(node).tolist()
            found += [first + column for column, one in enumerate(strategies) if one not in kept]
        return np.array(found, np.int32)

    def _add_violated(self, solution: Floats) -> bool:
        """Add the memory constraints that a solution violates most; return whether there are."""
        limit = self._problem.limit
        if limit is None:
            return False
        live = self._model.live_bytes(solution)
        live[list(self._points)] = 0.0
        new = [at for at in np.argsort(-live).tolist() if live[at] > limit * (1 + 1e-7)]
        new = new[:_POINTS_AT_A_TIME]
        if new:
            add_rows(self._highs, self._model.memory_rows(new, limit))
        self._points |= {*new}
        return bool(new)
