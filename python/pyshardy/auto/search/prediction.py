# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The communication of a choice by the cost model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.search.build import Built
from pyshardy.auto.search.texts import cost_text
from pyshardy.display import Table

_MOST_CHANGES = 6


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


def predict(built: Built, choice: Ints) -> Prediction:
    """Return the predicted costs of a choice."""
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
    return Prediction(dict(nbytes), dict(costs), dict(places))
