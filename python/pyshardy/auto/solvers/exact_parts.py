# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exact solution of parts of a problem, to improve a choice.

1. *Few strategies*: the problem with the strategies of the least regrets alone, and then with more
   of them, while HiGHS solves it in time. The regret of a strategy is an estimate of what it costs
   above the best choice: what it adds to a bound by messages, or its reduced cost in the linear
   relaxation. (With the latter, this is relaxation induced search: Danna, Rothberg and Le Pape,
   2005.)
2. *Neighborhoods* of the best choice (`Neighborhoods`) around random nodes.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

import numpy as np

from pyshardy.auto.problem.arrays import (
    Buffer,
    Copy,
    Floats,
    Ints,
    Node,
    Problem,
    User,
    Value,
    memory_of,
)
from pyshardy.auto.problem.solution import Solution
from pyshardy.auto.solvers.solver import solver
from pyshardy.auto.solvers.solver_run import SolverRun

FIRST_STRATEGIES = 1000
"""The strategies of the first part that is solved exactly. Later ones are larger where it is fast.
"""

PARTS_AT_A_TIME = 10
"""The neighborhoods with one share of the strategies."""


class ExactParts:
    """A search that solves parts of a problem, and offers what it finds.

    Args:
        run: the search for a choice of the problem.
        regrets: the regret of each strategy.
        deadline: the time to stop at.
    """

    def __init__(self, run: SolverRun, regrets: Sequence[Floats], deadline: float) -> None:
        self._run, self._regrets, self._deadline = run, regrets, deadline

    @property
    def _left(self) -> float:
        return self._deadline - time.perf_counter()

    @property
    def _is_over(self) -> bool:
        return self._left <= 0 or self._run.is_proven

    def search(self) -> None:
        """Improve the best choice until the deadline."""
        number = self._solve_restricted()
        if self._run.choice is not None:
            self._solve_neighborhoods(number)

    def _solve_restricted(self) -> float:
        """Solve the problem with ever more strategies of little regret.

        Returns:
            The number of strategies that could be solved in a third of the time left.
        """
        run, number = self._run, float(FIRST_STRATEGIES)
        while not self._is_over:
            solution = self._solve(self._restricted(int(number)), self._left / 3, run.choice)
            if solution.choice is not None:
                run.offer(solution.choice)
            run.report("restricted strategies")
            if solution.status not in ("optimal", "infeasible"):
                break
            if number > run.problem.sizes.sum():
                break
            number *= 1.4
        return number / 1.4

    def _solve_neighborhoods(self, number: float) -> None:
        """Solve neighborhoods of the best choice around random nodes.

        Args:
            number: the strategies of the first neighborhoods.
        """
        run = self._run
        draw, limit = np.random.default_rng(0), max(1.0, run.timeout / 30)
        while not self._is_over:
            share = 0.5 ** int(draw.integers(0, 4))  # of all strategies
            part = self._restricted(int(share * run.problem.sizes.sum()))
            neighborhoods = Neighborhoods(part)
            for _ in range(PARTS_AT_A_TIME):
                assert run.choice is not None
                starts = draw.integers(0, len(run.problem.nodes), 2).tolist()
                free = neighborhoods.around(starts, int(number))
                own = np.concatenate([run.choice[free], [0, 0]])
                begun = time.perf_counter()
                solution = self._solve(neighborhoods.part(run.choice, free), limit, own)
                before = run.cost
                if solution.choice is not None:
                    choice = np.array(run.choice)
                    choice[free] = solution.choice[:-2]
                    run.offer(choice)
                if run.cost < before:
                    run.report("neighborhoods")
                is_fast = time.perf_counter() - begun < limit / 3
                number = max(FIRST_STRATEGIES / 4, number * (1.1 if is_fast else 0.8))
                if self._is_over:
                    return

    def _restricted(self, number: int) -> Problem:
        """Return the problem with a number of strategies of the least regrets.

        Those of the best choice stay, and those go that no better choice has.
        """
        run = self._run
        least = np.sort(np.concatenate([*self._regrets]))
        largest = min(float(least[min(number, len(least) - 1)]), run.cost - run.bound)
        nodes: list[Node] = []
        for at, (node, regret) in enumerate(zip(run.problem.nodes, self._regrets, strict=True)):
            kept = regret <= largest
            kept[int(np.argmin(regret)) if run.choice is None else run.choice[at]] = True
            nodes.append(Node(node.name, np.where(kept, node.costs, np.inf)))
        return run.problem.with_nodes(nodes)

    def _solve(self, part: Problem, seconds: float, start: Ints | None) -> Solution:
        timeout = max(0.0, min(self._left, seconds))
        gap = self._run.gap / 10
        return solver("highs").solve(part, gap=gap, timeout=timeout, start=start)


class Neighborhoods:
    """The neighborhoods of a problem.

    Some nodes are free, and all others keep their strategies. The free nodes, with the memory that
    the others leave, are a small problem of the same form. Its solution never is worse.

    Nodes are chosen by breadth-first search from one node, and from a second one that is live at
    the same time: memory connects nodes that share no value.

    Attributes:
        problem: the problem.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._incident: list[list[int]] = [[] for _ in problem.nodes]
        for index, value in enumerate(problem.values):
            for node in dict.fromkeys((value.producer, *(user.node for user in value.users))):
                self._incident[node].append(index)
        self._copies: list[list[Copy]] = [[] for _ in problem.values]
        for copy in problem.copies:
            self._copies[copy.value].append(copy)
        self._buffers: list[list[Buffer]] = [[] for _ in problem.nodes]
        for buffer in problem.buffers:
            self._buffers[buffer.node].append(buffer)

    def around(self, starts: Sequence[int], strategies: int) -> list[int]:
        """Return nodes near some nodes, with at most a number of strategies in all."""
        found: dict[int, None] = {}
        left = strategies
        waiting = deque(starts)
        seen = set(starts)
        while waiting:
            node = waiting.popleft()
            size = int(np.isfinite(self.problem.nodes[node].costs).sum())
            if size > left:
                continue
            left -= size
            found[node] = None
            for index in self._incident[node]:
                value = self.problem.values[index]
                for other in (value.producer, *(user.node for user in value.users)):
                    if other not in seen:
                        seen.add(other)
                        waiting.append(other)
        return sorted(found)

    def part(self, choice: Ints, free: Sequence[int]) -> Problem:
        """Return the problem of the free nodes, in order, and of two nodes for the rest."""
        index = {node: number for number, node in enumerate(free)}
        producers, users = len(free), len(free) + 1
        values: list[Value] = []
        copies: list[Copy] = []
        for number in sorted({one for node in free for one in self._incident[node]}):
            value = self.problem.values[number]
            producer, source = index.get(value.producer), value.source
            if producer is None:
                producer, source = producers, source[[choice[value.producer]]]
            kept = [
                User(index[user.node], user.target)
                if user.node in index
                else User(users, user.target[[choice[user.node]]])
                for user in value.users
            ]
            copies += [
                Copy(copy.start, copy.end, len(values), copy.target, copy.nbytes)
                for copy in self._copies[number]
            ]
            values.append(Value(producer, source, kept, value.costs))
        nodes = [self.problem.nodes[node] for node in free]
        nodes += [Node("fixed producers", np.zeros(1)), Node("fixed users", np.zeros(1))]
        buffers = [
            Buffer(buffer.start, buffer.end, index[node], buffer.nbytes)
            for node in free
            for buffer in self._buffers[node]
        ]
        buffers += self._rest(choice, free, producers)
        return Problem(nodes, values, buffers, copies, self.problem.limit)

    def _rest(self, choice: Ints, free: Sequence[int], node: int) -> list[Buffer]:
        """Return buffers of the memory that isn't the free nodes', as that of one node."""
        if self.problem.limit is None or not self.problem.points:
            return []
        memory = memory_of(self.problem, choice.tolist())
        for one in free:
            for buffer in self._buffers[one]:
                memory[buffer.start : buffer.end] -= buffer.nbytes[choice[one]]
        touched = {number for one in free for number in self._incident[one]}
        for number in sorted(touched):
            value = self.problem.values[number]
            for copy in self._copies[number]:
                if any(user.target[choice[user.node]] == copy.target for user in value.users):
                    nbytes = copy.nbytes[value.source[choice[value.producer]]]
                    memory[copy.start : copy.end] -= nbytes
        memory = np.maximum(memory, 0.0)  # below 0 by rounding only
        starts = np.flatnonzero(np.concatenate([[True], memory[1:] != memory[:-1]]))
        ends = np.concatenate([starts[1:], [len(memory)]])
        pairs = zip(starts.tolist(), ends.tolist(), strict=True)
        return [Buffer(start, end, node, memory[start : start + 1]) for start, end in pairs]
