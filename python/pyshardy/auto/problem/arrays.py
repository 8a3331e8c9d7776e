# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The optimization problem of automatic sharding: arrays only, no IR.

Each node chooses one of its strategies. The cost of a choice is the sum of

1. `node.costs[choice]` of each node;
2. for each value and each target class t that at least one of its users needs,
   `value.costs[s, t]`, where s is the source class of the producer's choice. Users that need the
   same class share one reshard.

A choice is feasible if its cost is finite and, at each point of time, the bytes of all live buffers
and copies are at most `limit`.

Example: a product chooses to shard its rows (strategy 0, 1 s) or nothing (strategy 1, 4 s). Its
user needs the unsharded result; an all-gather takes 2 s. Strategy 0 costs 1 + 2 = 3 s.

>>> product = Node("product", [1.0, 4.0])
>>> user = Node("user", [0.0])
>>> value = Value(0, [0, 1], [User(1, [0])], [[2.0], [0.0]])
>>> evaluate(Problem([product, user], [value]), [0, 0]).cost
3.0
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[Any]  # of float64
Ints: TypeAlias = npt.NDArray[Any]  # of int64
Bools: TypeAlias = npt.NDArray[Any]  # of bool


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A choice between strategies, usually an operation or an argument.

    Attributes:
        name: its name in messages.
        costs: the seconds of each strategy; infinite where a strategy is not permitted. Solvers
            prefer the first of equally good strategies.
    """

    name: str
    costs: Floats

    def __post_init__(self) -> None:
        _convert(self, costs=constant_floats)


@dataclass(frozen=True, eq=False, slots=True)
class User:
    """A user of a value.

    Attributes:
        node: the index of the node.
        target: the target class that each strategy of the node needs.
    """

    node: int
    target: Ints

    def __post_init__(self) -> None:
        _convert(self, target=constant_ints)


@dataclass(frozen=True, eq=False, slots=True)
class Value:
    """The reshards between a producer and its users.

    Attributes:
        producer: the index of the node that defines the value.
        source: the source class that each strategy of the producer gives.
        users: its users. A node that uses the value twice is listed twice.
        costs: the seconds of the reshard from a source class (row) to a target class (column):
            non-negative, and infinite where there is none.
    """

    producer: int
    source: Ints
    users: Sequence[User]
    costs: Floats

    def __post_init__(self) -> None:
        _convert(self, source=constant_ints, users=tuple, costs=constant_floats)


@dataclass(frozen=True, eq=False, slots=True)
class Buffer:
    """Memory whose size follows from the strategy of a node.

    Attributes:
        start: the first point of time at which it is live.
        end: the point after the last.
        node: the index of the node.
        nbytes: the size by strategy.
    """

    start: int
    end: int
    node: int
    nbytes: Floats

    def __post_init__(self) -> None:
        _convert(self, nbytes=constant_floats)


@dataclass(frozen=True, eq=False, slots=True)
class Copy:
    """Memory of a resharded value, live if a user needs its target class.

    Attributes:
        start: the first point of time at which it is live.
        end: the point after the last.
        value: the index of the value.
        target: the target class.
        nbytes: the size by source class; 0 where the reshard copies nothing.
    """

    start: int
    end: int
    value: int
    target: int
    nbytes: Floats

    def __post_init__(self) -> None:
        _convert(self, nbytes=constant_floats)


@dataclass(frozen=True, eq=False)
class Problem:
    """An optimization problem; see the module's documentation.

    Attributes:
        nodes: the choices.
        values: the reshards between them.
        buffers: memory by node.
        copies: memory by reshard.
        limit: the bytes that may be live at a time; None for any number.
    """

    nodes: tuple[Node, ...]
    values: tuple[Value, ...] = ()
    buffers: tuple[Buffer, ...] = ()
    copies: tuple[Copy, ...] = ()
    limit: float | None = None
    points: int = field(init=False)

    def __init__(
        self,
        nodes: Sequence[Node],
        values: Sequence[Value] = (),
        buffers: Sequence[Buffer] = (),
        copies: Sequence[Copy] = (),
        limit: float | None = None,
    ) -> None:
        """Check and store the parts of the problem.

        Raises:
            ValueError: an index or the shape of an array doesn't match.
        """
        object.__setattr__(self, "nodes", tuple(nodes))
        object.__setattr__(self, "values", tuple(values))
        object.__setattr__(self, "buffers", tuple(buffers))
        object.__setattr__(self, "copies", tuple(copies))
        object.__setattr__(self, "limit", None if limit is None else float(limit))
        ends = (part.end for part in (*self.buffers, *self.copies))
        object.__setattr__(self, "points", max(ends, default=0))
        _check(self)

    @cached_property
    def sizes(self) -> Ints:
        """The number of strategies of each node."""
        return np.array([len(node.costs) for node in self.nodes], np.int64)

    def with_nodes(self, nodes: Sequence[Node]) -> Problem:
        """Return the problem with other costs of nodes.

        Raises:
            ValueError: the nodes don't have the strategies of those of the problem.
        """
        if [node.costs.shape for node in nodes] != [node.costs.shape for node in self.nodes]:
            raise ValueError("the nodes of a problem keep their numbers of strategies")
        for node in nodes:
            _check_node(node)
        changed = copy.copy(self)
        object.__setattr__(changed, "nodes", tuple(nodes))
        return changed


@dataclass(frozen=True, eq=False, slots=True)
class Evaluation:
    """The cost and memory of a choice.

    Attributes:
        cost: the seconds; infinite if the choice isn't permitted.
        memory: the live bytes at each point of time.
    """

    cost: float
    memory: Floats

    @property
    def peak(self) -> float:
        """The most bytes that are live at a time."""
        return float(self.memory.max(initial=0.0))

    def fits(self, limit: float | None) -> bool:
        """Whether the memory is within a limit, but for rounding."""
        return limit is None or self.peak <= limit * (1 + MEMORY_TOLERANCE)


MEMORY_TOLERANCE = 1e-9
"""The relative excess of the memory limit that is taken for rounding."""


def evaluate(problem: Problem, choice: npt.ArrayLike) -> Evaluation:
    """Return the cost and memory of a choice, by their definition.

    Args:
        problem: the problem.
        choice: the index of the strategy of each node.
    """
    chosen: list[int] = np.asarray(choice, np.int64).tolist()
    cost = sum(float(node.costs[one]) for node, one in zip(problem.nodes, chosen, strict=True))
    for value in problem.values:
        source = value.source[chosen[value.producer]]
        needed = {int(user.target[chosen[user.node]]) for user in value.users}
        cost += sum(float(value.costs[source, target]) for target in sorted(needed))
    return Evaluation(cost, memory_of(problem, chosen))


def memory_of(problem: Problem, chosen: Sequence[int]) -> Floats:
    """Return the live bytes at each point of time."""
    changes = np.zeros(problem.points + 1)
    for buffer in problem.buffers:
        nbytes = buffer.nbytes[chosen[buffer.node]]
        changes[buffer.start] += nbytes
        changes[buffer.end] -= nbytes
    for each in problem.copies:
        value = problem.values[each.value]
        if any(user.target[chosen[user.node]] == each.target for user in value.users):
            nbytes = each.nbytes[value.source[chosen[value.producer]]]
            changes[each.start] += nbytes
            changes[each.end] -= nbytes
    return np.cumsum(changes)[:-1]


def _convert(part: object, **conversions: Callable[[Any], Any]) -> None:
    """Replace fields of a frozen dataclass by their conversions."""
    for name, conversion in conversions.items():
        object.__setattr__(part, name, conversion(getattr(part, name)))


def constant_floats(given: npt.ArrayLike) -> Floats:
    """Return numbers as an array that can't be written: the given one if it can't be, or a copy."""
    array: Floats = np.asarray(given, np.float64)
    if array.flags.writeable:
        array = np.array(array, np.float64)
        array.flags.writeable = False
    return array


def constant_ints(given: npt.ArrayLike) -> Ints:
    """Return indices as an array that can't be written; see `constant_floats`."""
    array: Ints = np.asarray(given, np.int64)
    if array.flags.writeable:
        array = np.array(array, np.int64)
        array.flags.writeable = False
    return array


def _check(problem: Problem) -> None:
    """Raise ValueError where indices or shapes don't match."""
    for node in problem.nodes:
        _check_node(node)
    for index, value in enumerate(problem.values):
        _check_value(problem, index, value)
    for part in (*problem.buffers, *problem.copies):
        if not 0 <= part.start <= part.end:
            raise ValueError(f"memory is live from {part.start} to {part.end}")
        if not (np.isfinite(part.nbytes) & (part.nbytes >= 0)).all():
            raise ValueError(f"sizes must be finite and non-negative, got {part.nbytes}")
    for buffer in problem.buffers:
        _check_length(problem, buffer.node, buffer.nbytes, "a buffer")
    for each in problem.copies:
        rows, columns = problem.values[each.value].costs.shape
        if each.nbytes.shape != (rows,) or not 0 <= each.target < columns:
            raise ValueError(f"a copy of value {each.value} doesn't match its costs")


def _check_node(node: Node) -> None:
    if node.costs.ndim != 1 or not len(node.costs) or np.isnan(node.costs).any():
        raise ValueError(f"node '{node.name}' needs a list of costs, got {node.costs}")
    if (node.costs == -np.inf).any():
        raise ValueError(f"node '{node.name}' has a cost of -inf")


def _check_value(problem: Problem, index: int, value: Value) -> None:
    name = f"value {index} of node '{problem.nodes[value.producer].name}'"
    if value.costs.ndim != 2 or not (value.costs >= 0).all():  # refuses NaN as well
        raise ValueError(f"{name} needs a matrix of non-negative costs, got {value.costs}")
    if not value.users:
        raise ValueError(f"{name} needs at least one user")
    _check_length(problem, value.producer, value.source, name)
    _check_classes(value.source, value.costs.shape[0], name)
    for user in value.users:
        if user.node == value.producer:
            raise ValueError(f"{name} is used by its producer: add the cost to that of the node")
        _check_length(problem, user.node, user.target, name)
        _check_classes(user.target, value.costs.shape[1], name)


def _check_length(problem: Problem, node: int, array: npt.NDArray[np.generic], name: str) -> None:
    wanted = problem.nodes[node].costs.shape
    if array.shape != wanted:
        raise ValueError(
            f"{name} has {array.shape} entries for node '{problem.nodes[node].name}', which has "
            f"{wanted[0]} strategies"
        )


def _check_classes(classes: Ints, number: int, name: str) -> None:
    if classes.min(initial=0) < 0 or classes.max(initial=0) >= number:
        raise ValueError(f"{name} has costs for {number} classes, but refers to {classes.max()}")
