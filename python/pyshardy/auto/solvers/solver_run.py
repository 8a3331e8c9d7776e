# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of all solvers: the reduction of the problem, and the state of a search."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Problem, evaluate
from pyshardy.auto.problem.reduce import Reduction, reduce
from pyshardy.auto.problem.solution import (
    Shortage,
    Solution,
    relative_gap,
    solution_of,
    without_choice,
)
from pyshardy.auto.solvers.least_memory import LeastMemory, least_memory, smallest_choice
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver import Progress, ProgressCallback
from pyshardy.packages import require

_LISTED = 10
"""The most nodes that are listed."""


@dataclass(frozen=True, eq=False, slots=True)
class Task:
    """A reduced problem that is to be solved.

    Attributes:
        original: the given problem.
        reduction: its reduction.
        gap: the gap that suffices.
        started: the time at the start, by `time.perf_counter`.
        timeout: the seconds that may be spent.
        progress: called with the state of the search now and then.
    """

    original: Problem
    reduction: Reduction
    gap: float
    started: float
    timeout: float
    progress: ProgressCallback | None = None


class ReducingSolver(ABC):
    """A solver that searches for a choice of the reduced problem.

    Attributes:
        packages: the packages of the extra `auto` that it needs.
    """

    packages: ClassVar[tuple[str, ...]] = ()

    def solve(
        self,
        problem: Problem,
        *,
        gap: float = 0.01,
        timeout: float = 60.0,
        start: Ints | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """Return the best choice that is found in time; see `Solver.solve`.

        Raises:
            MissingPackageError: a package that the solver needs is missing.
        """
        for package in self.packages:
            require(package, "automatic sharding", extra="auto")
        started = time.perf_counter()
        reduction = reduce(problem)
        if reduction.problem is None:
            name = problem.nodes[reduction.blocked or 0].name
            note = f"no strategy of '{name}' is compatible with those of its neighbors"
            return without_choice("infeasible", math.inf, started, notes=(note,))
        return self.search(Task(problem, reduction, gap, started, timeout, progress), start)

    @abstractmethod
    def search(self, task: Task, start: Ints | None) -> Solution:
        """Return the best choice that is found in time.

        Args:
            task: the problem.
            start: a choice of the given problem to start from.
        """


class SolverRun:
    """A search for a choice of a reduced problem.

    Args:
        task: the problem.

    Attributes:
        original: the given problem.
        reduction: its reduction.
        problem: the reduced problem.
        removal: a further reduction, of the problem without some strategies; None if there is none.
        before_removal: the best choice before it, of the problem as it was then.
        gap: the gap that suffices.
        started: the time at the start, by `time.perf_counter`.
        timeout: the seconds that may be spent.
        choice: the best choice so far; None if there is none.
        cost: its cost.
        bound: the proven lower bound so far.
    """

    def __init__(self, task: Task) -> None:
        reduced = task.reduction.problem
        assert reduced is not None, "see `ReducingSolver.solve`"
        self.original, self.reduction, self.problem = task.original, task.reduction, reduced
        self.removal: Reduction | None = None
        self.before_removal: Ints | None = None
        self.gap, self.started, self.timeout = task.gap, task.started, task.timeout
        self.progress = task.progress
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

    def _better_of(self, found: Ints, before: Ints | None) -> Ints:
        """Return the better choice of the problem before strategies were removed.

        A strategy of the choice before may have been removed in favor of one that is as good beside
        some other choice of its neighbors. Then the search goes on from a worse choice.
        """
        problem = self.reduction.problem
        if before is None or problem is None:
            return found
        is_better = evaluate(problem, before).cost < evaluate(problem, found).cost
        return before if is_better else found

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
            shortage = _shortage_of(self.original, self.reduction, seconds, least)
            return without_choice(status, self.bound, self.started, shortage, notes)
        choice = self.choice
        if self.problem.nodes:
            search = LocalSearch(self.problem, choice)
            search.prefer_first()
            choice = np.array(search.choice, np.int64)
        if self.removal is not None:
            choice = self._better_of(self.removal.restore(choice), self.before_removal)
        choice = self.reduction.restore(choice)
        return solution_of(self.original, choice, self.bound, self.gap, self.started, notes)


def _shortage_of(
    problem: Problem, reduction: Reduction, seconds: float, least: LeastMemory | None = None
) -> Shortage | None:
    """Return the memory that is missing, or None if it isn't the reason.

    Args:
        problem: the given problem.
        reduction: its reduction.
        seconds: the time to search for the choice of least memory.
        least: the least memory of the reduced problem, if it is known.
    """
    reduced = reduction.problem
    if reduced is None or problem.limit is None:
        return None
    if least is None:
        least = least_memory(reduced, seconds)
    choice = reduction.restore(smallest_choice(reduced) if least.choice is None else least.choice)
    memory = evaluate(problem, choice).memory
    point = int(np.argmax(memory))
    missing = float(memory[point]) - problem.limit
    if missing <= 0:
        return None
    needs = dict[int, float]()
    for buffer in problem.buffers:
        if buffer.start <= point < buffer.end:
            nbytes = float(buffer.nbytes[choice[buffer.node]])
            needs[buffer.node] = needs.get(buffer.node, 0.0) + nbytes
    largest = sorted(needs.items(), key=lambda need: (-need[1], need[0]))[:_LISTED]
    return Shortage(missing, least.bound, point, tuple(largest))
