# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The solvers of automatic sharding on the instances of the IOPDDL contest.

    python bench/iopddl.py FOLDER [G B V ...] [--solver=NAME] [--timeout=300] [--gap=0.0001]

The contest on intra-operator parallelism (ASPLOS and EuroSys 2025, github.com/google/iopddl) has
problems of XLA's automatic sharding for real models. FOLDER holds them as NAME.json.gz; the
environment variable IOPDDL names it as well. Without both, a small generated problem is solved.

Prints for each instance the cost, the proven bound, the gap, the best cost of the contest's teams
and that of XLA's solver, the seconds of solving, and those of the CPU.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from pyshardy.auto.problem.arrays import (
    Buffer,
    Node,
    Problem,
    User,
    Value,
    constant_floats,
    constant_ints,
)
from pyshardy.auto.problem.reduce import describe, entries, reduce
from pyshardy.auto.solvers.solver import Progress, solve

NOT_PERMITTED = 1e18
"""The least cost that stands for an infinite one."""

BEST = {
    "G": 217_039,
    "B": 532_843,
    "V": 1_632_051,
    "S": 1_534_613_444,
    "K": 2_274_276_676,
    "A": 6_548_641_531,
    "M": 49_928_460_991,
}
"""The best cost of 20 teams of the contest."""

XLA = {"G": 1_264_777, "B": 990_205, "A": 13_214_846_074}
"""The cost of XLA's solver, where it found a choice."""

LARGE = 200_000
"""The number of reshards of a reduced problem from which on messages are passed."""


def read(path: Path) -> Problem:
    """Return the problem of a file."""
    given = json.loads(gzip.decompress(path.read_bytes()))["problem"]
    nodes = [
        Node(str(number), _costs(costs)) for number, costs in enumerate(given["nodes"]["costs"])
    ]
    intervals = zip(given["nodes"]["intervals"], given["nodes"]["usages"], strict=True)
    buffers = [
        Buffer(start, end, number, usages)
        for number, ((start, end), usages) in enumerate(intervals)
        if start < end
    ]
    values: list[Value] = []
    tables: dict[tuple[int, int, bytes], Any] = {}
    for (first, second), costs in zip(
        given["edges"]["nodes"], given["edges"]["costs"], strict=True
    ):
        sizes = len(nodes[first].costs), len(nodes[second].costs)
        table = _costs(costs)
        # Most tables of a model are equal: layers repeat.
        table = tables.setdefault((*sizes, table.tobytes()), table.reshape(sizes))
        source, target = (constant_ints(np.arange(size)) for size in sizes)
        values.append(Value(first, source, [User(second, target)], table))
    return Problem(nodes, values, buffers, limit=given["usage_limit"])


def _costs(costs: list[float]) -> Any:
    array = np.array(costs, np.float64)
    array[array >= NOT_PERMITTED] = np.inf
    return constant_floats(array)


def generated(layers: int = 40, strategies: int = 6) -> Problem:
    """Return a chain of nodes with skips and a memory limit."""
    draw = np.random.default_rng(0)
    nodes = [Node(f"layer {number}", draw.random(strategies)) for number in range(layers)]
    own = np.arange(strategies)
    reshard = 1.0 - np.eye(strategies)
    values = [
        Value(number, own, [User(number + step, own)], reshard * draw.random())
        for step in (1, 2, 7)
        for number in range(layers - step)
    ]
    buffers = [
        Buffer(number, min(layers, number + 8), number, 16.0 / (1 + own))
        for number in range(layers)
    ]
    return Problem(nodes, values, buffers, limit=60.0)


def measure(name: str, problem: Problem, solver: str, timeout: float, gap: float) -> None:
    """Solve a problem, and print what was found."""
    print(f"{name}: {describe(problem)}")
    if solver == "auto":
        reduced = reduce(problem).problem
        solver = "highs" if reduced is None or entries(reduced) < LARGE else "message_passing"

    last = [0.0]

    def print_progress(state: Progress) -> None:
        if state.seconds >= last[0] + timeout / 20:
            last[0] = state.seconds
            print(f"  {state.seconds:6.1f} s  {state.stage:22}", end="")
            print(f"cost {state.cost:16,.6g}  bound {state.bound:16,.6g}", flush=True)

    begun = time.process_time()
    solution = solve(problem, by=solver, timeout=timeout, gap=gap, progress=print_progress)
    used = time.process_time() - begun
    print(
        f"  {solver}: {solution.status}, cost {solution.cost:,.6g}, bound {solution.bound:,.6g}",
        end="",
    )
    print(f", gap {solution.gap:.2%}, {solution.seconds:.1f} s, {used:.1f} s of the CPU")
    for others, costs in ("the best team", BEST), ("XLA", XLA):
        if name in costs:
            print(f"  {solution.cost / costs[name]:.4f} of {others}, {costs[name]:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("IOPDDL"))
    parser.add_argument("instances", nargs="*", default=[*BEST])
    parser.add_argument("--solver", default="auto")
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--gap", type=float, default=1e-4)
    options = parser.parse_args()
    if options.folder is None:
        measure("generated", generated(), options.solver, options.timeout, options.gap)
        return
    for name in options.instances:
        problem = read(Path(options.folder) / f"{name}.json.gz")
        measure(name, problem, options.solver, options.timeout, options.gap)


if __name__ == "__main__":
    main()
