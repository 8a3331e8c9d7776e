# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The best choice of a small problem, by trying all."""

import itertools
import math
import time

import numpy as np

from pyshardy.auto.problem.arrays import evaluate
from pyshardy.auto.problem.solution import solution_of, without_choice


def brute_force(problem):
    """Return the best of all choices: the first in lexicographic order if equal."""
    started = time.perf_counter()
    best, best_cost = None, math.inf
    permitted = [np.flatnonzero(np.isfinite(node.costs)).tolist() for node in problem.nodes]
    for choice in itertools.product(*permitted):
        evaluation = evaluate(problem, choice)
        if evaluation.cost < best_cost and evaluation.fits(problem.limit):
            best, best_cost = choice, evaluation.cost
    if best is None:
        return without_choice("infeasible", math.inf, started)
    return solution_of(problem, np.array(best, np.int64), best_cost, 0.0, started)
