# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Differences: between two plans, and between a plan and the partitioned program."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from mlir_sdy.model import TensorSharding
from pyshardy.auto.search.texts import signed_text, spec_text
from pyshardy.display import DisplayedText, Printed, Table, counted

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
    """

    predicted: Mapping[tuple[str, str], float]
    counted: Mapping[tuple[str, str], float]
    predicted_memory: float
    counted_memory: float

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
