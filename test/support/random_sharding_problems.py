# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small random problems of automatic sharding, which brute force solves."""

import math

import numpy as np

from pyshardy.auto.problem.arrays import Buffer, Copy, Node, Problem, User, Value

POINTS = 5


def random_problem(seed, *, nodes=5, infinite=0.08):
    """Return a problem with costs, shared reshards, buffers, copies and sometimes a limit."""
    draw = np.random.default_rng(seed)
    nodes = [
        Node(f"n{number}", costs(draw, draw.integers(1, 4), infinite)) for number in range(nodes)
    ]
    values = [
        value
        for producer in range(len(nodes))
        for _ in range(draw.integers(0, 3))
        for value in random_values(draw, nodes, producer, infinite)
    ]
    buffers = [
        Buffer(*interval(draw), number, draw.integers(0, 5, len(node.costs)))
        for number, node in enumerate(nodes)
        for _ in range(draw.integers(0, 3))
    ]
    copies = [
        Copy(
            *interval(draw),
            number,
            draw.integers(value.costs.shape[1]),
            draw.integers(0, 4, len(value.costs)),
        )
        for number, value in enumerate(values)
        if draw.random() < 0.3
    ]
    limit = draw.integers(4, 20) if draw.random() < 0.7 else None
    return Problem(nodes, values, buffers, copies, limit)


def random_values(draw, nodes, producer, infinite):
    """Yield at most one value: a node may not use its own."""
    rows, columns = draw.integers(1, 4, 2)
    chosen = [int(user) for user in draw.integers(0, len(nodes), draw.integers(1, 4))]
    users = [
        User(user, draw.integers(0, columns, len(nodes[user].costs)))
        for user in chosen
        if user != producer
    ]
    if users:
        source = draw.integers(0, rows, len(nodes[producer].costs))
        yield Value(producer, source, users, costs(draw, (rows, columns), infinite))


def costs(draw, shape, infinite):
    numbers = draw.integers(0, 8, shape).astype(float)
    numbers[draw.random(shape) < infinite] = math.inf
    return numbers


def interval(draw):
    start, end = sorted(draw.integers(0, POINTS + 1, 2))
    return int(start), int(end)
