# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Local search: choices within the memory limit, from any choice.

1. *Repair*: where the limit is exceeded, nodes move to strategies of fewer bytes, those first that
   cost least per byte, until the choice fits.
2. *Improvement*: a node moves to another strategy, and then its neighbors, and theirs, to the
   strategies that are best beside it (a chain of moves). The chain is kept if the choice fits and
   is cheaper, and otherwise taken back.

The cost of each strategy of a node beside the current choices of its neighbors is kept up to date,
so that a move takes time in proportion to the neighbors of a node; those that share a value with it
are left out if the forms in which others need the value stay the same.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from pyshardy.auto.problem.arrays import MEMORY_TOLERANCE, Floats, Ints, Problem, Value, evaluate

NEAR = 1.5
"""The multiple of the memory limit up to which choices nearly fit."""

SWEEPS = 20
"""The most sweeps of a descent."""

CHAIN = 64
"""The most moves of a chain."""

CANDIDATES = 32
"""The strategies of a node that are tried. More make searches on large meshes slower, not better.
"""


class LocalSearch:
    """A choice that is changed node by node.

    Costs that are infinite count as `large`, so that a choice may be improved that isn't permitted.

    Attributes:
        problem: the problem.
        choice: the strategy of each node.
        memory: the live bytes at each point of time.
        cost: the cost of the choice.
        work: the number of times that the cost of a value was computed for one of its nodes.
        fixed: the nodes that improvement doesn't move.
    """

    def __init__(self, problem: Problem, choice: Ints) -> None:
        self.problem = problem
        self.fixed: frozenset[int] = frozenset()
        self.work = 0
        self.large = _large(problem)
        self._incident: list[list[int]] = [[] for _ in problem.nodes]
        self._tables: list[Floats | None] = []
        copied = {copy.value for copy in problem.copies}
        for index, value in enumerate(problem.values):
            for node in dict.fromkeys((value.producer, *(user.node for user in value.users))):
                self._incident[node].append(index)
            has_copies = index in copied
            self._tables.append(None if has_copies else self._table(value))
        # How often each form of a value is needed, and the most uses by one node.
        self._counts: list[Counter[int]] = []
        self._own_targets = [_targets_by_node(value) for value in problem.values]
        self._most_uses = [
            max(map(len, targets.values()), default=0) for targets in self._own_targets
        ]
        self._finite = [self._bounded(value.costs) for value in problem.values]
        self._buffers: list[list[tuple[int, int, Floats]]] = [[] for _ in problem.nodes]
        for buffer in problem.buffers:
            self._buffers[buffer.node].append((buffer.start, buffer.end, buffer.nbytes))
        self._copies: list[list[int]] = [[] for _ in problem.values]
        for index, copy in enumerate(problem.copies):
            self._copies[copy.value].append(index)
        self._limit = np.inf if problem.limit is None else problem.limit * (1 + MEMORY_TOLERANCE)
        self.reset(choice)

    def reset(self, choice: Ints) -> None:
        """Start from another choice."""
        self.choice: list[int] = choice.tolist()
        self.memory = evaluate(self.problem, choice).memory
        self._counts = [
            Counter(int(user.target[self.choice[user.node]]) for user in value.users)
            for value in self.problem.values
        ]
        self._shared_terms: dict[tuple[int, int], Floats] = {}  # of each value and each end
        self.marginals = [self._marginal(node) for node in range(len(self.choice))]
        self.cost = self._total()

    def _total(self) -> float:
        cost = sum(
            float(self._bounded(node.costs[one]))
            for node, one in zip(self.problem.nodes, self.choice, strict=True)
        )
        for index, value in enumerate(self.problem.values):
            cost += float(self._terms(index, value.producer)[self.choice[value.producer]])
        return cost

    @property
    def fits(self) -> bool:
        """Whether the memory is within the limit."""
        return bool(self.memory.max(initial=0.0) <= self._limit)

    @property
    def nearly_fits(self) -> bool:
        """Whether the memory is so near the limit that a repair is quick and worth its cost."""
        return bool(self.memory.max(initial=0.0) <= NEAR * self._limit)

    # --- Moves -----------------------------------------------------------------------------------

    def move(self, node: int, strategy: int) -> None:
        """Move a node to another strategy."""
        before = self.choice[node]
        self.cost += float(self.marginals[node][strategy] - self.marginals[node][before])
        for start, end, nbytes in self._buffers[node]:
            self.memory[start:end] += nbytes[strategy] - nbytes[before]
        for index in self._incident[node]:
            table = self._tables[index]
            if table is not None:
                value = self.problem.values[index]
                if node == value.producer:
                    self.marginals[value.users[0].node] += table[strategy] - table[before]
                else:
                    self.marginals[value.producer] += table[:, strategy] - table[:, before]
        shared = [index for index in self._incident[node] if self._tables[index] is None]
        if not shared:
            self.choice[node] = strategy
            return
        self._add_copies(shared, -1.0)
        self.choice[node] = strategy
        changed = [index for index in shared if self._recount(index, node, before)]
        self._add_copies(shared, 1.0)
        for index in changed:
            for other in dict.fromkeys(self._ends(index)):
                if other != node:
                    terms = self._terms(index, other)
                    self.marginals[other] += terms - self._shared_terms[index, other]
                    self._shared_terms[index, other] = terms

    def _recount(self, index: int, node: int, before: int) -> bool:
        """Count the forms of a value after a move; return whether the costs of others may change.

        The cost of a node depends on the forms that other nodes need. With more uses of a form than
        one node has, all others need it.
        """
        value, counts, strategy = self.problem.values[index], self._counts[index], self.choice[node]
        enough = self._most_uses[index] + 1
        is_changed = node == value.producer
        for target in self._own_targets[index].get(node) or []:
            old, new = int(target[before]), int(target[strategy])
            if old == new:
                continue
            is_changed |= counts[old] <= enough or counts[new] < enough
            counts[old] -= 1
            counts[new] += 1
        return is_changed

    def neighbors(self, node: int) -> list[int]:
        """Return the nodes that share a value with a node, without it."""
        ends = (other for index in self._incident[node] for other in self._ends(index))
        return [other for other in dict.fromkeys(ends) if other != node]

    def chain(self, node: int, strategy: int) -> bool:
        """Move a node, and then its neighbors; return whether the result is kept.

        Args:
            node: the first node to move.
            strategy: its new strategy.
        """
        cost, was_fitting, memory = self.cost, self.fits, np.copy(self.memory)
        undo: list[tuple[int, int]] = [(node, self.choice[node])]
        self.move(node, strategy)
        moved = {node}
        waiting = self.neighbors(node)
        position = 0
        while position < len(waiting) and len(undo) < CHAIN:
            other = waiting[position]
            position += 1
            if other in moved or other in self.fixed:
                continue
            totals = self.marginals[other]
            best = int(np.argmin(totals))
            if totals[best] < totals[self.choice[other]]:
                undo.append((other, self.choice[other]))
                self.move(other, best)
                moved.add(other)
                waiting.extend(self.neighbors(other))
        if self.cost < cost - 1e-12 * abs(cost) and (self.fits or not was_fitting):
            return True
        for other, before in reversed(undo):
            self.move(other, before)
        self.cost, self.memory = cost, memory  # without rounding
        return False

    # --- Searches --------------------------------------------------------------------------------

    def repair(self, deadline: float) -> bool:
        """Reduce the memory until the choice fits; return whether it does."""
        while not self.fits and time.perf_counter() < deadline:
            if not self._relieve(int(np.argmax(self.memory))):
                return False
        return self.fits

    def descend(self, deadline: float) -> None:
        """Move each node to its strategy of the least cost until none moves or a deadline."""
        for _ in range(SWEEPS):
            changed = False
            for node, one in enumerate(self.choice):
                totals = self.marginals[node]
                best = int(np.argmin(totals))
                if totals[best] < totals[one]:
                    self.move(node, best)
                    changed = True
            if not changed or time.perf_counter() > deadline:
                return

    def improve(
        self, deadline: float, first: Iterable[int] | None = None, most_work: float = math.inf
    ) -> None:
        """Move nodes, with chains, while the choice becomes cheaper and time is left.

        Args:
            deadline: the time to stop at.
            first: the nodes to begin with; others follow those that move. All by default.
            most_work: the work to stop after (see `work`), which depends on no clock.
        """
        most_work += self.work
        active = dict.fromkeys(range(len(self.choice)) if first is None else first)
        while active:
            visited = list(active)
            active.clear()
            for node in (each for each in visited if each not in self.fixed):
                for strategy in self._candidates(node):
                    if self.work > most_work or time.perf_counter() > deadline:
                        return
                    if strategy != self.choice[node] and self.chain(node, strategy):
                        active[node] = None
                        active.update(dict.fromkeys(self.neighbors(node)))

    def prefer_first(self) -> None:
        """Move each node to its first strategy that is as good and fits, until none moves."""
        changed = True
        tolerance = 1e-13 * abs(self.cost)
        while changed:
            changed = False
            for node, one in enumerate(self.choice):
                marginal = self.marginals[node]
                for strategy in np.flatnonzero(
                    marginal[:one] <= marginal[one] + tolerance
                ).tolist():
                    memory = np.copy(self.memory)
                    self.move(node, strategy)
                    if self.fits:
                        changed = True
                        break
                    self.move(node, one)
                    self.memory = memory

    def _candidates(self, node: int) -> list[int]:
        """Return the cheapest strategies of a node beside the neighbors' choices, in order."""
        return np.argsort(self.marginals[node], kind="stable")[:CANDIDATES].tolist()

    def _relieve(self, point: int) -> bool:
        """Reduce the memory at a point to the limit; return whether it became less."""
        candidates: list[tuple[float, int, int]] = []
        for node, buffers in enumerate(self._buffers):
            live = [nbytes for start, end, nbytes in buffers if start <= point < end]
            if live:
                nbytes = sum(live[1:], live[0])
                one = self.choice[node]
                saved = nbytes[one] - nbytes
                added = np.maximum(self.marginals[node] - self.marginals[node][one], 0.0)
                candidates += [
                    (float(added[strategy] / saved[strategy]), node, strategy)
                    for strategy in np.flatnonzero(saved > 0).tolist()
                ]
        before = float(self.memory[point])
        moved: set[int] = set()
        for _, node, strategy in sorted(candidates):
            if self.memory[point] <= self._limit:
                break
            added = self.marginals[node][strategy] - self.marginals[node][self.choice[node]]
            if node in moved or added > self.large / 2:
                continue
            kept = np.copy(self.memory)
            excess = self._excess()
            one = self.choice[node]
            self.move(node, strategy)
            if self._excess() < excess:
                moved.add(node)
            else:
                self.move(node, one)
                self.memory = kept
        return bool(self.memory[point] < before)

    def _excess(self) -> float:
        return float(np.maximum(self.memory - self._limit, 0.0).sum())

    # --- Costs -----------------------------------------------------------------------------------

    def _bounded(self, costs: Floats) -> Floats:
        return np.minimum(costs, self.large)

    def _table(self, value: Value) -> Floats | None:
        """Return the costs of a value by the strategies of its producer and its only user."""
        if len(value.users) != 1:
            return None
        return self._bounded(value.costs[np.ix_(value.source, value.users[0].target)])

    def _ends(self, index: int) -> Iterator[int]:
        value = self.problem.values[index]
        yield value.producer
        for user in value.users:
            yield user.node

    def _marginal(self, node: int) -> Floats:
        total = self._bounded(self.problem.nodes[node].costs)
        for index in self._incident[node]:
            terms = self._terms(index, node)
            if self._tables[index] is None:
                self._shared_terms[index, node] = terms
            total = total + terms
        return total

    def _terms(self, index: int, node: int) -> Floats:
        """Return the cost of a value by the strategies of one of its nodes."""
        self.work += 1
        value, table = self.problem.values[index], self._tables[index]
        if table is not None:
            user = value.users[0].node
            if node == user:
                return table[self.choice[value.producer]]
            return table[:, self.choice[user]]
        costs = self._finite[index]
        own = self._own_targets[index].get(node) or []
        by_node = Counter(int(target[self.choice[node]]) for target in own)
        counts = self._counts[index].items()
        needed = sorted(form for form, count in counts if count > by_node[form])
        if node == value.producer:
            return costs[:, needed].sum(axis=1)[value.source]
        row: Floats = np.array(costs[value.source[self.choice[value.producer]]])
        base = float(row[needed].sum())
        row[needed] = 0.0
        total: Floats = row[own[0]] + base
        for position, target in enumerate(own[1:], 1):
            is_new = np.all([target != earlier for earlier in own[:position]], axis=0)
            total = total + np.where(is_new, row[target], 0.0)
        return total

    def _add_copies(self, values: Sequence[int], sign: float) -> None:
        for index in values:
            value = self.problem.values[index]
            for number in self._copies[index]:
                copy = self.problem.copies[number]
                if any(user.target[self.choice[user.node]] == copy.target for user in value.users):
                    nbytes = copy.nbytes[value.source[self.choice[value.producer]]]
                    self.memory[copy.start : copy.end] += sign * nbytes


def _targets_by_node(value: Value) -> dict[int, list[Ints]]:
    """Return for each node that uses a value the forms that its strategies need, by use."""
    found: dict[int, list[Ints]] = {}
    for user in value.users:
        found.setdefault(user.node, []).append(user.target)
    return found


def _large(problem: Problem) -> float:
    """Return a cost above that of each permitted choice, to stand for infinite ones."""
    total = 0.0
    for node in problem.nodes:
        total += float(np.abs(node.costs).max(initial=0.0, where=np.isfinite(node.costs)))
    for value in problem.values:
        finite = value.costs.max(initial=0.0, where=np.isfinite(value.costs))
        total += float(finite) * len(value.users)
    return 2 * total + 1.0
