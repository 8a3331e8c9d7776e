# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables of reshards and points of memory while a problem is reduced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

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

CopyRow: TypeAlias = tuple[int, int, int, Floats]
"""The start, the end, the target class and the sizes of a copy."""


@dataclass(eq=False)
class ReshardTable:
    """A value during the reduction.

    Attributes:
        producer: the node that defines it.
        source: the source class of each strategy of the producer.
        users: its users, with the target class of each of their strategies.
        costs: the costs from source to target classes.
        copies: the memory of its reshards.
        is_finite: whether all costs are known to be finite.
        is_simple: whether it was simplified after its last change.
    """

    producer: int
    source: Ints
    users: list[tuple[int, Ints]]
    costs: Floats
    copies: list[CopyRow] = field(default_factory=list[CopyRow])
    is_finite: bool = field(init=False)
    is_simple: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        self.is_finite = bool(np.isfinite(self.costs).all())

    @property
    def is_pair(self) -> bool:
        """Whether the value has one user and no copies."""
        return len(self.users) == 1 and not self.copies

    @property
    def ends(self) -> set[int]:
        """The producer and the users."""
        return {self.producer, *(node for node, _ in self.users)}


def seen_from(table: ReshardTable, node: int) -> tuple[int, Ints, Ints, Floats]:
    """Return the neighbor, its classes, those of a node, and costs[neighbor's class, own class]."""
    ((user, target),) = table.users
    if node == user:
        return table.producer, table.source, target, table.costs
    return user, target, table.source, np.transpose(table.costs)


def reachable(table: ReshardTable, node: int) -> Bools:
    """Return a mask of a node's strategies for which all neighbors have a finite reshard."""
    finite: Bools = np.less(table.costs, np.inf)
    used: Bools = np.zeros(len(finite), np.bool_)
    used[table.source] = True
    if table.producer == node:
        rows: Bools = np.ones(len(finite), np.bool_)
        for _, target in table.users:
            rows &= finite[:, np.unique(target)].any(axis=1)
        return rows[table.source]
    columns: Bools = np.any(finite[used], axis=0)
    masks = [columns[target] for user, target in table.users if user == node]
    return np.logical_and.reduce(masks)


def no_worse_reshards(table: ReshardTable, node: int) -> Bools:
    """Return a matrix: whether the reshards of strategy b are no worse than those of a."""
    if table.producer == node:
        return _no_worse_rows(_source_rows(table))[np.ix_(table.source, table.source)]
    if table.is_pair:
        ((_, target),) = table.users
        return _no_worse_rows(np.transpose(table.costs))[np.ix_(target, target)]
    free: Bools = np.logical_not(table.costs.any(axis=0))
    for _, _, target, _ in table.copies:
        free[target] = False
    matrices = [
        (target[:, None] == target[None, :]) | free[target][None, :]
        for user, target in table.users
        if user == node
    ]
    return np.logical_and.reduce(matrices)


def _source_rows(table: ReshardTable) -> Floats:
    """Return the costs and the bytes of copies by source class."""
    return np.column_stack([table.costs, *(nbytes for *_, nbytes in table.copies)])


_BLOCK = 1 << 22
"""The most entries that are compared at a time."""


def _no_worse_rows(rows: Floats) -> Bools:
    """Return a matrix: whether row b is nowhere larger than row a."""
    result = np.ones((len(rows), len(rows)), np.bool_)
    step = max(1, _BLOCK // (len(rows) ** 2 + 1))
    for begin in range(0, rows.shape[1], step):
        part = rows[:, begin : begin + step]
        result &= (part[None, :, :] <= part[:, None, :]).all(axis=2)
    return result


def merge_rows(table: ReshardTable) -> None:
    """Drop source classes that no strategy has, and merge those with equal costs and copies."""
    first, table.source = _merged(_source_rows(table), table.source)
    if len(first) < len(table.costs):
        table.costs = table.costs[first]
        table.copies = [
            (start, end, target, nbytes[first]) for start, end, target, nbytes in table.copies
        ]


def merge_columns(table: ReshardTable) -> None:
    """Do the same with the target classes of a value with one user."""
    ((user, target),) = table.users
    first, target = _merged(np.transpose(table.costs), target)
    if len(first) < table.costs.shape[1]:
        table.costs = table.costs[:, first]
        table.users = [(user, target)]


def _merged(rows: Floats, classes: Ints) -> tuple[list[int], Ints]:
    """Return the distinct used rows, by their first index, and the classes by their new indices."""
    seen: dict[bytes, int] = {}
    renumbered = np.zeros(len(rows), np.int64)
    first: list[int] = []
    for row in np.unique(classes).tolist():
        key = np.ascontiguousarray(rows[row]).tobytes()
        if key not in seen:
            seen[key] = len(first)
            first.append(row)
        renumbered[row] = seen[key]
    return first, renumbered[classes]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The distinct pairs of classes, and the pair of each strategy."""

    first: Ints
    second: Ints
    classes: Ints


def pairs(first: Ints, second: Ints) -> Pairs:
    """Return the pairs of two lists of classes of the same strategies."""
    width = int(second.max()) + 1
    pairs, classes = np.unique(first * width + second, return_inverse=True)
    return Pairs(pairs // width, pairs % width, classes)


# --- Points of memory -----------------------------------------------------------------------------

# A point is redundant if even the largest strategies fit, or if all that is live at it is live at
# another point as well. With the remaining points renumbered, the peak of each choice is the same
# or within the limit.


def without_redundant_points(problem: Problem) -> Problem:
    """Return an equivalent problem with as few points of time as possible."""
    parts = (*problem.buffers, *problem.copies)
    if problem.limit is None or not parts:
        return Problem(problem.nodes, problem.values)
    binding = largest_memory(problem) > problem.limit
    kept = binding & _maximal(problem, binding)
    number = np.concatenate([[0], np.cumsum(kept)])  # of kept points before each point
    buffers = [
        Buffer(number[each.start], number[each.end], each.node, each.nbytes)
        for each in problem.buffers
        if number[each.start] < number[each.end] and each.nbytes.any()
    ]
    copies = [
        Copy(number[each.start], number[each.end], each.value, each.target, each.nbytes)
        for each in problem.copies
        if number[each.start] < number[each.end] and each.nbytes.any()
    ]
    return Problem(problem.nodes, problem.values, buffers, copies, problem.limit)


def largest_memory(problem: Problem) -> Floats:
    """Return an upper bound of the live bytes at each point: all parts as large as they can be."""
    permitted = [np.isfinite(node.costs) for node in problem.nodes]
    changes = np.zeros(problem.points + 1)
    for part in problem.buffers:
        largest = float(part.nbytes.max(where=permitted[part.node], initial=0.0))
        changes[part.start] += largest
        changes[part.end] -= largest
    for part in problem.copies:
        changes[part.start] += part.nbytes.max(initial=0.0)
        changes[part.end] -= part.nbytes.max(initial=0.0)
    sums = np.cumsum(changes)[:-1]
    return sums + 1e-9 * np.abs(changes).sum()  # rounding makes no point redundant


def _maximal(problem: Problem, binding: Bools) -> Bools:
    """Return a mask of points whose live parts are not a subset of those of another point.

    A part starts at such a point or behind the previous one, and a part ends before the next one.
    """
    following: Ints = np.concatenate([[0], np.cumsum(binding)])
    points = int(following[-1])
    starts, ends = np.zeros(points + 1, np.bool_), np.zeros(points + 1, np.bool_)
    for part in (*problem.buffers, *problem.copies):
        first, last = following[part.start], following[part.end]
        if first < last:
            starts[first] = ends[last] = True
    maximal = np.zeros(points, np.bool_)
    has_started = False
    for point in range(points):
        has_started |= bool(starts[point])
        if has_started and ends[point + 1]:
            maximal[point] = True
            has_started = False
    result = np.zeros_like(binding)
    result[binding] = maximal
    return result


# --- Tied nodes -----------------------------------------------------------------------------------

# A value between two nodes ties one of them to the other if its finite reshards leave at most one
# strategy for each strategy of the other: the results of a loop have the shardings of its
# arguments, for example, and an instruction that works in place that of its operand. Such a node
# becomes part of the other one, which takes over its cost, its memory and its values. Chains of
# ties have one root, so a program in which they are common becomes far smaller, and no forbidden
# pairs remain, which local search can hardly cross.


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
