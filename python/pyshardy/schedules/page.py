# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a schedule: its table, and the report of the program after each tactic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyshardy.explain.page.frame import render_frame
from pyshardy.explain.page.render import render_page

if TYPE_CHECKING:
    from pyshardy.display import Table
    from pyshardy.explain.program import ExplainedProgram


def render_schedule(
    title: str, table: Table, changes: str, programs: list[ExplainedProgram]
) -> str:
    """Return the report of a schedule as HTML.

    The report of each step compares the program with that of the step before.

    Args:
        title: the name of the schedule.
        table: the table with a row for each step.
        changes: the heading of the column with long text.
        programs: the program after each step.
    """
    reports = [
        render_page(program, str(table.rows[index][0]), programs[index - 1] if index else None)
        for index, program in enumerate(programs)
    ]
    return render_frame(
        "schedule.html.jinja",
        "pyshardy.schedules",
        reports,
        title=title,
        kind="schedule",
        caption=table.title,
        headings=table.headings,
        rows=table.rows,
        changes=table.headings.index(changes),
    )
