# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that is missing where no choice was found within the limit."""

from __future__ import annotations

import time

import numpy as np

from pyshardy.auto.local_search import LocalSearch
from pyshardy.auto.problem import Ints, Problem, evaluate
from pyshardy.auto.reduce import Reduction
from pyshardy.auto.solution import Shortage

LISTED = 10
"""The most nodes that are listed."""


def shortage_of(problem: Problem, reduction: Reduction, seconds: float) -> Shortage | None:
    """Return the memory that is missing, or None if it isn't the reason.

    Args:
        problem: the given problem.
        reduction: its reduction.
        seconds: the time to search for a choice of little memory.
    """
    reduced = reduction.problem
    if reduced is None or problem.limit is None:
        return None
    smallest = smallest_choice(reduced)
    search = LocalSearch(reduced, smallest)
    search.repair(time.perf_counter() + seconds)
    choice = reduction.restore(np.array(search.choice, np.int64))
    memory = evaluate(problem, choice).memory
    point = int(np.argmax(memory))
    missing = float(memory[point]) - problem.limit
    if missing <= 0:
        return None
    needs = dict[int, float]()
    for buffer in problem.buffers:
        if buffer.start <= point < buffer.end:
            nbytes = float(buffer.nbytes[choice[buffer.node]])
            needs[buffer.node] = needs.get(buffer.node, 0.0) + nbytes
    largest = sorted(needs.items(), key=lambda need: (-need[1], need[0]))[:LISTED]
    return Shortage(missing, point, tuple(largest))


def smallest_choice(problem: Problem) -> Ints:
    """Return the choice of the fewest bytes of each node, and of the least cost among these."""
    totals = [np.zeros(size) for size in problem.sizes]
    for buffer in problem.buffers:
        totals[buffer.node] = totals[buffer.node] + buffer.nbytes * (buffer.end - buffer.start)
    pairs = zip(problem.nodes, totals, strict=True)
    return np.array([np.lexsort((node.costs, total))[0] for node, total in pairs], np.int64)
