# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that is missing where no choice was found within the limit."""

from __future__ import annotations

import numpy as np

from pyshardy.auto.problem.arrays import Problem, evaluate
from pyshardy.auto.problem.reduce import Reduction
from pyshardy.auto.problem.solution import Shortage
from pyshardy.auto.solvers.least_memory import LeastMemory, least_memory, smallest_choice

LISTED = 10
"""The most nodes that are listed."""


def shortage_of(
    problem: Problem, reduction: Reduction, seconds: float, least: LeastMemory | None = None
) -> Shortage | None:
    """Return the memory that is missing, or None if it isn't the reason.

    Args:
        problem: the given problem.
        reduction: its reduction.
        seconds: the time to search for the choice of least memory.
        least: the least memory of the reduced problem, if it is known.
    """
    reduced = reduction.problem
    if reduced is None or problem.limit is None:
        return None
    if least is None:
        least = least_memory(reduced, seconds)
    choice = reduction.restore(smallest_choice(reduced) if least.choice is None else least.choice)
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
    return Shortage(missing, least.bound, point, tuple(largest))
