# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The default solver: HiGHS, and message passing for what HiGHS doesn't solve in time.

1. HiGHS (`highs`) solves the problem in a part of the time, unless the problem is still too large
   for the linear relaxation when strategies have been removed by messages.
2. If that has proven neither the gap nor that there is no choice, message passing goes on from the
   choice and the prices of memory. The solution has the better choice of the two, and the higher
   bound.
"""

from __future__ import annotations

import time
from dataclasses import replace

from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.problem.solution import Solution, relative_gap
from pyshardy.auto.solvers.highs import HighsSearch
from pyshardy.auto.solvers.message_passing import MessageSearch
from pyshardy.auto.solvers.solver_run import ReducingSolver, Task

LARGEST_FOR_HIGHS = 300_000
"""The pairs of classes up to which the linear relaxation is solved."""

HIGHS_SHARE = 0.7
"""The fraction of the time for HiGHS."""


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
        second = MessageSearch(replace(task, started=begun, timeout=left)).run(start, search.prices)
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
