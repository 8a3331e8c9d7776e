# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The points of time at which the memory limit can bind.

A point is redundant if even the largest strategies fit, or if all that is live at it is live at
another point as well. With the remaining points renumbered, the peak of each choice is the same or
within the limit.
"""

from __future__ import annotations

import numpy as np

from pyshardy.auto.problem.arrays import Bools, Buffer, Copy, Floats, Ints, Problem


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
