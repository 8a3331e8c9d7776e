# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The choice of the lowest peak of memory, with a proven bound.

1. At each point of time, the smallest sizes of the live buffers add up to a bound.
2. The flow form (`flow_model`) with the peak as objective, and the live bytes at each point at most
   the peak, gives a better one. Constraints of points are added where a solution exceeds its peak.
3. A price of the bytes at each point makes the memory a cost, which local search reduces; then the
   prices rise where the memory is largest.
4. Branch and bound improves the choice, until it is within a fraction of the bound or the time is
   up.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.problem.arrays import Bools, Floats, Ints, Problem, evaluate
from pyshardy.auto.problem.prices import priced, without_costs
from pyshardy.auto.solvers.flow_model import FlowModel, SparseRows
from pyshardy.auto.solvers.highs_model import Outcome
from pyshardy.auto.solvers.linear_program import LinearProgram
from pyshardy.auto.solvers.local_search import LocalSearch

GAP = 0.01
"""The distance from the bound that suffices."""

_POINTS_AT_A_TIME = 24
_SEARCH_SHARE = 0.4
"""The fraction of the time that local search may take."""

_TOLERANCE = 1e-6
"""The tolerance of HiGHS for the scaled peak."""

_ROUNDS = 6
_STEEPNESS = 4
"""The exponent by which prices fall below the peak."""

_SCALE = 1e4
"""The scaled bound: tolerances of HiGHS are absolute."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastMemory:
    """A choice of little memory.

    Attributes:
        choice: the strategy of each node; None if none was found in time.
        peak: the most bytes that are live at a time; infinite without a choice.
        bound: a proven lower bound of the peak of all choices.
    """

    choice: Ints | None
    peak: float
    bound: float


def smallest_choice(problem: Problem) -> Ints:
    """Return the choice of the fewest bytes of each node, and of the least cost among these."""
    totals = [np.zeros(size) for size in problem.sizes]
    for buffer in problem.buffers:
        totals[buffer.node] = totals[buffer.node] + buffer.nbytes * (buffer.end - buffer.start)
    pairs = zip(problem.nodes, totals, strict=True)
    return np.array([np.lexsort((node.costs, total))[0] for node, total in pairs], np.int64)


def smallest_peak(problem: Problem) -> float:
    """Return a lower bound of the peak of all choices: that of the smallest buffers."""
    return float(_smallest_live_bytes(problem).max(initial=0.0))


def _smallest_live_bytes(problem: Problem) -> Floats:
    """Return the sum of the smallest sizes of the live buffers at each point."""
    changes = np.zeros(problem.points + 1)
    for buffer in problem.buffers:
        permitted = np.isfinite(problem.nodes[buffer.node].costs)
        nbytes = float(buffer.nbytes.min(initial=np.inf, where=permitted))
        changes[buffer.start] += nbytes
        changes[buffer.end] -= nbytes
    return np.cumsum(changes)[:-1]


def least_memory(problem: Problem, seconds: float, enough: float = 0.0) -> LeastMemory:
    """Return the choice of the lowest peak that is found in time.

    Args:
        problem: the problem, without strategies that aren't permitted; its limit doesn't count.
        seconds: the time.
        enough: a peak that suffices. The search also ends when the bound is above it.
    """
    search = _Search(problem, time.perf_counter() + seconds, enough)
    search.run()
    return LeastMemory(search.choice, search.peak, search.bound)


class _Search:
    """One search for a choice of little memory."""

    def __init__(self, problem: Problem, deadline: float, enough: float) -> None:
        self.problem, self.deadline, self.enough = problem, deadline, enough
        self.choice: Ints | None = None
        self.peak = float("inf")
        self.bound = smallest_peak(problem)
        self.unit = max(1.0, self.bound)
        self.points: set[int] = set()

    def run(self) -> None:
        """Search until the bound is reached or the time is up."""
        if not self.problem.nodes:
            return
        self._search_by_prices()
        if self._is_over:
            return
        self.model = FlowModel(self.problem)
        self.column = len(self.model.costs)
        costs = np.append(np.zeros(self.column), _SCALE)
        self.program = LinearProgram(costs, self.model.rows)
        self._add_points(_smallest_live_bytes(self.problem))
        if not self._relax():
            return
        self.program.make_integer(int(self.model.first[-1]), GAP / 2)
        while not self._is_over and (found := self._run()).status == "kOptimal":
            solution = found.solution
            assert solution is not None, "an optimum"
            self._raise_bound(found.bound / _SCALE)
            self._offer(self.model.choice_of(solution))
            if not self._add_violated(solution):
                return

    def _relax(self) -> bool:
        """Solve the linear relaxation; return whether it was solved in time."""
        while (found := self._run()).status == "kOptimal":
            solution = found.solution
            assert solution is not None, "an optimum"
            self._raise_bound(float(solution[self.column]))
            self._offer(self.model.choice_of(solution))
            if not self._add_violated(solution):
                return True
        return False

    def _raise_bound(self, found: float) -> None:
        """Raise the bound to a solution of HiGHS, less its tolerance."""
        self.bound = max(self.bound, (found - _TOLERANCE) * self.unit)

    def _run(self) -> Outcome:
        """Run HiGHS in the remaining time."""
        left = self.deadline - time.perf_counter()
        return Outcome("kTimeLimit") if left <= 0 else self.program.run(left)

    @property
    def _is_over(self) -> bool:
        """Whether the peak suffices, or is proven to be near the least."""
        is_proven = self.peak <= self.bound * (1 + GAP)
        return is_proven or self.peak <= self.enough or 0 < self.enough < self.bound

    def _search_by_prices(self) -> None:
        """Offer choices that local search finds for prices of the bytes at each point."""
        end = time.perf_counter() + _SEARCH_SHARE * (self.deadline - time.perf_counter())
        choice = smallest_choice(self.problem)
        prices, free = np.ones(self.problem.points), without_costs(self.problem)
        for _ in range(_ROUNDS):
            search = LocalSearch(priced(free, prices), choice)
            search.improve(end)
            choice = np.array(search.choice, np.int64)
            self._offer(choice)
            memory = evaluate(self.problem, choice).memory
            prices = prices * (memory / max(1.0, memory.max(initial=0.0))) ** _STEEPNESS
            if self._is_over or time.perf_counter() > end:
                return

    def _offer(self, choice: Ints) -> None:
        """Keep a choice if it is permitted and the best so far."""
        found = evaluate(self.problem, choice)
        if np.isfinite(found.cost) and found.peak < self.peak:
            self.choice, self.peak = choice, found.peak

    def _add_violated(self, solution: Floats) -> bool:
        """Add the points at which a solution exceeds its peak; return whether there are any."""
        live = self.model.live_bytes(solution[: self.column])
        exceeded: Bools = live > float(solution[self.column]) * self.unit + _TOLERANCE * self.unit
        return self._add_points(np.where(exceeded, live, -1.0))

    def _add_points(self, live: Floats) -> bool:
        """Add the points with the most live bytes; return whether there are new ones."""
        left = np.array(live)
        left[list(self.points)] = -1.0
        new: list[int] = []
        near = len(left) // (4 * _POINTS_AT_A_TIME)
        while len(new) < _POINTS_AT_A_TIME and left.max(initial=-1.0) > 0:
            point = int(np.argmax(left))
            new.append(point)
            # Points nearby have nearly the same constraint.
            left[max(0, point - near) : point + near + 1] = -1.0
        if new:
            self.program.add_rows(self._rows(new))
        self.points |= {*new}
        return bool(new)

    def _rows(self, points: list[int]) -> SparseRows:
        """Return the constraints that the live bytes at points are at most the peak."""
        rows = self.model.memory_rows(points, self.unit)
        ends = rows.starts[1:]
        return SparseRows(
            rows.lower,
            np.zeros(len(points)),
            rows.starts + np.arange(len(points) + 1),
            np.insert(rows.columns, ends, self.column),
            np.insert(rows.entries, ends, -1.0),
        )
