# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Solutions of a problem: a choice with its certificate, or the memory that is missing."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from pyshardy.auto.problem.arrays import Ints, Problem, evaluate

Status: TypeAlias = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True, slots=True)
class Shortage:
    """The memory of the choice with the lowest peak that was found, where none is within the limit.

    Attributes:
        nbytes: the bytes above the limit.
        least: a proven lower bound of the peak of all choices.
        point: the point of time at which it is exceeded most.
        needs: the nodes with the largest live bytes at that point, and these, in falling order.
    """

    nbytes: float
    least: float
    point: int
    needs: tuple[tuple[int, float], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Solution:
    """A choice, and what is proven of it.

    Attributes:
        status: "optimal" if the gap asked for is proven; "feasible" for a choice with a larger gap;
            "infeasible" if it is proven that there is no choice; "unknown" if none was found.
        choice: the strategy of each node, or None.
        cost: its cost, infinite without a choice.
        bound: a proven lower bound of the cost of all choices.
        peak: the most bytes live at a time.
        seconds: the time spent.
        shortage: the missing memory of an infeasible problem, where memory is the reason.
        notes: remarks on the proof, for users.
        others: other choices that are nearly as good, of a search with overlap.
    """

    status: Status
    choice: Ints | None
    cost: float
    bound: float
    peak: float
    seconds: float
    shortage: Shortage | None = None
    notes: tuple[str, ...] = ()
    others: tuple[Ints, ...] = ()

    def to_json(self) -> dict[str, Any] | None:
        """Return the solution as values of JSON; None without a choice."""
        if self.choice is None:
            return None
        values = {each: getattr(self, each) for each in self.__slots__}
        return {**values, "choice": self.choice.tolist(), "shortage": None, "others": ()}

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> Solution:
        """Return the solution that `to_json` has written."""
        told = {**told, "choice": np.array(told["choice"], np.int64), "notes": (*told["notes"],)}
        told["others"] = ()
        return cls(**told)

    @property
    def gap(self) -> float:
        """The proven distance from the optimum, as a fraction of the cost."""
        return relative_gap(self.cost, self.bound)


def relative_gap(cost: float, bound: float) -> float:
    """Return the distance between a cost and its bound as a fraction of the cost."""
    if cost <= bound:
        return 0.0
    return math.inf if math.isinf(cost) or cost == 0 else (cost - bound) / abs(cost)


def solution_of(
    problem: Problem,
    choice: Ints,
    bound: float,
    gap: float,
    started: float,
    notes: tuple[str, ...] = (),
) -> Solution:
    """Return the solution of a feasible choice.

    Args:
        problem: the problem.
        choice: the strategy of each node.
        bound: a lower bound of all choices.
        gap: the gap asked for.
        started: the time at the start, by `time.perf_counter`.
        notes: remarks.
    """
    evaluation = evaluate(problem, choice)
    bound = min(bound, evaluation.cost)  # above by rounding only
    is_proven = relative_gap(evaluation.cost, bound) <= gap
    status: Status = "optimal" if is_proven else "feasible"
    seconds = time.perf_counter() - started
    return Solution(status, choice, evaluation.cost, bound, evaluation.peak, seconds, notes=notes)


def without_choice(
    status: Status,
    bound: float,
    started: float,
    shortage: Shortage | None = None,
    notes: tuple[str, ...] = (),
) -> Solution:
    """Return a solution that has no choice."""
    seconds = time.perf_counter() - started
    return Solution(status, None, math.inf, bound, math.inf, seconds, shortage, notes)
