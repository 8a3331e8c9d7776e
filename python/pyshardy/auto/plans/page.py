# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a plan: its certificate, its arguments with their alternatives, and the program."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyshardy.auto.plans.pareto import Pareto
from pyshardy.auto.problem.arrays import Ints
from pyshardy.auto.search.forced import ForcedSharding
from pyshardy.auto.search.program_search import Search
from pyshardy.auto.search.texts import bytes_text, signed_text
from pyshardy.cost.op_work import TensorSizes
from pyshardy.display import Table
from pyshardy.explain.page.frame import render_frame
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import ExplainedProgram
from pyshardy.forms import spec_text

METHOD = (
    "An alternative is another sharding of the argument. Its difference is the cost of the plan "
    "that local search finds when the argument is forced to have this sharding and all other "
    "values may change, less the cost of this plan: an upper bound of what the alternative costs. "
    "Differences below the gap are not significant. The flag --explain of sdy-auto solves the "
    "problem again for one argument."
)


@dataclass(frozen=True, slots=True)
class AlternativeRow:
    """Another sharding of an argument.

    Attributes:
        sharding: the sharding.
        difference: the cost of a plan with it beyond that of the plan.
    """

    sharding: str
    difference: str


@dataclass(frozen=True, slots=True)
class ArgumentRow:
    """An argument of the program.

    Attributes:
        name: its name.
        type: its type.
        sharding: its sharding in the plan.
        nbytes: the bytes of its shard.
        alternatives: its other shardings, the cheapest first; None if they weren't computed.
    """

    name: str
    type: str
    sharding: str
    nbytes: str
    alternatives: Sequence[AlternativeRow] | None


@dataclass(frozen=True, slots=True)
class PlanPage:
    """The contents of the report.

    Attributes:
        title: the name of the program.
        objective: what the cost is.
        certificate: the labels and values of the certificate.
        notes: the remarks on the certificate.
        arguments: the arguments.
        costs: the largest costs.
        pareto: the cost by memory; None if it isn't shown.
        program: the propagated and partitioned program.
    """

    title: str
    objective: str
    certificate: Sequence[tuple[str, str]]
    notes: Sequence[str]
    arguments: Sequence[ArgumentRow]
    costs: Table
    pareto: Pareto | None
    program: ExplainedProgram

    def html(self) -> str:
        """Return the report as HTML."""
        return render_frame(
            "plan.html.jinja",
            "pyshardy.auto.plans",
            [render_page(self.program, self.title, None, None)],
            title=self.title,
            kind="plan",
            objective=self.objective,
            certificate=self.certificate,
            notes=self.notes,
            arguments=self.arguments,
            method=METHOD,
            costs=self.costs,
            pareto=self.pareto,
        )


def argument_rows(
    search: Search,
    choice: Ints,
    cost: float,
    objective: str,
    alternatives: Mapping[str, tuple[ForcedSharding, ...]],
) -> list[ArgumentRow]:
    """Return the rows of the arguments of a program.

    Args:
        search: the program.
        choice: the plan.
        cost: its cost.
        objective: what the cost is.
        alternatives: the costs of the other shardings of arguments.
    """
    rows: list[ArgumentRow] = []
    for (name, site), value in zip(search.argument_names.items(), search.arguments, strict=True):
        axes = search.built.axes_of(choice, site, 0)
        parts = math.prod(search.mesh.axes_size(each) for each in axes)
        others = alternatives.get(name)
        rows.append(
            ArgumentRow(
                name,
                str(value.type),
                spec_text(search.as_sharding(axes)),
                bytes_text(TensorSizes().of(value).nbytes / parts),
                None
                if others is None
                else [
                    AlternativeRow(
                        spec_text(search.as_sharding(other.axes)),
                        _difference_text(other.cost - cost, objective),
                    )
                    for other in others
                ],
            )
        )
    return rows


def _difference_text(difference: float, objective: str) -> str:
    if not math.isfinite(difference):
        return "no plan fits"
    within = ", within the gap" if difference < 0 else ""
    return signed_text(difference, objective) + within
