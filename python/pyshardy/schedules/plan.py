# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The result of a schedule: a program after each of its tactics, and its report."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from mlir_sdy.files import write_file
from mlir_sdy.host import ir
from pyshardy.cost.hardware import Hardware
from pyshardy.display import Displayed, Printed, Table, counted, seconds_text
from pyshardy.explain.cost_difference import CostDifference, compare_explained
from pyshardy.explain.page.frame import render_frame
from pyshardy.explain.page.render import render_page
from pyshardy.explain.program import ExplainedProgram
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.program import PartitionedProgram
from pyshardy.schedules.state import Skipped
from pyshardy.schedules.tactics import Assignment, Tactic

if TYPE_CHECKING:
    from pyshardy.display import Table
    from pyshardy.explain.program import ExplainedProgram


_COLLECTIVES = "collectives"


@dataclass(frozen=True, slots=True)
class Conflict:
    """An axis that an operation would propagate to a value which doesn't take it.

    Attributes:
        operation: the operation, with its source location.
        reason: the axis and the reason.
    """

    operation: str
    reason: str

    def __str__(self) -> str:
        return f"{self.operation}: {self.reason}"


@dataclass(frozen=True, slots=True, repr=False)
class PlanStep(Displayed):
    """The program after a tactic.

    Attributes:
        tactic: the tactic; None for the program before the first one.
        assigned: its assignments.
        skipped: those that had no effect.
        num_sharded: the number of values that gained axes.
        conflicts: the conflicts that weren't there before.
        explained: the program, with its collectives and cost.
        seconds: the time that the tactic took, with the preview.
    """

    tactic: Tactic | None
    assigned: tuple[Assignment, ...]
    skipped: tuple[Skipped, ...]
    num_sharded: int
    conflicts: tuple[Conflict, ...]
    explained: ProgramExplanation
    seconds: float

    @property
    def name(self) -> str:
        """The name of the tactic."""
        return "annotations" if self.tactic is None else self.tactic.name

    def explain(self) -> ProgramExplanation:
        """Return the explanation of the program after the tactic."""
        return self.explained

    def summary(self) -> str:
        """Return the name, the effect and the cost in one line."""
        return (
            f"{self.name}: {counted(self.num_sharded, 'value')} sharded, "
            f"{self.explained.collectives.summary()}"
        )

    def tables(self) -> list[Table]:
        """Return tables of the conflicts and of the assignments without effect."""
        tables: list[Table] = []
        if self.skipped:
            rows = [(each.assignment.value, each.reason) for each in self.skipped]
            tables.append(Table(f"{self.name}: without effect", ("value", "reason"), rows))
        if self.conflicts:
            rows = [(each.operation, each.reason) for each in self.conflicts]
            tables.append(Table(f"{self.name}: conflicts", ("operation", "axis and reason"), rows))
        return tables


class Plan(Sequence[PlanStep], Printed):
    """The program after each tactic of a schedule; step 0 has the annotations only.

    Args:
        steps: the steps.
        report_hardware: the hardware of the cost estimate.
    """

    def __init__(self, steps: Sequence[PlanStep], report_hardware: Hardware):
        self._steps = tuple(steps)
        self._report_hardware = report_hardware

    @overload
    def __getitem__(self, index: int) -> PlanStep: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[PlanStep]: ...
    def __getitem__(self, index: int | slice) -> PlanStep | Sequence[PlanStep]:
        return self._steps[index]

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def module(self) -> ir.Module:
        """The propagated program after all tactics."""
        return self[-1].explained.module

    @property
    def program(self) -> PartitionedProgram:
        """The partitioned program after all tactics."""
        return self[-1].explained.program

    def diff(self, index: int) -> CostDifference:
        """Return the differences between the program after a tactic and before it.

        Args:
            index: the number of the step, from 1.
        """
        before, after = self[index - 1], self[index]
        return compare_explained(before.explained, after.explained)

    def html(self, title: str = "schedule") -> str:
        """Return the report as HTML; see `to_html`."""
        programs: list[ExplainedProgram] = [step.explained for step in self]
        return _render_schedule(title, self.tables()[0], _COLLECTIVES, programs)

    def to_html(self, path: str | os.PathLike[str], title: str = "schedule") -> None:
        """Write the report: the table, and for each step the program compared with that before.

        Args:
            path: the file.
            title: the name of the schedule.

        Raises:
            UsageError: the file can't be written.
        """
        write_file(path, self.html(title))

    def summary(self) -> str:
        """Return the tactics and the final cost in one line."""
        names = ", ".join(step.name for step in self[1:])
        return f"{names}: {self[-1].explained.cost.summary()}"

    def tables(self) -> list[Table]:
        """Return a table with a row for each tactic, and the details of the tactics."""
        rows = [self._row(index) for index in range(len(self))]
        headings = (
            "tactic",
            "sharded",
            "skipped",
            "conflicts",
            _COLLECTIVES,
            "bytes sent",
            "memory",
            "time",
            "took",
        )
        title = f"Schedule, estimated for {self._report_hardware.title}"
        table = Table(title, headings, rows, num_numeric=4)
        return [table, *(each for step in self for each in step.tables())]

    def _row(self, index: int) -> tuple[str, ...]:
        step = self[index]
        cost = step.explained.cost
        return (
            step.name,
            f"{step.num_sharded:,}",
            f"{len(step.skipped):,}",
            f"{len(step.conflicts):,}",
            self._changes(index),
            f"{cost.nbytes_sent:,}",
            f"{cost.peak_bytes:,}",
            seconds_text(cost.predicted),
            seconds_text(step.seconds),
        )

    def _changes(self, index: int) -> str:
        """Return the collectives that a tactic adds and removes: `+4 all_reduce model`."""
        after = _counts(self[index])
        before = _counts(self[index - 1]) if index else Counter[str]()
        changes = [
            f"{after[key] - before[key]:+d} {key}"
            for key in sorted(after.keys() | before.keys())
            if after[key] != before[key]
        ]
        return ", ".join(changes) or "none"


def _counts(step: PlanStep) -> Counter[str]:
    collectives = (each.collective for each in step.explained.collectives)
    return Counter(f"{one.kind} {', '.join(one.axes or ())}".strip() for one in collectives)


def _render_schedule(
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
