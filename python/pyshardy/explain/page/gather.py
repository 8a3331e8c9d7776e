# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading of an explained program into the data of the report."""

from __future__ import annotations

from pyshardy.explain.against_xla import AgainstXla
from pyshardy.explain.collectives import CollectiveExplanation, Decision
from pyshardy.explain.page.collective_nodes import is_drawn, node_of
from pyshardy.explain.page.costs import costs_of
from pyshardy.explain.page.data import CollectiveData, DecisionData, PageData, PlanData
from pyshardy.explain.page.other_plan import OtherPlan
from pyshardy.explain.page.program_part import compared_program_data
from pyshardy.explain.page.reasons import reasons_of
from pyshardy.explain.page.texts import program_text
from pyshardy.explain.program import ExplainedProgram
from pyshardy.propagation.program import Program


def page_data(
    explained: ExplainedProgram,
    title: str,
    other: ExplainedProgram | None = None,
    xla: AgainstXla | None = None,
) -> PageData:
    """Return the data of the report of a program.

    Args:
        explained: the program.
        title: its name.
        other: another plan to compare with.
        xla: the collectives beside XLA's.

    Raises:
        UsageError: the other plan is for another program.
    """
    program, compared = compared_program_data(explained, other)
    plan = plan_data(explained, title, compared, xla)
    return PageData(program, plan, costs_of(explained), reasons_of(explained))


def plan_data(
    explained: ExplainedProgram,
    title: str,
    compared: OtherPlan | None = None,
    xla: AgainstXla | None = None,
) -> PlanData:
    """Return the part of the report of the partitioned program, without the costs.

    Args:
        explained: the program.
        title: its name.
        compared: the plan that it is compared with.
        xla: the collectives beside XLA's.
    """
    mesh, program = explained.program.mesh, explained.record.engine.program
    collectives = tuple(_collective(each, program) for each in explained.collectives)
    shown = [number if is_drawn(number, program) else None for number in explained.origins]
    return PlanData(
        title,
        tuple((axis.name, axis.size) for axis in mesh.axes),
        mesh.total_size,
        collectives,
        sum(each.nbytes for each in collectives),
        program_text("Partitioned", explained.program.module, shown),
        compared,
        () if xla is None else xla.kinds,
    )


def _collective(explanation: CollectiveExplanation, program: Program) -> CollectiveData:
    one, made = explanation.collective, explanation.made
    decisions = [] if made is None else [_decision(explanation, "definition", made, program)]
    decisions += [_decision(explanation, "use", each, program) for each in explanation.wanted]
    return CollectiveData(
        one.kind,
        one.axes or (),
        explanation.nbytes_total,
        one.repetitions,
        one.location,
        explanation.reason,
        tuple(decisions),
        node_of(explanation, program),
        None if made is None else made.value,
    )


def _decision(
    explanation: CollectiveExplanation, title: str, decision: Decision, program: Program
) -> DecisionData:
    in_form = explanation.in_form
    reasons = [*map(str, decision.roots), *(f"refused: {each}" for each in decision.refused)]
    return DecisionData(
        title,
        decision.what,
        decision.location,
        decision.operation if is_drawn(decision.operation, program) else None,
        in_form(str(decision.sharding or "replicated")),
        tuple(map(in_form, reasons)),
    )
