# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The protocol of solvers, and their registry.

Ties are broken in one way: at the end, node after node moves to its first strategy that costs no
more and fits, until none moves (`LocalSearch.prefer_first`). So strategies should be listed by
preference: fewer collectives, then fewer sharded values.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.suggest import did_you_mean
from pyshardy.auto.problem.arrays import Ints, Problem
from pyshardy.auto.problem.solution import Solution


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a search.

    Attributes:
        seconds: the time since its start.
        stage: the name of the stage.
        cost: the cost of the best choice so far; infinite if there is none.
        bound: the proven lower bound so far.
    """

    seconds: float
    stage: str
    cost: float
    bound: float


ProgressCallback: TypeAlias = Callable[[Progress], None]


class Solver(Protocol):
    """Solves problems."""

    def solve(
        self,
        problem: Problem,
        *,
        gap: float = 0.01,
        timeout: float = 60.0,
        start: Ints | None = None,
        progress: ProgressCallback | None = None,
    ) -> Solution:
        """Return the best choice that is found in time.

        Args:
            problem: the problem.
            gap: the search ends when the gap is proven to be at most this fraction.
            timeout: the search ends after these seconds, with the best choice so far.
            start: a choice to start from. It need not be feasible.
            progress: called with the state of the search now and then.

        Raises:
            MissingPackageError: a package that the solver needs is missing.
        """
        ...


_SOLVERS: dict[str, str] = {
    "combined": "pyshardy.auto.solvers.combined:CombinedSolver",
    "highs": "pyshardy.auto.solvers.highs:HighsSolver",
    "message_passing": "pyshardy.auto.solvers.combined:MessagePassingSolver",
}


def register_solver(name: str, made_by: str) -> None:
    """Register a solver under a name, replacing another one of that name.

    Args:
        name: its name.
        made_by: the class or function that returns a `Solver`, as `module:name`.
    """
    _SOLVERS[name] = made_by


def unregister_solver(name: str) -> None:
    """Remove the solver of a name, if there is one."""
    _SOLVERS.pop(name, None)


def is_installed(package: str) -> bool:
    """Whether an optional package is installed."""
    return importlib.util.find_spec(package) is not None


def solver(name: str) -> Solver:
    """Return the solver of a name.

    Raises:
        UsageError: there is none.
    """
    made_by = _SOLVERS.get(name)
    if made_by is None:
        known = ", ".join(_SOLVERS)
        advice = did_you_mean(name, _SOLVERS)
        raise UsageError(error(f"unknown solver '{name}': expected one of {known}{advice}"))
    module, _, attribute = made_by.partition(":")
    return getattr(importlib.import_module(module), attribute)()


def solve(
    problem: Problem,
    *,
    by: str = "combined",
    gap: float = 0.01,
    timeout: float = 60.0,
    start: Ints | None = None,
    progress: ProgressCallback | None = None,
) -> Solution:
    """Return the best choice that is found in time; see `Solver.solve`.

    Args:
        problem: the problem.
        by: the name of the solver.
        gap: the gap that suffices.
        timeout: the seconds that may be spent.
        start: a choice to start from.
        progress: called with the state of the search now and then.

    Raises:
        UsageError: there is no solver of that name.
        MissingPackageError: a package that the solver needs is missing.
    """
    return solver(by).solve(problem, gap=gap, timeout=timeout, start=start, progress=progress)
