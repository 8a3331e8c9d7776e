# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prices of memory: live bytes as costs (Lagrangian relaxation of the memory limit).

Each point of time has a price per byte. The bytes of buffers, times the prices of the points at
which they are live, are costs of nodes, and those of copies are costs of reshards. So a problem
with prices is one without memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pyshardy.auto.problem.arrays import Floats, Ints, Node, Problem, Value


@dataclass(frozen=True, eq=False, slots=True)
class CopiesOfValue:
    """The copies of a value.

    Attributes:
        targets: the target class of each.
        starts: the first point of time at which each is live.
        ends: the points after the last.
        nbytes: the size of each (column) by source class (row).
    """

    targets: Ints
    starts: Ints
    ends: Ints
    nbytes: Floats

    def add_price(self, costs: Floats, sums: Floats) -> Floats:
        """Return the costs of the reshards of the value with the prices of copies.

        Args:
            costs: the costs without them.
            sums: the sums of the prices up to each point of time.
        """
        prices: Floats = sums[self.ends] - sums[self.starts]
        total: Floats = np.array(costs)
        for number, target in enumerate(self.targets.tolist()):
            total[:, target] += self.nbytes[:, number] * prices[number]
        return total


def copies_of(problem: Problem) -> Mapping[int, CopiesOfValue]:
    """Return the copies of values by the numbers of these."""
    by_value: dict[int, list[int]] = {}
    for number, each in enumerate(problem.copies):
        by_value.setdefault(each.value, []).append(number)
    found: dict[int, CopiesOfValue] = {}
    for value, numbers in by_value.items():
        own = [problem.copies[number] for number in numbers]
        found[value] = CopiesOfValue(
            np.array([each.target for each in own], np.int64),
            np.array([each.start for each in own], np.int64),
            np.array([each.end for each in own], np.int64),
            np.stack([each.nbytes for each in own], axis=1),
        )
    return found


def priced(problem: Problem, prices: Floats) -> Problem:
    """Return the problem with the prices of memory as costs, and without a limit.

    Args:
        problem: the problem.
        prices: the price of a byte at each point of time.
    """
    sums = np.concatenate([[0.0], np.cumsum(prices)])
    costs = [np.array(node.costs) for node in problem.nodes]
    for buffer in problem.buffers:
        costs[buffer.node] += buffer.nbytes * (sums[buffer.end] - sums[buffer.start])
    copies = copies_of(problem)
    return Problem(
        [Node(node.name, own) for node, own in zip(problem.nodes, costs, strict=True)],
        [
            Value(
                value.producer,
                value.source,
                value.users,
                copies[index].add_price(value.costs, sums) if index in copies else value.costs,
            )
            for index, value in enumerate(problem.values)
        ],
    )


def without_costs(problem: Problem) -> Problem:
    """Return the problem in which all that is permitted costs nothing."""
    return Problem(
        [Node(node.name, _free(node.costs)) for node in problem.nodes],
        [
            Value(value.producer, value.source, value.users, _free(value.costs))
            for value in problem.values
        ],
        problem.buffers,
        problem.copies,
        problem.limit,
    )


def _free(costs: Floats) -> Floats:
    return np.where(np.isfinite(costs), 0.0, np.inf)
