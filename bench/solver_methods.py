# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Automatic sharding without one of the methods of its solver at a time.

    python bench/solver_methods.py [FOLDER/NAME.json.gz ...] [FILE.mlir ...] [--timeout=60]
        [--method=NAME]

Solves each problem with all methods, and then without one of them at a time. A problem is an
instance of the IOPDDL contest (see `bench/iopddl.py`), or a program without its shardings, in any
memory and in `MEMORY` of the memory that the best plan takes then. Prints for each the status, the
cost relative to that with all methods, the proven gap, and the seconds of the clock and the CPU.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import iopddl

import pyshardy as sdy
from pyshardy.auto.problem.arrays import Problem
from pyshardy.auto.search.memory import with_memory
from pyshardy.auto.search.options import SearchOptions
from pyshardy.auto.search.program_search import Search
from pyshardy.auto.solvers import combined
from pyshardy.auto.solvers.dual import Dual
from pyshardy.auto.solvers.exact_parts import FIRST_STRATEGIES, ExactParts
from pyshardy.auto.solvers.highs import HighsSearch
from pyshardy.auto.solvers.least_memory import LeastMemory, least_memory
from pyshardy.auto.solvers.local_search import LocalSearch
from pyshardy.auto.solvers.solver import solve
from pyshardy.auto.strategies.costs import HardwareCosts

MEMORY = 0.5
"""The fraction of the memory of the best plan that a program is given."""


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing, in place of a method."""


def _no_messages(search: HighsSearch) -> Dual:
    return Dual(search.problem)


def _yes(_: object) -> bool:
    return True


def _no(_: object) -> bool:
    return False


def _first_strategies(_: object) -> float:
    return FIRST_STRATEGIES


def _no_time(problem: Problem, *_: float) -> LeastMemory:
    return least_memory(problem, 0.0)


def _only_highs(_: object, task: Any, start: Any) -> Any:
    search = HighsSearch(task, largest=combined.LARGEST_FOR_HIGHS, parts=True)
    return search.run(start)


METHODS: Mapping[str, list[tuple[Any, str, Callable[..., Any]]]] = {
    "none": [],
    "messages before HiGHS": [
        (HighsSearch, "_pass_messages", _no_messages),
        (HighsSearch, "_remove_strategies", _nothing),
    ],
    "removal of strategies": [(HighsSearch, "_remove_strategies", _nothing)],
    "prices of memory": [(HighsSearch, "_search_by_prices", _nothing)],
    "least memory": [
        (HighsSearch, "_begin_with_least", _yes),
        (combined, "least_memory", _no_time),
    ],
    "local search": [(LocalSearch, "improve", _nothing)],
    "linear relaxation": [(HighsSearch, "_solve_relaxation", _no)],
    "branch and bound": [(HighsSearch, "_branch_and_bound", _nothing)],
    "few strategies": [(ExactParts, "_solve_restricted", _first_strategies)],
    "neighborhoods": [(ExactParts, "_solve_neighborhoods", _nothing)],
    "both kinds of parts": [(ExactParts, "search", _nothing)],
    "message passing after HiGHS": [(combined.CombinedSolver, "search", _only_highs)],
}
"""The functions of each method, with their replacements."""


@contextmanager
def without(method: str) -> Iterator[None]:
    """Replace the functions of a method inside the `with` block."""
    with ExitStack() as stack:
        for owner, name, replacement in METHODS[method]:
            stack.enter_context(patch.object(owner, name, replacement))
        yield


def problems(path: Path, timeout: float) -> Iterator[tuple[str, Problem]]:
    """Yield the problems of a file, with their names."""
    if path.suffix == ".gz":
        yield path.name.partition(".")[0], iopddl.read(path)
        return
    hardware = sdy.load_hardware("cpu")
    options = SearchOptions(fixed=False, timeout=timeout)
    search = Search(sdy.parse(path), HardwareCosts(hardware), options)
    yield path.stem, search.built.problem
    found = solve(search.built.problem, timeout=timeout)
    if found.choice is not None:
        limit = MEMORY * search.peak(found.choice)
        yield f"{path.stem}*", with_memory(search.built, limit, len(search.arguments))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--method", action="append", choices=METHODS)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--gap", type=float, default=0.01)
    options = parser.parse_args()
    for path in options.files:
        for name, problem in problems(path, options.timeout):
            known = math.nan
            for method in options.method or METHODS:
                begun = time.process_time()
                with without(method):
                    found = solve(problem, timeout=options.timeout, gap=options.gap)
                used = time.process_time() - begun
                known = found.cost if method == "none" else known
                ratio = found.cost / known if known else math.nan
                print(
                    f"{name:<28}{method:<29}{found.status:<12}{ratio:>9.4f}{found.gap:>10.2%}"
                    f"{found.seconds:>8.1f}{used:>8.1f}  {found.cost:.6g}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
