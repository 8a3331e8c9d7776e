# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The certificate of a plan: its predicted cost, the proven bounds, and what they cover."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from mlir_sdy.model import TensorSharding
from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.problem.solution import Solution, relative_gap
from pyshardy.auto.search.build import Built
from pyshardy.auto.search.texts import bytes_text, cost_text, signed_text
from pyshardy.display import DisplayedText, Printed, Table, counted, seconds_text
from pyshardy.forms import spec_text

_MOST_CHANGES = 6


@dataclass(frozen=True, eq=False, slots=True)
class Certificate:
    """The proven bounds of a plan, and their conditions.

    Attributes:
        solution: the choice with its bound.
        objective: what the cost is: "time" or "bytes".
        solver: the name of the solver.
        num_sites: the number of places in the program at which a strategy is chosen.
        num_nodes: that of the choices between which the solver distinguishes.
        untied_bound: the lower bound of plans in which equal places may differ; None if it is no
            part of the certificate.
        limit: the limit of the predicted peak memory in bytes; None for any memory.
        replicated: the operations that can't be computed on shards, with their locations.
        hints: the values of dynamic sizes for which the bounds are.
    """

    solution: Solution
    objective: str
    solver: str
    num_sites: int
    num_nodes: int
    untied_bound: float | None
    limit: float | None
    replicated: tuple[str, ...]
    hints: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def gap(self) -> str:
        """The text of the gap."""
        gap = self.solution.gap
        return f"{gap:.2%}" if math.isfinite(gap) else "unproven"

    @property
    def summary(self) -> str:
        """The cost with its bound in one line."""
        is_proven = math.isfinite(self.solution.gap)
        gap = f"within {self.gap} of the optimum" if is_proven else self.gap
        return (
            f"{self._cost(self.solution.cost)}, {gap} (at least {self._cost(self.solution.bound)})"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks: what was folded, what isn't proven."""
        notes: list[str] = []
        if self.hints:
            told = ", ".join(f"{name} = {value}" for name, value in self.hints.items())
            notes.append(
                f"the bounds are for {told}: 'plan.check_sizes' compares the plan with the best "
                "ones for other sizes"
            )
        if self.num_nodes < self.num_sites:
            notes.append(
                f"{self.num_sites:,} places are folded to {self.num_nodes:,}: equal ones have "
                "equal shardings, and the bound is for plans with this property"
            )
        if self.untied_bound is not None:
            gap = relative_gap(self.solution.cost, self.untied_bound)
            notes.append(
                "plans in which equal places differ cost at least "
                f"{self._cost(self.untied_bound)}{' in any memory' if self.limit else ''}: this "
                f"one is within {gap:.2%} of the best of them"
            )
        if self.limit is not None:
            notes.append(
                f"{bytes_text(self.limit)} limit the predicted peak: 'plan.fitted()' solves again "
                "if that of the partitioned program is larger"
            )
        if self.solution.status == "feasible":
            notes.append("the gap that was asked for isn't proven: the time was up")
        notes += self.solution.notes
        if self.replicated:
            count = counted(len(self.replicated), "operation")
            notes.append(f"{count} can't be computed on shards, such as {self.replicated[0]}")
        return tuple(notes)

    @property
    def rows(self) -> tuple[tuple[str, str], ...]:
        """The labels and values of the bounds, for a report."""
        untied: list[tuple[str, str]] = []
        if self.untied_bound is not None:
            untied.append(("proven lower bound without folding", self._cost(self.untied_bound)))
        return (
            ("predicted cost", self._cost(self.solution.cost)),
            ("proven lower bound", self._cost(self.solution.bound)),
            *untied,
            ("gap", self.gap),
            ("solver", self.solver),
        )

    def table(self) -> Table:
        """Return the remarks."""
        return Table("Certificate", ("remark",), [(each,) for each in self.notes])

    def _cost(self, cost: float) -> str:
        return cost_text(cost, self.objective)


@dataclass(frozen=True, slots=True)
class Prediction:
    """The predicted costs of a choice.

    Attributes:
        bytes_by_kind: the bytes that a device sends, by the kind and the axes of collectives.
        costs: the cost by kind and axes, and that of computation.
        by_place: the cost of collectives by the operation that they belong to.
    """

    bytes_by_kind: Mapping[tuple[str, str], float]
    costs: Mapping[str, float]
    by_place: Mapping[str, float]

    @property
    def nbytes(self) -> float:
        """The bytes that a device sends."""
        return sum(self.bytes_by_kind.values())

    def changes(self, other: Prediction) -> Iterator[tuple[str, float]]:
        """Yield the largest changes of cost to another choice: what changes, and by how much."""
        names = dict.fromkeys((*self.costs, *other.costs))
        changes = [(name, other.costs.get(name, 0.0) - self.costs.get(name, 0.0)) for name in names]
        changes.sort(key=lambda each: -abs(each[1]))
        yield from (each for each in changes[:_MOST_CHANGES] if each[1])

    def table(self, objective: str = "time") -> Table:
        """Return the places with the largest cost of communication.

        Args:
            objective: what the cost is: "time" or "bytes".
        """
        ranked = sorted(self.by_place.items(), key=lambda each: -each[1])
        rows = [(place, cost_text(cost, objective)) for place, cost in ranked]
        return Table("Largest costs of communication", ("place", "cost"), rows, num_numeric=1)


def predict(built: Built, choice: Ints, hidden: float = 0.0) -> Prediction:
    """Return the predicted costs of a choice.

    Args:
        built: the program.
        choice: the choice.
        hidden: the seconds of communication that are hidden behind computation.
    """
    model = built.reshards.model
    nbytes: defaultdict[tuple[str, str], float] = defaultdict(float)
    costs: defaultdict[str, float] = defaultdict(float)
    places: defaultdict[str, float] = defaultdict(float)
    for collectives, repetitions, place in built.collectives(choice):
        for each in collectives:
            axes = ", ".join(each.axes)
            cost = model.collective(each) * repetitions
            nbytes[each.kind, axes] += each.sent * repetitions
            costs[f"{each.kind} along {axes}"] += cost
            places[place] += cost
    communication = sum(costs.values())
    total = built.cost(choice)
    costs["computation"] = total - communication
    if hidden:
        costs["hidden communication"] = -hidden
    return Prediction(dict(nbytes), dict(costs), dict(places))


# --- Differences of plans -------------------------------------------------------------------------


Plan = TypeVar("Plan")


@dataclass(frozen=True, slots=True, repr=False)
class PlanDifference(Printed):
    """The differences between two plans.

    Attributes:
        shardings: the shardings in both, of values that differ.
        difference: the cost of the second beyond that of the first.
        objective: what the cost is.
        reasons: the largest changes of cost.
    """

    shardings: Mapping[str, tuple[TensorSharding, TensorSharding]]
    difference: float
    objective: str
    reasons: tuple[tuple[str, float], ...]

    def summary(self) -> str:
        """Return the number of differences, and their cost."""
        count = counted(len(self.shardings), "value")
        return f"{count} sharded otherwise: {signed_text(self.difference, self.objective)}"

    def tables(self) -> list[Table]:
        """Return the differing shardings, and the changes of cost."""
        rows = [(name, spec_text(a), spec_text(b)) for name, (a, b) in self.shardings.items()]
        costs = [(what, signed_text(by, self.objective)) for what, by in self.reasons]
        return [
            Table("Shardings", ("value", "first", "second"), rows),
            Table("Costs", ("what", "difference"), costs, num_numeric=1),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class PlanCheck(Printed):
    """The predicted bytes and memory, and those of the partitioned program.

    Attributes:
        predicted: the predicted bytes by the kind and the axes of collectives.
        counted: those of the partitioned program.
        predicted_memory: the predicted peak memory of a device in bytes.
        counted_memory: that of the partitioned program.
        predicted_seconds: the predicted time; NaN for another objective.
        counted_seconds: that of the partitioned program, by its timeline.
    """

    predicted: Mapping[tuple[str, str], float]
    counted: Mapping[tuple[str, str], float]
    predicted_memory: float
    counted_memory: float
    predicted_seconds: float
    counted_seconds: float

    @property
    def time_text(self) -> str:
        """The predicted time, and that by the timeline; empty for another objective."""
        if math.isnan(self.predicted_seconds):
            return ""
        predicted, found = self.predicted_seconds, self.counted_seconds
        beyond = f" ({found / predicted - 1:+.1%})" if predicted else ""
        return f"{seconds_text(predicted)} predicted, {seconds_text(found)} by the timeline{beyond}"

    @property
    def difference(self) -> float:
        """The bytes beyond the prediction, as a fraction of it; negative if there are fewer."""
        predicted, found = sum(self.predicted.values()), sum(self.counted.values())
        if predicted == found:
            return 0.0
        return math.inf if predicted == 0 else (found - predicted) / predicted

    def summary(self) -> str:
        """Return the predicted and the counted bytes and memory."""
        predicted, found = sum(self.predicted.values()), sum(self.counted.values())
        return (
            f"{predicted:,.0f} bytes predicted, {found:,.0f} counted; peak memory: "
            f"{self.predicted_memory:,.0f} bytes predicted, {self.counted_memory:,.0f} counted"
            f"{'; time: ' if self.time_text else ''}{self.time_text}"
        )

    def tables(self) -> list[Table]:
        """Return the bytes by kind and axes."""
        return [self.table()]

    def table(self) -> Table:
        """Return the bytes by kind and axes."""
        rows = [
            (
                kind,
                axes,
                f"{self.predicted.get((kind, axes), 0.0):,.0f}",
                f"{self.counted.get((kind, axes), 0.0):,.0f}",
            )
            for kind, axes in sorted({*self.predicted, *self.counted})
        ]
        headings = ("collective", "axes", "predicted bytes", "counted bytes")
        return Table("Bytes sent", headings, rows, num_numeric=2)


@dataclass(frozen=True, slots=True, repr=False)
class Alternative(DisplayedText, Generic[Plan]):
    """The best plan in which a value has another sharding.

    Attributes:
        name: the name of the value.
        chosen: its sharding in the plan.
        other: its sharding in the other plan.
        difference: the cost beyond that of the plan.
        objective: what the cost is: "time" or "bytes".
        reasons: the largest changes of cost.
        plan: the other plan. It may be slightly cheaper, as a plan is only proven to be within its
            gap of the optimum.
        gap: the gap of the plan that was asked.
    """

    name: str
    chosen: TensorSharding
    other: TensorSharding
    difference: float
    objective: str
    reasons: tuple[tuple[str, float], ...]
    plan: Plan
    gap: float

    def __str__(self) -> str:
        rank = "a better one" if self.difference < 0 else "the second best"
        lines = [
            f"{self.name} is sharded by {spec_text(self.chosen)}",
            f"  {rank} is {spec_text(self.other)}: {signed_text(self.difference, self.objective)}",
        ]
        if self.difference < 0:
            lines.append(f"    the plan is only proven to be within {self.gap:.2%} of the optimum:")
            lines.append(
                "    take the attribute 'plan' of this answer, or search with a smaller gap"
            )
        lines += [f"    {what}: {signed_text(by, self.objective)}" for what, by in self.reasons]
        return "\n".join(lines)
