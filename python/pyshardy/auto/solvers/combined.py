# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The default solver: HiGHS, and message passing for what HiGHS doesn't solve in time.

1. HiGHS (`highs`) solves the problem in a part of the time, unless the problem is still too large
   for the linear relaxation when strategies have been removed by messages.
2. If that has proven neither the gap nor that there is no choice, message passing goes on from the
   choice and the prices of memory. The solution has the better choice of the two, and the higher
   bound.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints
from pyshardy.auto.problem.reduce import describe
from pyshardy.auto.problem.solution import Solution, relative_gap
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.exact_parts import ExactParts
from pyshardy.auto.solvers.highs import HighsSearch
from pyshardy.auto.solvers.least_memory import least_memory, smallest_choice
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.price_search import PriceSearch
from pyshardy.auto.solvers.solver import is_installed
from pyshardy.auto.solvers.solver_run import ReducingSolver, SolverRun, Task

LARGEST_FOR_HIGHS = 300_000
"""The pairs of classes up to which the linear relaxation is solved."""

HIGHS_SHARE = 0.7
"""The fraction of the time for HiGHS."""

_DUAL_SHARE = 0.4
"""The fraction of the time for bounds, with the choices that are decoded from them."""

_LEAST_MEMORY_SHARE = 0.5
"""The fraction of the time left for a choice within the memory limit, if prices found none."""


class CombinedSolver(ReducingSolver):
    """Solves problems by HiGHS, and by message passing where that isn't enough."""

    packages = ("highspy",)

    def search(self, task: Task, start: Ints | None) -> Solution:
        """Return the best choice that is found in time."""
        share = replace(task, timeout=HIGHS_SHARE * task.timeout)
        search = HighsSearch(share, largest=LARGEST_FOR_HIGHS, parts=True)
        first = search.run(start)
        if first.status in ("optimal", "infeasible"):
            return replace(first, notes=("solved by HiGHS", *first.notes))
        begun = time.perf_counter()
        left = max(0.0, task.started + task.timeout - begun)
        start = start if first.choice is None else first.choice
        second = _MessageSearch(replace(task, started=begun, timeout=left)).run(
            start, search.prices
        )
        return joined(first, second, task.gap, task.started)


def joined(first: Solution, second: Solution, gap: float, started: float) -> Solution:
    """Return the better choice of HiGHS and of message passing, with the higher of their bounds.

    Args:
        first: the solution by HiGHS.
        second: that by message passing.
        gap: the gap asked for.
        started: the time at the start, by `time.perf_counter`.
    """
    if second.status == "infeasible":
        best = second
    else:
        best = second if second.cost < first.cost else first
    bound = min(max(first.bound, second.bound), best.cost)
    status = best.status
    if best.choice is not None:
        status = "optimal" if relative_gap(best.cost, bound) <= gap else "feasible"
    choice_by = "message passing" if best is second else "HiGHS"
    bound_by = "message passing" if second.bound > first.bound else "HiGHS"
    note = f"the choice is by {choice_by}, the bound by {bound_by}"
    seconds = time.perf_counter() - started
    notes = (*dict.fromkeys((note, *best.notes, *first.notes)),)
    return replace(best, status=status, bound=bound, seconds=seconds, notes=notes)


# --- Message passing -----------------------------------------------------------------------------


class MessagePassingSolver(ReducingSolver):
    """Solves problems by message passing and local search."""

    def search(self, task: Task, start: Ints | None) -> Solution:
        """Return the best choice that is found in time."""
        return _MessageSearch(task).run(start)


class _MessageSearch(SolverRun):
    """One search for a choice of a reduced problem.

    1. Passes of messages give a lower bound without memory (`dual`).
    2. Prices of memory give a bound within the limit, and choices (`price_search`).
    3. In the rest of the time the best choice is improved by local search and, if HiGHS is
       installed, by the exact solution of parts of the problem (`exact_parts`).

    The bound is valid at any time. The search ends by time, so the choice depends on the machine.
    """

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self.search = LocalSearch(self.problem, smallest_choice(self.problem))

    def run(self, start: Ints | None, prices: Floats | None = None) -> Solution:
        """Search until the gap is proven or the time is up.

        Args:
            start: a choice of the given problem to start from.
            prices: prices of memory to start from.
        """
        if self.problem.nodes:
            dual = Dual(self.problem)
            if prices is not None:
                dual.set_prices(prices)
            search = PriceSearch(self, self.search, dual)
            if start is not None:
                search.repair(self.reduction.restrict(start))
            search.run(time.perf_counter() + _DUAL_SHARE * self.left)
            if not self.is_proven and math.isfinite(self.bound):
                self._search_choices(search)
        return self._finish()

    # --- Choices ---------------------------------------------------------------------------------

    def _search_choices(self, prices: PriceSearch) -> None:
        """Improve the best choice in the rest of the time."""
        has_highs = is_installed("highspy")
        if self.choice is None:
            prices.repair(smallest_choice(self.problem))
        if self.choice is None and has_highs:
            limit = self.problem.limit or 0.0
            least = least_memory(self.problem, _LEAST_MEMORY_SHARE * self.left, limit)
            if least.choice is not None:
                self.offer(least.choice)
        if self.choice is None:
            return
        self.search.reset(self.choice)
        self.search.improve(time.perf_counter() + self.left * (0.1 if has_highs else 1.0))
        self.offer(np.array(self.search.choice, np.int64))
        self.report("local search")
        if has_highs:
            ExactParts(self, prices.dual.regrets(), self.deadline).search()

    def _finish(self) -> Solution:
        """Return the solution of the given problem."""
        if not self.problem.nodes:
            self.choice, self.bound = np.zeros(0, np.int64), 0.0
        notes = (f"after reduction: {describe(self.problem)}",)
        return self.finish(notes, self.timeout / 20)
