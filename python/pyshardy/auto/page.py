# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a plan: its certificate, its arguments with their alternatives, and the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyshardy.auto.pareto import Pareto
from pyshardy.display import Table
from pyshardy.explain.page.frame import render_frame
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import ExplainedProgram

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
            "pyshardy.auto",
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
