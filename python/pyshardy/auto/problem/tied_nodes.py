# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Nodes whose strategy follows from that of a neighbor.

A value between two nodes ties one of them to the other if its finite reshards leave at most one
strategy for each strategy of the other: the results of a loop have the shardings of its arguments,
for example, and an instruction that works in place that of its operand. Such a node becomes part of
the other one, which takes over its cost, its memory and its values. Chains of ties have one root,
so a program in which they are common becomes far smaller, and no forbidden pairs remain, which
local search can hardly cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.problem.arrays import (
    Bools,
    Buffer,
    Copy,
    Floats,
    Ints,
    Node,
    Problem,
    User,
    Value,
)


@dataclass(frozen=True, eq=False, slots=True)
class Tied:
    """A problem without ties.

    Attributes:
        problem: the problem, in which tied nodes have one free strategy and no values.
        nodes: the tied nodes, with their roots, and their strategy for each one of the root.
    """

    problem: Problem
    nodes: Mapping[int, tuple[int, Ints]]

    def rules(self) -> Iterator[tuple[int, Callable[[Ints], int]]]:
        """Yield the tied nodes, with functions of a choice that return their strategies."""
        for node, (root, strategies) in self.nodes.items():
            yield node, _rule(root, strategies)


def _rule(root: int, strategies: Ints) -> Callable[[Ints], int]:
    return lambda choice: int(strategies[choice[root]])


def tie(problem: Problem, keep: frozenset[int] = frozenset()) -> Tied:
    """Return an equivalent problem in which no node is tied to another one.

    Args:
        problem: the problem.
        keep: nodes that stay.
    """
    forest = _Forest(problem, keep)
    if not forest.parents:
        return Tied(problem, {})
    roots, is_possible = forest.roots()
    costs: list[Floats] = [np.array(node.costs) for node in problem.nodes]
    for node, (root, strategies) in roots.items():
        own = np.where(is_possible[node], problem.nodes[node].costs[strategies], np.inf)
        costs[root] += own
        costs[node] = np.zeros(1)

    def moved(node: int, by_strategy: Ints) -> tuple[int, Ints]:
        root, strategies = roots.get(node, (node, None))
        return root, by_strategy if strategies is None else by_strategy[strategies]

    values: list[Value] = []
    numbers: list[int] = []  # of the values by their numbers in the problem
    for value in problem.values:
        producer, source = moved(value.producer, value.source)
        users = [User(*moved(user.node, user.target)) for user in value.users]
        numbers.append(len(values))
        if producer == users[0].node:  # the only user, see `_Forest`
            costs[producer] += value.costs[source, users[0].target]
        else:
            values.append(Value(producer, source, users, value.costs))
    buffers: list[Buffer] = []
    for buffer in problem.buffers:
        root, strategies = roots.get(buffer.node, (buffer.node, None))
        nbytes = buffer.nbytes if strategies is None else buffer.nbytes[strategies]
        buffers.append(Buffer(buffer.start, buffer.end, root, nbytes))
    copies = [
        Copy(each.start, each.end, numbers[each.value], each.target, each.nbytes)
        for each in problem.copies
    ]
    nodes = [Node(node.name, own) for node, own in zip(problem.nodes, costs, strict=True)]
    return Tied(Problem(nodes, values, buffers, copies, problem.limit), roots)


class _Forest:
    """Tied nodes with their parents.

    The ends of a value with several users or with copies stay roots: so the producer of such a
    value never becomes the same node as one of its users.

    Attributes:
        parents: the parent of each tied node, its strategy for each one of the parent, and whether
            there is one.
    """

    def __init__(self, problem: Problem, keep: frozenset[int]) -> None:
        self.parents: dict[int, tuple[int, Ints, Bools]] = {}
        copied = {copy.value for copy in problem.copies}
        stay = set(keep)
        ties: list[Value] = []
        for number, value in enumerate(problem.values):
            if len(value.users) > 1 or number in copied:
                stay.update((value.producer, *(user.node for user in value.users)))
            elif not np.isfinite(value.costs).all():
                ties.append(value)
        for value in ties:
            (user,) = value.users
            finite: Bools = np.isfinite(value.costs)[np.ix_(value.source, user.target)]
            if not self._add(value.producer, user.node, finite, stay):
                self._add(user.node, value.producer, np.transpose(finite), stay)

    def _add(self, parent: int, node: int, finite: Bools, stay: set[int]) -> bool:
        """Tie a node to a parent, if that determines it; return whether it does.

        Args:
            parent: the parent.
            node: the node.
            finite: whether a pair of their strategies is permitted.
            stay: the nodes that are never tied.
        """
        if node in stay or node in self.parents or (finite.sum(axis=1) > 1).any():
            return False
        above = parent
        while above in self.parents:
            above = self.parents[above][0]
        if above == node:
            return False
        permitted: Bools = np.any(finite, axis=1)
        self.parents[node] = parent, np.argmax(finite, axis=1), permitted
        return True

    def roots(self) -> tuple[dict[int, tuple[int, Ints]], dict[int, Bools]]:
        """Return the root of each tied node, its strategies, and which of these are possible."""
        roots: dict[int, tuple[int, Ints]] = {}
        possible: dict[int, Bools] = {}
        for first in self.parents:
            path: list[int] = []
            node = first
            while node in self.parents and node not in roots:
                path.append(node)
                node = self.parents[node][0]
            for each in reversed(path):
                parent, strategies, permitted = self.parents[each]
                if parent in roots:
                    root, above = roots[parent]
                    roots[each] = root, strategies[above]
                    possible[each] = permitted[above] & possible[parent]
                else:
                    roots[each], possible[each] = (parent, strategies), permitted
        return roots, possible
