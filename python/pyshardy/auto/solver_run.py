# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The state that the runs of all solvers have: the reduced problem, the best choice, the bound."""

from __future__ import annotations

import math
import time

import numpy as np

from pyshardy.auto.least_memory import LeastMemory
from pyshardy.auto.local_search import LocalSearch
from pyshardy.auto.problem import Floats, Ints, Problem, evaluate
from pyshardy.auto.reduce import Reduction, reduce
from pyshardy.auto.shortage import shortage_of
from pyshardy.auto.solution import Solution, relative_gap, solution_of, without_choice
from pyshardy.auto.solve import Progress, ProgressCallback


def reduce_or_refuse(problem: Problem, started: float) -> Reduction | Solution:
    """Return the reduction of a problem, or the solution that there is no choice.

    Args:
        problem: the problem.
        started: the time at the start, by `time.perf_counter`.
    """
    reduction = reduce(problem)
    if reduction.problem is not None:
        return reduction
    name = problem.nodes[reduction.blocked or 0].name
    note = f"no strategy of '{name}' is compatible with those of its neighbors"
    return without_choice("infeasible", math.inf, started, notes=(note,))


class SolverRun:
    """A search for a choice of a reduced problem.

    Attributes:
        original: the given problem.
        reduction: its reduction.
        problem: the reduced problem.
        removal: a further reduction, of the problem without some strategies; None if there is none.
        gap: the gap that suffices.
        started: the time at the start, by `time.perf_counter`.
        timeout: the seconds that may be spent.
        choice: the best choice so far; None if there is none.
        cost: its cost.
        bound: the proven lower bound so far.
    """

    def __init__(
        self,
        problem: Problem,
        reduction: Reduction,
        gap: float,
        started: float,
        timeout: float,
        progress: ProgressCallback | None,
    ) -> None:
        assert reduction.problem is not None, "see `reduce_or_refuse`"
        self.original, self.reduction, self.problem = problem, reduction, reduction.problem
        self.removal: Reduction | None = None
        self.gap, self.started, self.timeout = gap, started, timeout
        self.progress = progress
        self.choice: Ints | None = None
        self.cost, self.bound = math.inf, -math.inf

    @property
    def left(self) -> float:
        """The seconds that are left."""
        return self.started + self.timeout - time.perf_counter()

    @property
    def deadline(self) -> float:
        """The time at which the run ends."""
        return self.started + self.timeout

    @property
    def is_proven(self) -> bool:
        """Whether the gap is proven."""
        return relative_gap(self.cost, self.bound) <= self.gap

    def report(self, stage: str) -> None:
        """Report the state of the search."""
        if self.progress is not None:
            seconds = time.perf_counter() - self.started
            self.progress(Progress(seconds, stage, self.cost, self.bound))

    def offer(self, choice: Ints) -> Floats:
        """Keep a choice if it is feasible and the best so far; return its memory."""
        evaluation = evaluate(self.problem, choice)
        if evaluation.cost < self.cost and evaluation.fits(self.problem.limit):
            self.choice, self.cost = choice, evaluation.cost
        return evaluation.memory

    def finish(
        self, notes: tuple[str, ...], seconds: float, least: LeastMemory | None = None
    ) -> Solution:
        """Return the solution of the given problem.

        Args:
            notes: remarks.
            seconds: the time for an explanation of missing memory.
            least: the choice of the least memory, if it is known.
        """
        if self.choice is None:
            status = "infeasible" if self.bound == math.inf else "unknown"
            shortage = shortage_of(self.original, self.reduction, seconds, least)
            return without_choice(status, self.bound, self.started, shortage, notes)
        choice = self.choice
        if self.problem.nodes:
            search = LocalSearch(self.problem, choice)
            search.prefer_first()
            choice = np.array(search.choice, np.int64)
        if self.removal is not None:
            choice = self.removal.restore(choice)
        choice = self.reduction.restore(choice)
        return solution_of(self.original, choice, self.bound, self.gap, self.started, notes)
