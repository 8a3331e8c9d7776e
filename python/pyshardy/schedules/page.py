# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a schedule: its table, and the report of the program after each tactic."""

from __future__ import annotations

import base64
import gzip
from importlib import resources
from typing import TYPE_CHECKING

import jinja2

from pyshardy.explain.page.render import render_page

if TYPE_CHECKING:
    from pyshardy.display import Table
    from pyshardy.explain.program import ExplainedProgram

_TEMPLATE = resources.files("pyshardy.schedules") / "assets" / "schedule.html.jinja"


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
    pages: list[str] = []
    for index, program in enumerate(programs):
        before = programs[index - 1] if index else None
        text = render_page(program, str(table.rows[index][0]), before)
        pages.append(base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode())
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_TEMPLATE.read_text(encoding="utf-8")).render(
        title=title,
        caption=table.title,
        headings=table.headings,
        rows=table.rows,
        changes=table.headings.index(changes),
        pages=pages,
    )
