# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choices within the memory limit, and a bound of them, by prices of memory.

1. Passes of messages give a bound and a choice for the prices so far, none at first (`dual`).
2. The choice descends with these prices, is repaired, and the best is kept.
3. Prices rise where the decoded choice exceeds the limit, and fall elsewhere: subgradients with
   Polyak's step towards a level above the best bound (Held, Wolfe and Crowder 1974). Steps that
   don't raise the bound become shorter.
"""

from __future__ import annotations

import math
import time

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Problem
from pyshardy.auto.problem.prices import priced
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver_run import SolverRun

FIRST_PASSES = 10
"""The passes before memory has prices."""

PATIENCE = 60
"""The changes of prices without a better choice or bound after which the search ends."""

RISE = 1e-4
"""The least rise of a bound that is better."""

REPAIR_SHARE = 0.5
"""The fraction of the time for descents and repairs."""

GUESS = 0.005
"""The cost of a choice as a fraction of one above all choices, as long as none is known."""

LEAST_DISTANCE = 0.1
"""The least distance of a bound to the next level, as a fraction of the cost of a choice."""

MEMORY_OF_DIRECTIONS = 0.6
"""The weight of former subgradients in the direction of a step."""


class PriceSearch:
    """A search by prices of memory.

    Args:
        run: the search for a choice of the problem, to which choices and bounds are offered.
        search: local search in the problem.
        dual: the messages, with the first prices. Afterwards it has those of the best bound.

    Attributes:
        dual: as given.
    """

    def __init__(self, run: SolverRun, search: LocalSearch, dual: Dual) -> None:
        self._run, self._search, self.dual = run, search, dual

    def run(self, deadline: float, most_steps: float = math.inf) -> None:
        """Raise the bound by messages and prices.

        Args:
            deadline: the time to stop at.
            most_steps: the most changes of prices.
        """
        run, dual = self._run, self.dual
        steps = _Steps(run.problem, GUESS * self._search.large)
        repairing, begun, number, patience = 0.0, time.perf_counter(), 0, PATIENCE
        for _ in range(FIRST_PASSES):
            dual.run()
        while True:
            before = run.cost, run.bound
            choice = dual.decode()
            memory = run.offer(choice)
            bound = dual.bound()
            run.bound = max(run.bound, bound)
            run.report("message passing")
            now = time.perf_counter()
            if repairing <= REPAIR_SHARE * (now - begun):
                self._descend(choice)
                repairing += time.perf_counter() - now
            is_better = run.cost < before[0] or run.bound - before[1] > RISE * abs(run.bound)
            patience = PATIENCE if is_better or run.choice is None else patience - 1
            is_over = number >= most_steps or not patience or time.perf_counter() > deadline
            if run.is_proven or is_over or steps.are_over:
                break
            if run.bound > self._search.large:  # above the cost of any permitted choice
                run.bound = math.inf
                break
            dual.set_prices(steps.next_prices(dual.prices, memory, bound, run.cost))
            dual.run()
            number += 1
        dual.set_prices(steps.prices)
        for _ in range(FIRST_PASSES):
            dual.run()

    def repair(self, choice: Ints, *, is_needed: bool = True) -> None:
        """Repair a choice, and keep it if it is the best.

        Args:
            choice: the choice.
            is_needed: whether it is repaired even if it exceeds the memory by far.
        """
        run, search = self._run, self._search
        search.reset(choice)
        if not (search.nearly_fits or is_needed):
            return
        if search.repair(min(run.deadline, time.perf_counter() + run.timeout / 20)):
            run.offer(np.array(search.choice, np.int64))

    def _descend(self, choice: Ints) -> None:
        """Let a choice descend with prices, and repair it."""
        search = LocalSearch(priced(self._run.problem, self.dual.prices), choice)
        search.descend(self._run.deadline)
        self.repair(np.array(search.choice, np.int64), is_needed=False)


class _Steps:
    """The steps of the prices of memory.

    Args:
        problem: the problem.
        guess: the cost of a choice within the limit, as long as none is known.
    """

    def __init__(self, problem: Problem, guess: float) -> None:
        self.limit, self.guess = problem.limit, guess
        self.best = -math.inf
        self.prices: Floats = np.zeros(problem.points)
        self.direction: Floats | None = None
        self.fraction = 0.3
        self.failures = 0

    @property
    def are_over(self) -> bool:
        """Whether there are no prices, or steps are too short to matter."""
        return self.limit is None or not len(self.prices) or self.fraction < 1e-4

    def next_prices(self, prices: Floats, memory: Floats, bound: float, cost: float) -> Floats:
        """Return the next prices.

        Args:
            prices: the current prices.
            memory: the live bytes of the choice that was decoded with them.
            bound: the bound with them.
            cost: the cost of the best choice.
        """
        assert self.limit is not None
        excess = memory / self.limit - 1
        if bound > self.best:
            self.best, self.prices, self.failures = bound, prices, 0
            self.fraction = min(1.0, self.fraction * 1.2)
        else:
            self.failures += 1
            if self.failures >= 4:  # return to the best prices, and step less far
                self.fraction, self.failures, self.direction = self.fraction / 2, 0, None
                return self.prices
        if self.direction is not None:
            kept = MEMORY_OF_DIRECTIONS
            excess = kept * self.direction + (1 - kept) * excess
        self.direction = excess
        known = cost if math.isfinite(cost) else max(self.guess, 2 * abs(self.best))
        distance = min(known - self.best, max(abs(self.best), LEAST_DISTANCE * abs(known)))
        level = self.best + self.fraction * distance
        active = (excess > 0) | (prices > 0)
        length = float((excess[active] ** 2).sum())
        step = max(0.0, level - bound) / max(1e-9, length)
        moved = prices * self.limit + step * np.where(active, excess, 0.0)
        return np.maximum(0.0, moved) / self.limit
