# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Large neighborhood search: parts of a choice are solved exactly, one after another.

Some nodes are free, and all others keep their strategies. The free nodes, with the memory that the
others leave, are a small problem of the same form. Its solution never is worse.

Nodes are chosen by breadth-first search from one node, and from a second one that is live at the
same time: memory connects nodes that share no value.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from pyshardy.auto.problem.arrays import Buffer, Copy, Ints, Node, Problem, User, Value, memory_of


class Neighborhoods:
    """The neighborhoods of a problem.

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
        """Return the problem of some free nodes, in order, and of two that stand for the others."""
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
        nodes += [
            Node("fixed producers", [0.0]),
            Node("fixed users", [0.0]),
        ]
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
        return [Buffer(start, end, node, [memory[start]]) for start, end in pairs]
