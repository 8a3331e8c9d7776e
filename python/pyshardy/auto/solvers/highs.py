# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A solver by linear and mixed-integer programming, with HiGHS.

1. Passes of messages (`dual`) give a first lower bound. The given start is the first choice.
   Without one, or if it exceeds the memory limit, local search finds one from the choice that is
   decoded from the messages; if it finds none, the choice of least memory is the start.
2. A gap of the cost of this choice is to be proven, so that the bound has to rise by a distance.
   Strategies that raise the bound by more are removed: all choices that have them cost more than
   the bound that is to be proven.
3. The linear relaxation of the flow form (`flow_model`) gives a better bound. Memory constraints
   are added where its solution violates them, until it violates none. Local search goes on from the
   rounded solution, unless this is optimal, and strategies are removed by their reduced costs as
   in 2.
4. If the gap is larger than asked for, branch and bound searches the rest, from the best choice.
   Again, violated memory constraints are added until none is left. If that takes long, exact
   solutions of parts of the problem improve the choice (`exact_parts`), and branch and bound
   begins again from it.

The same problem has the same solution, unless the time limit ends the search: HiGHS runs on one
thread, and ties go to the first strategies of nodes (`LocalSearch.prefer_first`).

HiGHS is by Hall, Galabova and others, https://highs.dev; the extra `auto` installs it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from pyshardy.auto.problem.arrays import MEMORY_TOLERANCE, Bools, Floats, Ints, Node
from pyshardy.auto.problem.reduce import describe, entries, reduce
from pyshardy.auto.problem.solution import Solution
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.exact_parts import ExactParts
from pyshardy.auto.solvers.flow_model import FlowModel
from pyshardy.auto.solvers.highs_model import Listener, Outcome
from pyshardy.auto.solvers.least_memory import LeastMemory, least_memory, smallest_peak
from pyshardy.auto.solvers.linear_program import FAILED, LinearProgram
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.price_search import PriceSearch
from pyshardy.auto.solvers.solver_run import ReducingSolver, SolverRun, Task

PASSES_AT_A_TIME = 10
"""The passes of messages between two choices that are decoded from them."""

MOST_PASSES = 100
"""The most passes of messages before the linear relaxation."""

LEAST_RISE = 0.05
"""The rise of the bound between two choices, as a fraction of the gap, below which passes end."""

CHEAP_ENTRIES = 100_000
"""The pairs of classes up to which the relaxation is solved even if messages prove the gap.

That takes about a second, and often finds the optimum.
"""

WORK_OF_CHEAP = 20_000
"""The most work of local search where the relaxation is cheap: about half a second."""

SEARCH_SHARE = 0.15
"""The fraction of the time that local search may take."""

LEAST_MEMORY_SHARE = 0.4
"""The fraction of the time left for a choice within the memory limit, if no other one is known."""

WEIGHT_OF_COPIES = 6
"""The factor by which pairs of classes count more if copies are live within a limit.

The relaxation of 67,000 such pairs takes a minute.
"""

FIRST_SHARE = 0.2
"""The fraction of the time left for branch and bound before parts of the problem are solved."""

PARTS_SHARE = 0.4
"""The fraction of the time left for parts of the problem."""

PRICES_SHARE = 0.2
"""The fraction of the time left for prices of memory."""

MOST_PRICES = 200
"""The most changes of prices."""

ROWS_AT_A_TIME = 24
"""The most memory constraints that are added after a solution."""

TOLERANCE = 1e-6
"""The smallest gap that can be proven with floating-point numbers."""

SCALE = 1e4
"""The scaled cost of the first choice: tolerances of HiGHS are absolute."""


class HighsSolver(ReducingSolver):
    """Solves problems by HiGHS."""

    packages = ("highspy",)

    def search(self, task: Task, start: Ints | None) -> Solution:
        """Return the best choice that is found in time."""
        return HighsSearch(task).run(start)


def pass_messages(dual: Dual, gap: float, deadline: float) -> Iterator[float]:
    """Pass messages, and yield the bound now and then, until it hardly rises.

    Args:
        dual: the messages.
        gap: the gap that is to be proven.
        deadline: the time to stop at.
    """
    bound = -math.inf
    for _ in range(MOST_PASSES // PASSES_AT_A_TIME):
        before = bound
        for _ in range(PASSES_AT_A_TIME):
            dual.run()
            if time.perf_counter() > deadline:
                break
        bound = dual.bound() * (1 - 1e-12)
        yield bound
        if time.perf_counter() > deadline or bound - before < LEAST_RISE * gap * abs(bound):
            return


class HighsSearch(SolverRun):
    """One search for a choice of a reduced problem.

    Its prices of memory are None if it has searched for none.

    Args:
        task: the problem.
        dual: messages that are known for it; None if there are none. Then the gap suffices if they
            prove it.
        largest: the pairs of classes up to which the relaxation is solved; None for any number.
        parts: whether parts of the problem are solved exactly, if branch and bound takes long.
    """

    def __init__(
        self,
        task: Task,
        dual: Dual | None = None,
        *,
        largest: int | None = None,
        parts: bool = False,
    ) -> None:
        super().__init__(replace(task, gap=max(task.gap, TOLERANCE)))
        self.dual, self.largest, self.parts = dual, largest, parts
        self.bound = sum(float(node.costs.min()) for node in self.problem.nodes)
        self.points: list[int] = []
        self.least: LeastMemory | None = None
        self.prices: Floats | None = None
        self.proven_at_most = math.inf  # no larger bound holds for strategies that are removed
        self.notes = [f"after reduction: {describe(self.problem)}"]

    def run(self, start: Ints | None) -> Solution:
        """Search until the gap is proven or the time is up."""
        if not self.problem.nodes:
            return self._finish()
        limit = self.problem.limit
        if limit is not None and smallest_peak(self.problem) > limit * (1 + MEMORY_TOLERANCE):
            self.bound = math.inf
            return self._finish()
        self.search = LocalSearch(self.problem, np.zeros(len(self.problem.nodes), np.int64))
        if start is not None:
            self.offer(self.reduction.restrict(start))
        has_start = self.choice is not None
        if start is not None and not has_start:
            self._improve(self.reduction.restrict(start))
        dual = self._pass_messages()
        if limit is not None and not has_start and not self.is_proven:
            self._search_by_prices(dual)
        if self.choice is None and not self._begin_with_least():
            return self._finish()
        if self.choice is not None and not has_start:
            self._improve(self.choice)
        if self.suffices:
            return self._finish()
        self._remove_strategies(dual)
        if self.suffices or not self.problem.nodes:
            return self._finish()
        if self._is_too_large():
            return self._finish()
        self.model = FlowModel(self.problem)
        self.scale = SCALE / (abs(self.cost) if 0 < abs(self.cost) < math.inf else 1.0)
        if self.choice is None:
            self.scale = SCALE / max(1e-300, abs(self.search.cost))
        self.program = LinearProgram(self.model.costs * self.scale, self.model.rows)
        if self._solve_relaxation():
            self._search_integers()
        return self._finish()

    @property
    def suffices(self) -> bool:
        """Whether the search ends before the linear relaxation."""
        is_large = self.dual is not None or entries(self.problem) > CHEAP_ENTRIES
        return is_large and self.is_proven

    @property
    def _weighted_entries(self) -> int:
        """The pairs of classes, as they count for the time of the relaxation."""
        weight = WEIGHT_OF_COPIES if self.problem.copies else 1
        return weight * entries(self.problem)

    @property
    def _is_cheap(self) -> bool:
        return self._weighted_entries <= CHEAP_ENTRIES

    def _is_too_large(self) -> bool:
        """Return whether programs for all strategies aren't solved, and note it."""
        if self.largest is None:
            return False
        if self._weighted_entries <= self.largest:
            return False
        self.notes.append("too large for the linear relaxation")
        return True

    # --- Messages --------------------------------------------------------------------------------

    def _pass_messages(self) -> Dual:
        """Pass messages; improve the choice that is decoded from them."""
        dual = Dual(self.problem) if self.dual is None else self.dual
        for bound in pass_messages(dual, self.gap, self.deadline):
            self.bound = max(self.bound, bound)
            self._descend_from(dual.decode())
            self.report("message passing")
            if self.is_proven:
                break
        return dual

    def _descend_from(self, choice: Ints) -> None:
        """Let a choice descend, repair it, and keep it if it is the best so far."""
        search = self.search
        search.reset(choice)
        search.descend(self.deadline)
        if search.nearly_fits and search.repair(self._deadline_of_search()):
            self.offer(np.array(search.choice, np.int64))

    def _search_by_prices(self, dual: Dual) -> None:
        """Raise the bound and find choices by prices of memory."""
        deadline = time.perf_counter() + PRICES_SHARE * self.left
        PriceSearch(self, self.search, dual).run(deadline, MOST_PRICES)
        self.prices = dual.prices

    def _remove_strategies(self, dual: Dual) -> None:
        """Remove the strategies without which the gap can still be proven."""
        choice = self.choice
        if choice is None:
            return
        distance = self._aim() - min(self.bound, dual.bound())
        nodes: list[Node] = []
        for node, regret, one in zip(self.problem.nodes, dual.regrets(), choice, strict=True):
            kept: Bools = regret <= distance
            kept[one] = True
            nodes.append(Node(node.name, np.where(kept, node.costs, np.inf)))
        rest = reduce(self.problem.with_nodes(nodes))
        assert rest.problem is not None, "the best choice is kept"
        self.problem, self.removal, self.before_removal = rest.problem, rest, choice
        self.choice = rest.restrict(choice)
        self.notes.append(f"without strategies that cost too much: {describe(self.problem)}")
        if self.problem.nodes:
            self.search = LocalSearch(self.problem, self.choice)
            if self.search.cost > self.cost * (1 + TOLERANCE):
                self.search.descend(self._deadline_of_search())
                if self.search.fits:
                    self.choice = np.array(self.search.choice, np.int64)

    def _aim(self) -> float:
        """Return the bound that is to be proven for the best choice; its cost if the gap is proven.

        Strategies whose choices cost more may be removed, so that no larger bound is proven later.
        """
        aim = self.cost - 0.99 * self.gap * abs(self.cost)  # the gap despite rounding
        if aim <= self.bound:
            aim = self.cost
        self.proven_at_most = min(self.proven_at_most, aim)
        return aim

    def _begin_with_least(self) -> bool:
        """Improve the choice of least memory; return whether the search goes on without a choice.

        It ends if no choice within the limit exists, or the problem is too large for programs.
        """
        limit = self.problem.limit
        if limit is None or self._is_too_large():
            return limit is None
        self.least = least_memory(self.problem, LEAST_MEMORY_SHARE * self.left, limit)
        if self.least.bound > limit * (1 + MEMORY_TOLERANCE):
            self.bound = math.inf
            return False
        if self.least.choice is not None:
            self._improve(self.least.choice)
        return True

    def _deadline_of_search(self) -> float:
        return min(self.deadline, time.perf_counter() + SEARCH_SHARE * self.timeout)

    def _improve(self, choice: Ints) -> None:
        """Improve a choice by local search; keep the result if it is the best so far."""
        search = self.search
        search.reset(choice)
        deadline = self._deadline_of_search()
        if not search.fits and not search.repair(deadline):
            return
        search.improve(deadline, most_work=WORK_OF_CHEAP if self._is_cheap else math.inf)
        self.offer(np.array(search.choice, np.int64))

    # --- Relaxation ------------------------------------------------------------------------------

    def _solve_relaxation(self) -> bool:
        """Solve the linear relaxation; return whether it was solved in time and is feasible."""
        while (found := self._run("linear relaxation")).status == "kOptimal":
            solution = found.solution
            assert solution is not None, "an optimum"
            self._raise_bound(found.objective)
            self.report("linear relaxation")
            if not self._add_memory_rows(solution):
                choice = self.model.choice_of(solution)
                if self.model.is_integral(solution):
                    self.offer(choice)
                if not self.is_proven:
                    self._improve(choice)
                self.report("linear relaxation")
                self.relaxed = self._bound(found.objective)
                self.reduced_costs = self.program.reduced_costs() / self.scale
                self._remove_columns()
                return True
        if found.status in ("kInfeasible", "kUnboundedOrInfeasible"):
            self.bound = math.inf
        elif found.status != FAILED:
            self.notes.append("the linear relaxation wasn't solved in time")
        return False

    def _bound(self, objective: float) -> float:
        """Return a bound for an objective of HiGHS, less its tolerance."""
        return (objective - 0.1 * TOLERANCE * max(1.0, abs(objective))) / self.scale

    def _add_memory_rows(self, solution: Floats) -> bool:
        """Add the memory constraints that a solution violates most; return whether there are."""
        if self.problem.limit is None:
            return False
        live = self.model.live_bytes(solution)
        live[self.points] = 0.0
        excess = live > self.problem.limit * (1 + max(MEMORY_TOLERANCE, 1e-7))
        new: list[int] = []
        while excess.any() and len(new) < ROWS_AT_A_TIME:
            point = int(np.argmax(np.where(excess, live, -1.0)))
            new.append(point)
            # Points nearby have nearly the same constraint.
            near = len(live) // (4 * ROWS_AT_A_TIME)
            excess[max(0, point - near) : point + near + 1] = False
        if not new:
            return False
        rows = self.model.memory_rows(new, self.problem.limit)
        self.program.add_rows(rows)
        self.points += new
        return True

    def _remove_columns(self) -> None:
        """Remove the strategies without which the gap can still be proven.

        Choices with a column cost at least the bound and its reduced cost. If that is at least the
        bound that is to be proven, they needn't be searched.
        """
        if not math.isfinite(self.cost) or self.choice is None:
            return
        distance = max(0.0, self._aim() - self.relaxed)
        removed: Bools = self.reduced_costs > distance * (1 + 1e-6) + 1e-6 / self.scale
        removed[self.model.first[:-1] + self.choice] = False
        self.program.remove(removed)

    # --- Branch and bound ------------------------------------------------------------------------

    def _search_integers(self) -> None:
        """Search by branch and bound and, if it takes long, by parts of the problem as well."""
        if self.parts:
            self._branch_and_bound(FIRST_SHARE)
            if not self.is_proven and self.left > 0:
                ends = zip(self.model.first[:-1], self.model.first[1:], strict=True)
                columns = np.maximum(self.reduced_costs, 0.0)
                self._search_parts([columns[begin:end] for begin, end in ends])
                self._remove_columns()
        self._branch_and_bound()

    def _search_parts(self, regrets: Sequence[Floats]) -> None:
        """Solve parts of the problem exactly."""
        deadline = time.perf_counter() + PARTS_SHARE * self.left
        ExactParts(self, regrets, deadline).search()

    def _branch_and_bound(self, share: float = 1.0) -> None:
        """Search by branch and bound.

        Args:
            share: the fraction of the time that is left.
        """
        end = time.perf_counter() + share * self.left
        self._rescale()
        self.program.make_integer(int(self.model.first[-1]), self.gap)
        while not self.is_proven and time.perf_counter() < end:
            if self.choice is not None:
                self.program.start_from(self.model.solution_of(self.choice))
            seconds = end - time.perf_counter()
            found = self._run("branch and bound", self._listen, seconds)
            if found.status == "kInfeasible":
                bound = min(self.cost, self.proven_at_most)
                self.bound = max(self.bound, bound)
                return
            self._raise_bound(found.bound)
            if found.solution is None:
                return
            choice = self.model.choice_of(found.solution)
            self.offer(choice)
            if not self._add_memory_rows(found.solution):
                self.report("branch and bound")
                return
            self._improve(choice)

    def _rescale(self) -> None:
        """Scale costs again if the best choice is far better than the first one."""
        scale = SCALE / abs(self.cost) if 0 < abs(self.cost) < math.inf else self.scale
        if scale > 2 * self.scale:
            self.scale = scale
            self.program.set_costs(self.model.costs * scale)

    def _raise_bound(self, objective: float) -> None:
        if math.isfinite(objective):
            bound = min(self._bound(objective), self.cost, self.proven_at_most)
            self.bound = max(self.bound, bound)

    def _listen(self, bound: float, solution: Floats | None) -> None:
        """Keep a bound and a solution that branch and bound has found."""
        if solution is not None:
            self.offer(self.model.choice_of(solution))
            return
        self._raise_bound(bound)
        self.report("branch and bound")

    # --- HiGHS -----------------------------------------------------------------------------------

    def _run(
        self, stage: str, listener: Listener | None = None, seconds: float | None = None
    ) -> Outcome:
        """Run HiGHS in some seconds, or in the remaining time."""
        left = self.left if seconds is None else seconds
        if left <= 0:
            return Outcome("kTimeLimit")
        self.report(stage)
        found = self.program.run(left, listener)
        if found.status == FAILED:
            self.notes.append(f"HiGHS crashed or hung ({stage})")
        return found

    def _finish(self) -> Solution:
        """Return the solution of the given problem."""
        if not self.problem.nodes:
            self.choice = np.zeros(0, np.int64)
            self.bound = min(0.0, self.proven_at_most)
        return self.finish(tuple(self.notes), SEARCH_SHARE * self.timeout, self.least)
