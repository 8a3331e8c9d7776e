# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A solver for problems whose linear relaxation is too large: message passing in NumPy.

1. Passes of messages give a lower bound without memory (`dual`).
2. Prices of memory rise where a decoded choice exceeds the limit, and fall elsewhere: subgradients
   with Polyak's step towards a level above the best bound (Held, Wolfe and Crowder 1974). Steps
   that don't raise the bound become shorter.
3. Decoded choices descend with these prices, are repaired, and the best is kept.
4. In the rest of the time the best choice is improved by local search and, if HiGHS is installed,
   by the exact solution of parts of the problem (`exact_parts`).

The bound is valid at any time. The search ends by time, so the choice depends on the machine.
"""

from __future__ import annotations

import math
import time

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Problem
from pyshardy.auto.problem.reduce import describe
from pyshardy.auto.problem.solution import Solution
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.exact_parts import ExactParts
from pyshardy.auto.solvers.least_memory import smallest_choice
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver import is_installed
from pyshardy.auto.solvers.solver_run import ReducingSolver, SolverRun, Task

FIRST_PASSES = 10
"""The passes before memory has prices."""

DUAL_SHARE = 0.4
"""The fraction of the time for bounds, with the choices that are decoded from them."""

REPAIR_SHARE = 0.5
"""The fraction of that time for descents and repairs."""

MEMORY_OF_DIRECTIONS = 0.6
"""The weight of former subgradients in the direction of a step."""


class MessagePassingSolver(ReducingSolver):
    """Solves problems by message passing and local search."""

    def search(self, task: Task, start: Ints | None) -> Solution:
        """Return the best choice that is found in time."""
        return MessageSearch(task).run(start)


class MessageSearch(SolverRun):
    """One search for a choice of a reduced problem."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.search = LocalSearch(self.problem, smallest_choice(self.problem))

    def run(self, start: Ints | None) -> Solution:
        """Search until the gap is proven or the time is up."""
        if self.problem.nodes:
            if start is not None:
                self._improve(self.reduction.restrict(start), None)
            dual = self._raise_prices(time.perf_counter() + DUAL_SHARE * self.left)
            if not self.is_proven and math.isfinite(self.bound):
                self._search_choices(dual)
        return self._finish()

    # --- Bounds ----------------------------------------------------------------------------------

    def _raise_prices(self, deadline: float) -> Dual:
        """Raise the bound by messages and prices until a deadline."""
        dual, steps = Dual(self.problem), _Steps(self.problem)
        repairing, begun = 0.0, time.perf_counter()
        for _ in range(FIRST_PASSES):
            dual.run()
        while True:
            choice = dual.decode()
            memory = self.offer(choice)
            bound = dual.bound()
            self.bound = max(self.bound, bound)
            self.report("message passing")
            now = time.perf_counter()
            if repairing <= REPAIR_SHARE * (now - begun):
                self._improve(choice, dual)
                repairing += time.perf_counter() - now
            if self.is_proven or time.perf_counter() > deadline or steps.are_over:
                break
            if self.bound > self.search.large:  # above the cost of any permitted choice
                self.bound = math.inf
                break
            dual.set_prices(steps.next_prices(dual.prices, memory, bound, self.cost))
            dual.run()
        dual.set_prices(steps.prices)
        for _ in range(FIRST_PASSES):
            dual.run()
        return dual

    def _improve(self, choice: Ints, dual: Dual | None) -> None:
        """Let a choice descend with prices, repair it, and keep it if it is the best."""
        search = self.search
        search.reset(choice)
        if dual is not None:
            search.descend(dual.priced(dual.prices), self.deadline)
        if search.repair(min(self.deadline, time.perf_counter() + self.timeout / 20)):
            self.offer(np.array(search.choice, np.int64))

    # --- Choices ---------------------------------------------------------------------------------

    def _search_choices(self, dual: Dual) -> None:
        """Improve the best choice in the rest of the time."""
        if self.choice is None:
            self._improve(smallest_choice(self.problem), None)
        if self.choice is None:
            return
        has_highs = is_installed("highspy")
        self.search.reset(self.choice)
        self.search.improve(time.perf_counter() + self.left * (0.1 if has_highs else 1.0))
        self.offer(np.array(self.search.choice, np.int64))
        self.report("local search")
        if has_highs:
            ExactParts(self, dual.regrets(), self.deadline).search()

    def _finish(self) -> Solution:
        """Return the solution of the given problem."""
        if not self.problem.nodes:
            self.choice, self.bound = np.zeros(0, np.int64), 0.0
        notes = (f"after reduction: {describe(self.problem)}",)
        return self.finish(notes, self.timeout / 20)


class _Steps:
    """The steps of the prices of memory."""

    def __init__(self, problem: Problem) -> None:
        self.limit = problem.limit
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
        distance = min(cost - self.best, abs(self.best))
        level = self.best + self.fraction * distance
        active = (excess > 0) | (prices > 0)
        length = float((excess[active] ** 2).sum())
        step = max(0.0, level - bound) / max(1e-9, length)
        moved = prices * self.limit + step * np.where(active, excess, 0.0)
        return np.maximum(0.0, moved) / self.limit
