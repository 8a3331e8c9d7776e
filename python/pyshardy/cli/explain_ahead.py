# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report of a large program, written by two processes at a time.

| this process              | a forked process                                        |
|---------------------------|---------------------------------------------------------|
| propagates                |                                                         |
| partitions                | verifies the propagated program, reads it, and packs it |
| finds reasons, packs them | estimates costs, and packs them for the report          |
"""

from __future__ import annotations

import os
from types import TracebackType

from mlir_sdy.host import ir
from mlir_sdy.verify import verify
from pyshardy.explain.against_xla import AgainstXla
from pyshardy.explain.page.costs import costs_of
from pyshardy.explain.page.gather import plan_data
from pyshardy.explain.page.program_part import program_data
from pyshardy.explain.page.reasons import reasons_of
from pyshardy.explain.page.render import PackedSections, packed, render_page, render_sections
from pyshardy.explain.program import ExplainedProgram
from pyshardy.explain.reasons import ProgramForm
from pyshardy.forms import Form
from pyshardy.pipeline.collection import collection_paused
from pyshardy.processes.fork import ForkedText, processors
from pyshardy.propagation.debugging.explanation import Propagation


class ReportAhead:
    """Starts the parts of a report in other processes as soon as they can be known.

        with ReportAhead() as ahead:
            explained = explain_program(module, on_propagated=ahead.on_propagated)
            page = ahead.page(explained, title)

    The report is that of `render_page`, which writes those of small programs, and all reports on
    systems without `fork` or a second processor.

    Args:
        form: the form of shardings in the report.
        fewest_operations: the size from which forked processes save time.
        num_processors: the number of processors that this process may use.
    """

    def __init__(
        self,
        form: Form = "sdy",
        fewest_operations: int = 2000,
        num_processors: int | None = None,
    ) -> None:
        self._form: Form = form
        self._fewest_operations = fewest_operations
        self._num_processors = num_processors or processors()
        self._program: ForkedText | None = None
        self._costs: ForkedText | None = None

    def __enter__(self) -> ReportAhead:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for each in (self._program, self._costs):
            if each is not None:
                each.cancel()

    def on_propagated(self, module: ir.Module, record: Propagation) -> None:
        """Verify the propagated program, and start its part of the report.

        Raises:
            VerificationError: the program is invalid; `page` may raise it, too.
        """
        num_operations = len(record.engine.program.operations)
        can_fork = self._num_processors > 1 and hasattr(os, "fork")
        if not can_fork or num_operations < self._fewest_operations:
            verify(module)
        else:
            self._program = ForkedText(lambda: _packed_if_valid(module, record, self._form))

    def page(self, explained: ExplainedProgram, title: str, xla: AgainstXla | None = None) -> str:
        """Return the report of the program as HTML.

        Args:
            explained: the program.
            title: its name.
            xla: the collectives beside XLA's.
        """
        if self._program is None or explained.sizes is not None:
            return render_page(explained, title, xla=xla)
        explained.origins  # noqa: B018 (both processes need it)
        self._costs = ForkedText(lambda: packed(costs_of(explained)))
        with collection_paused():
            plan = packed(plan_data(explained, title, xla=xla))
            reasons = packed(reasons_of(explained))
        program, costs = self._program.result(), self._costs.result()
        return render_sections(title, PackedSections(program, plan, costs, reasons))


def _packed_if_valid(module: ir.Module, record: Propagation, form: Form) -> str:
    verify(module)
    return packed(program_data(module, record, ProgramForm(record, form)))
