# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Communication that is hidden behind computation, in the cost of a problem.

A *body* is that of a loop, or the program around loops. In a choice, it has C seconds of
communication that can run ahead of its use, or after it, and W seconds of computation beside which
it can run. The smaller one of both is hidden, so that the cost of a choice is

    plain cost - sum over bodies of min(C, W)

or, with one continuous variable e >= 0 for each body, the plain cost without C, plus e >= C - W. No
other part of the cost depends on more than one value, so that solvers know no such variables.

1. *Prices*. For each p in [0, 1], (1 - p) C + p W >= min(C, W). With a price p of each body, C and
   W are costs of nodes and of reshards, and the problem is one without overlap (`priced`), whose
   optimum is a lower bound of the cost with overlap.
2. *Exactly*. The variable e is a sum of nodes with two strategies, which cost 0 and a power of two
   of a unit, and the constraint that it is large enough is one of memory, at a point of time of its
   own (`exact`). So it is one that solvers know.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pyshardy.auto.problem.arrays import Buffer, Copy, Floats, Ints, Node, Problem, Value

_BITS = 12
"""The nodes of each variable."""


@dataclass(eq=False, slots=True)
class HidingBody:
    """The communication that can be hidden in a body, and its computation.

    Attributes:
        sent: the seconds of collectives after nodes, by their strategies.
        resharded: the part of the seconds of the reshards of values.
        computed: the seconds of nodes beside which communication can run, by their strategies.
    """

    sent: dict[int, Floats] = field(default_factory=dict[int, Floats])
    resharded: dict[int, float] = field(default_factory=dict[int, float])
    computed: dict[int, Floats] = field(default_factory=dict[int, Floats])

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be hidden."""
        return not (self.sent or self.resharded) or not self.computed


@dataclass(frozen=True, eq=False, slots=True)
class Hiding:
    """What can be hidden in a problem.

    Attributes:
        bodies: the bodies.
    """

    bodies: tuple[HidingBody, ...]

    def amounts(self, problem: Problem, choice: Sequence[int] | Ints) -> tuple[Floats, Floats]:
        """Return the communication and the computation of each body in a choice, in seconds."""
        sent, computed = (np.zeros(len(self.bodies)) for _ in range(2))
        seconds: dict[int, float] = {}
        for number, body in enumerate(self.bodies):
            sent[number] = sum(float(own[choice[node]]) for node, own in body.sent.items())
            computed[number] = sum(float(own[choice[node]]) for node, own in body.computed.items())
            for index, part in body.resharded.items():
                if index not in seconds:
                    seconds[index] = _reshard_seconds(problem.values[index], choice)
                sent[number] += part * seconds[index]
        return sent, computed

    def seconds(self, problem: Problem, choice: Sequence[int] | Ints) -> float:
        """Return the seconds that are hidden in a choice."""
        return float(np.minimum(*self.amounts(problem, choice)).sum())

    def priced(self, problem: Problem, prices: Floats) -> Problem:
        """Return a problem without overlap, whose optimum is a lower bound with overlap.

        Args:
            problem: the problem.
            prices: a number from 0 to 1 for each body: 0 counts the computation and no hidden
                communication, and 1 counts the communication.
        """
        nodes, parts = list(problem.nodes), dict[int, float]()
        for price, body in zip(prices.tolist(), self.bodies, strict=True):
            for weight, amounts in (1.0 - price, body.sent), (price, body.computed):
                for node, seconds in amounts.items() if weight else ():
                    costs = np.maximum(nodes[node].costs - weight * seconds, 0.0)
                    nodes[node] = Node(nodes[node].name, costs)
            for value, part in body.resharded.items():
                parts[value] = parts.get(value, 0.0) + (1.0 - price) * part
        return _with_parts(problem, nodes, parts)

    def exact(self, problem: Problem, choice: Ints, most: float) -> tuple[Problem, Ints, float]:
        """Return a problem whose cost is that with overlap, but for rounding.

        Args:
            problem: the problem.
            choice: a choice of it.
            most: the most seconds of communication of a body that aren't hidden; those of the
                choice, or more.

        Returns:
            The problem with a node for each bit of a variable, the choice of it, and the largest
            rounding of its cost.
        """
        sent, computed = self.amounts(problem, choice)
        nodes, parts = list(problem.nodes), dict[int, float]()
        buffers, copies = list(problem.buffers), list(problem.copies)
        limit = 1.0 if problem.limit is None else problem.limit
        chosen = choice.tolist()
        unit = most / (2**_BITS - 1)
        for number, body in enumerate(self.bodies):
            for node, seconds in body.sent.items():
                costs = np.maximum(nodes[node].costs - seconds, 0.0)
                nodes[node] = Node(nodes[node].name, costs)
            for value, part in body.resharded.items():
                parts[value] = parts.get(value, 0.0) + part
            # C + (most W - W) + (most e - e) <= most W + most e
            idle = {node: float(seconds.max()) - seconds for node, seconds in body.computed.items()}
            longest = sum(float(seconds.max()) for seconds in body.computed.values())
            scale = limit / max(longest + most, 1e-300)
            at, until = problem.points + number, problem.points + number + 1
            for node, seconds in (*body.sent.items(), *idle.items()):
                buffers.append(Buffer(at, until, node, scale * seconds))
            for index, part in body.resharded.items():
                costs = problem.values[index].costs
                finite = np.where(np.isfinite(costs), costs, 0.0) * part * scale
                copies += [
                    Copy(at, until, index, target, finite[:, target])
                    for target in np.flatnonzero(finite.any(axis=0)).tolist()
                ]
            exposed = max(0.0, float(sent[number] - computed[number]))
            needed = int(np.ceil(exposed / unit)) if unit else 0
            for bit in range(_BITS):
                size = unit * 2**bit
                buffers.append(Buffer(at, until, len(nodes), np.array([size * scale, 0.0])))
                nodes.append(Node("exposed communication", np.array([0.0, size])))
                chosen.append(min(needed, 2**_BITS - 1) >> bit & 1)
        costs = _with_parts(problem, nodes[: len(problem.nodes)], parts)
        found = Problem(nodes, costs.values, buffers, copies, limit)
        return found, np.array(chosen, np.int64), unit * len(self.bodies)


def _reshard_seconds(value: Value, choice: Sequence[int] | Ints) -> float:
    """Return the seconds of the reshards of a value in a choice."""
    source = int(value.source[choice[value.producer]])
    needed = {int(user.target[choice[user.node]]) for user in value.users}
    return sum(float(value.costs[source, target]) for target in needed)


def _with_parts(problem: Problem, nodes: Iterable[Node], parts: Mapping[int, float]) -> Problem:
    """Return a problem with other nodes, in which parts of the reshards of values are free."""
    values = list(problem.values)
    for index, part in parts.items():
        costs = values[index].costs
        left = np.where(np.isfinite(costs), costs * max(0.0, 1.0 - part), np.inf)
        values[index] = replace(values[index], costs=left)
    return Problem([*nodes], values, problem.buffers, problem.copies, problem.limit)
