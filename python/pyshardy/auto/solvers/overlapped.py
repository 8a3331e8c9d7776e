# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The best choice where communication is hidden behind computation (`problem.hiding`).

1. With a price for each body, the problem is one without overlap, and its bound is valid. The
   prices are those of the highest bound that the choices so far permit, by a linear program
   (Kelley's cutting planes), until they don't change or the gap is proven.
2. The choices of 1. hide all communication of a body, or none of it costs more than it hides. The
   best one may be between them: the exact problem is solved with the strategies that any of them
   has; and if it is small, with all strategies.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Node, Problem, evaluate
from pyshardy.auto.problem.hiding import Hiding
from pyshardy.auto.problem.reduce import entries
from pyshardy.auto.problem.solution import Solution, relative_gap
from pyshardy.auto.solvers.flow_model import SparseRows
from pyshardy.auto.solvers.linear_program import LinearProgram

_ROUNDS = 8
"""The most prices that are tried."""

_SMALL = 20_000
"""The pairs of classes up to which the exact problem is solved with all strategies."""

NEAR = 0.25
"""The relative excess over the least cost up to which a solution keeps other choices."""

_OTHERS = 3
"""The most other choices of a solution."""

_EXACT_SHARE = 2.0
"""The most seconds for the exact problem, for each second of the search before."""

Run = Callable[[Problem, "Ints | None", float], Solution]
"""A solver of problems without overlap: takes the problem, a start if known, and the seconds."""


def solve_with_overlap(
    problem: Problem, hiding: Hiding, run: Run, *, gap: float, start: Ints | None
) -> Solution:
    """Return the best choice that is found, with its cost and bound with overlap.

    Args:
        problem: the problem; its costs are those without overlap.
        hiding: what can be hidden.
        run: solves a problem without overlap, in a part of the time that is left.
        gap: the gap that suffices.
        start: a choice to start from.
    """
    search = _OverlapSearch(problem, hiding, run, gap)
    found = search.search(start)
    return replace(found, seconds=time.perf_counter() - search.begun)


class _OverlapSearch:
    """The search for one problem."""

    def __init__(self, problem: Problem, hiding: Hiding, run: Run, gap: float):
        self.problem, self.hiding, self.run, self.gap = problem, hiding, run, gap
        self.begun = time.perf_counter()
        self.choices: list[Ints] = []
        self.cuts: list[tuple[float, Floats]] = []
        self.offers: list[tuple[float, Ints]] = []
        self.best: Ints | None = None
        self.cost, self.bound = np.inf, -np.inf

    @property
    def _is_proven(self) -> bool:
        return relative_gap(self.cost, self.bound) <= self.gap

    def search(self, start: Ints | None) -> Solution:
        """Return the best choice; without one, the solution of the first problem."""
        prices: Floats = np.zeros(len(self.hiding.bodies))
        last: Floats | None = None
        found: Solution | None = None
        for _ in range(_ROUNDS):
            begin = start if self.best is None else self.best
            found = self.run(self.hiding.priced(self.problem, prices), begin, np.inf)
            if found.choice is None:
                break
            self.bound = max(self.bound, found.bound)
            self._offer(found.choice)
            if self._is_proven or (last is not None and np.abs(prices - last).max() < 1e-3):
                break
            bodies = [body.number for body in self.hiding.bodies]
            last, prices = prices, _highest(self.cuts, bodies)
        assert found is not None, "at least one round"
        if self.best is None:
            return found
        if not self._is_proven:
            self._solve_exactly()
        bound = min(self.bound, self.cost)
        status = "optimal" if relative_gap(self.cost, bound) <= self.gap else "feasible"
        ranked = sorted(self.offers, key=lambda each: each[0])
        others = [choice for cost, choice in ranked if cost < (1 + NEAR) * self.cost]
        return replace(
            found,
            status=status,
            choice=self.best,
            cost=self.cost,
            bound=bound,
            others=tuple(others[:_OTHERS]),
        )

    def _offer(self, choice: Ints) -> None:
        """Keep a choice with the bound that it gives for other prices."""
        sent, computed = self.hiding.amounts(self.problem, choice)
        evaluation = evaluate(self.problem, choice)
        self.choices.append(choice)
        self.cuts.append((evaluation.cost - float(sent.sum()), sent - computed))
        cost = evaluation.cost - float(np.minimum(sent, computed).sum())
        if evaluation.fits(self.problem.limit):
            self.offers.append((cost, choice))
            if cost < self.cost:
                self.best, self.cost = choice, cost

    def _solve_exactly(self) -> None:
        """Solve the exact problem with some strategies, and with all if it is small."""
        every = [np.ones(len(node.costs), np.bool_) for node in self.problem.nodes]
        some = [np.zeros(len(node.costs), np.bool_) for node in self.problem.nodes]
        for choice in self.choices:
            for kept, one in zip(some, choice.tolist(), strict=True):
                kept[one] = True
        for kept in (some, every):
            if kept is every and (self._is_proven or entries(self.problem) > _SMALL):
                return
            assert self.best is not None, "checked by the caller"
            # A choice with more exposed communication than the best one costs isn't better.
            exact, begin, rounding = self.hiding.exact(self.problem, self.best, self.cost)
            extra = exact.nodes[len(kept) :]
            nodes = [
                Node(node.name, np.where(mask, node.costs, np.inf))
                for node, mask in zip(exact.nodes, kept, strict=False)
            ]
            seconds = _EXACT_SHARE * (time.perf_counter() - self.begun)
            found = self.run(exact.with_nodes([*nodes, *extra]), begin, seconds)
            if kept is every and self.hiding.is_exact:
                self.bound = max(self.bound, found.bound - rounding)
            if found.choice is not None:
                self._offer(found.choice[: len(kept)])


def _highest(cuts: Sequence[tuple[float, Floats]], groups: Sequence[int]) -> Floats:
    """Return the prices from 0 on at which the least of some linear functions is the highest.

    Args:
        cuts: the value of each function at 0, and its slopes.
        groups: the number of each price's group; the prices of a group add up to 1 at most.
    """
    count, bodies = len(cuts), len(groups)
    unit = max(1e-300, *(abs(constant) for constant, _ in cuts))
    table: Floats = np.zeros((count + bodies, 1 + bodies))
    table[:count, 0] = 1.0
    for row, (_, slopes) in enumerate(cuts):
        table[row, 1:] = -slopes / unit
    for column, group in enumerate(groups, 1):
        table[count + groups.index(group), column] = 1.0
    upper: Floats = np.array([constant / unit for constant, _ in cuts] + [1.0] * bodies)
    rows, columns = np.nonzero(table)
    starts: Ints = np.searchsorted(rows, np.arange(len(table) + 1))
    lower: Floats = np.full(len(upper), -np.inf)
    matrix = SparseRows(lower, upper, starts, columns, table[rows, columns])
    found = LinearProgram(np.array([-1.0] + [0.0] * bodies), matrix).run(10.0)
    if found.solution is None:
        return np.full(bodies, 0.5 / bodies)
    return np.clip(found.solution[1:], 0.0, 1.0)
