# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Communication that is hidden behind computation, in the cost of a problem.

A *body* is that of a loop, or the program around loops, on one lane of links. In a choice, it has C
seconds of communication that can run ahead of its use, or after it, and W seconds beside which it
can run: those of computation, and of other communication on other lanes. The smaller one of both is
hidden, so that the cost of a choice is

    plain cost - sum over bodies of min(C, W)

or, with one continuous variable e >= 0 for each body, the plain cost without C, plus e >= C - W.
Solvers know no such variables, as no other part of the cost depends on more than one value.

1. *Prices*. For each p in [0, 1], (1 - p) C + p W >= min(C, W). With a price p of each body, C and
   W are costs of nodes and of reshards, and the problem is one without overlap (`priced`), whose
   optimum is a lower bound of the cost with overlap. The prices of the lanes of a body add up to 1
   at most, so that no cost is negative.
2. *Exactly*. The variable e is a sum of nodes with two strategies, which cost 0 and a power of two
   of a unit, and the constraint that it is large enough is one of memory, at a point of time of its
   own (`exact`). So it is one that solvers know. Reshards beside which communication runs don't
   count there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pyshardy.auto.problem.arrays import Buffer, Copy, Floats, Ints, Node, Problem, Value

_BITS = 12
"""The nodes of each variable."""


@dataclass(eq=False, slots=True)
class HidingBody:
    """The communication that can be hidden in a body on a lane, and what it can be hidden by.

    Attributes:
        number: the number of the body; that of the lane doesn't matter.
        sent: the seconds of collectives after nodes, by their strategies.
        resharded: the seconds of reshards of values, as in their costs.
        computed: the seconds of nodes beside which communication can run, by their strategies.
        beside: those of reshards.
    """

    number: int = 0
    sent: dict[int, Floats] = field(default_factory=dict[int, Floats])
    resharded: dict[int, Floats] = field(default_factory=dict[int, Floats])
    computed: dict[int, Floats] = field(default_factory=dict[int, Floats])
    beside: dict[int, Floats] = field(default_factory=dict[int, Floats])

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be hidden."""
        return not (self.sent or self.resharded) or not self.computed


@dataclass(frozen=True, eq=False, slots=True)
class Hiding:
    """The bodies of a problem in which communication can be hidden.

    Attributes:
        bodies: the bodies.
    """

    bodies: tuple[HidingBody, ...]

    @property
    def is_exact(self) -> bool:
        """Whether the exact problem has all that hides communication."""
        return not any(body.beside for body in self.bodies)

    def amounts(self, problem: Problem, choice: Sequence[int] | Ints) -> tuple[Floats, Floats]:
        """Return the communication of each body in a choice, and what hides it, in seconds."""
        found = np.zeros((2, len(self.bodies)))
        for number, body in enumerate(self.bodies):
            for row, nodes, values in (
                (0, body.sent, body.resharded),
                (1, body.computed, body.beside),
            ):
                total = sum(float(own[choice[node]]) for node, own in nodes.items())
                for index, costs in values.items():
                    total += _reshard_seconds(problem.values[index], costs, choice)
                found[row, number] = total
        return found[0], found[1]

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
        nodes, values = list(problem.nodes), list(problem.values)
        for price, body in zip(prices.tolist(), self.bodies, strict=True):
            for weight, of_nodes, of_values in (
                (1.0 - price, body.sent, body.resharded),
                (price, body.computed, body.beside),
            ):
                if weight:
                    _subtract(weight, of_nodes, of_values, nodes, values)
        return Problem(nodes, values, problem.buffers, problem.copies, problem.limit)

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
        nodes, values = list(problem.nodes), list(problem.values)
        buffers, copies = list(problem.buffers), list(problem.copies)
        limit = 1.0 if problem.limit is None else problem.limit
        chosen = choice.tolist()
        unit = most / (2**_BITS - 1)
        for number, body in enumerate(self.bodies):
            _subtract(1.0, body.sent, body.resharded, nodes, values)
            # C + (most W - W) + (most e - e) <= most W + most e
            idle = {node: float(seconds.max()) - seconds for node, seconds in body.computed.items()}
            longest = sum(float(seconds.max()) for seconds in body.computed.values())
            scale = limit / max(longest + most, 1e-300)
            at, until = problem.points + number, problem.points + number + 1
            for node, seconds in (*body.sent.items(), *idle.items()):
                buffers.append(Buffer(at, until, node, scale * seconds))
            for index, costs in body.resharded.items():
                copies += [
                    Copy(at, until, index, target, costs[:, target] * scale)
                    for target in np.flatnonzero(costs.any(axis=0)).tolist()
                ]
            exposed = max(0.0, float(sent[number] - computed[number]))
            needed = int(np.ceil(exposed / unit)) if unit else 0
            for bit in range(_BITS):
                size = unit * 2**bit
                buffers.append(Buffer(at, until, len(nodes), np.array([size * scale, 0.0])))
                nodes.append(Node("exposed communication", np.array([0.0, size])))
                chosen.append(min(needed, 2**_BITS - 1) >> bit & 1)
        found = Problem(nodes, values, buffers, copies, limit)
        return found, np.array(chosen, np.int64), unit * len(self.bodies)


def _reshard_seconds(value: Value, costs: Floats, choice: Sequence[int] | Ints) -> float:
    """Return the seconds of the reshards of a value in a choice, by given costs."""
    source = int(value.source[choice[value.producer]])
    needed = {int(user.target[choice[user.node]]) for user in value.users}
    return sum(float(costs[source, target]) for target in needed)


def _subtract(
    weight: float,
    of_nodes: Mapping[int, Floats],
    of_values: Mapping[int, Floats],
    nodes: list[Node],
    values: list[Value],
) -> None:
    """Subtract a part of some seconds from the costs of nodes and values."""
    for node, seconds in of_nodes.items():
        costs = np.maximum(nodes[node].costs - weight * seconds, 0.0)
        nodes[node] = Node(nodes[node].name, costs)
    for index, seconds in of_values.items():
        costs = np.maximum(values[index].costs - weight * seconds, 0.0)
        values[index] = replace(values[index], costs=costs)
