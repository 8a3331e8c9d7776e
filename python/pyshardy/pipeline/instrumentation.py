# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instrumentation of pipeline runs."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.host import ir
from pyshardy.pipeline.plan import Step
from pyshardy.pipeline.syntax import MODULE_ANCHOR

if TYPE_CHECKING:
    from pyshardy.irtools.analyses import AnalysisName
    from pyshardy.pipeline.errors import PipelineError


class Instrumentation:
    """Callbacks before and after each step; override the relevant ones."""

    def before_pipeline(self, module: ir.Module, steps: tuple[Step, ...]) -> None:
        """Called once, before the first step."""

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Called before each step."""

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Called after each step that succeeded and whose result verified."""

    def after_failed_pass(self, step: Step, module: ir.Module) -> None:
        """Called after a step that failed, with the module as that step left it."""

    def before_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Called before a pass computes an analysis of a module that isn't known yet."""

    def after_analysis(self, name: AnalysisName, module: ir.Operation) -> None:
        """Called after such a computation, which may have computed others on the way."""

    def after_pipeline(self, module: ir.Module) -> None:
        """Called once, after the last step, when all succeeded."""

    def after_failed_pipeline(self, failure: PipelineError) -> None:
        """Called once, after a step that failed, before the failure is raised."""


# --- Log ------------------------------------------------------------------------------------------


class ActionLog(Instrumentation):
    """Logs the beginning and the end of each pass, in the form of MLIR's actions.

    Args:
        path: the file to write; "-" for standard error.

    Raises:
        UsageError: it can't be written.
    """

    def __init__(self, path: str):
        self._path = None if path == "-" else Path(path)
        try:
            if self._path is not None:
                self._path.write_bytes(b"")
        except OSError as refusal:
            message = f"cannot write the log '{path}': {refusal.strerror or refusal}"
            raise UsageError(error(message)) from None

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Log the name of the pass and its operations."""
        del module
        anchor = step.nesting[-1] if step.nesting else MODULE_ANCHOR
        running = f"running `{step.display_name}` on Operation `{anchor}`"
        self._log(f"begins (no breakpoint) Action `pass-execution` {running}")

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Log the end of the pass."""
        del step, module
        self._log("completed `pass-execution`")

    def after_failed_pass(self, step: Step, module: ir.Module) -> None:
        """Log the end of the pass."""
        self.after_pass(step, module)

    def _log(self, text: str) -> None:
        line = f"[thread main] {text}\n"
        if self._path is None:
            sys.stderr.write(line)
            return
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line)


# --- Statistics -----------------------------------------------------------------------------------


_RULE = "===" + "-" * 73 + "==="
_TITLE = "... Pass statistics report ..."


@dataclass
class Statistics(Instrumentation):
    """Counts the operations of the module by name before and after each pass."""

    _before: Counter[str] = field(default_factory=Counter[str], init=False)
    _rows: list[tuple[str, Counter[str], Counter[str]]] = field(
        default_factory=list[tuple[str, Counter[str], Counter[str]]], init=False
    )

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Count the operations."""
        del step
        self._before = operation_counts(module)

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Count them again, and keep the differences."""
        after = operation_counts(module)
        self._rows.append((step.display_name, after - self._before, self._before - after))

    def report(self) -> str:
        """Return the report, ending in a line break."""
        lines = [_RULE, _TITLE.center(len(_RULE)).rstrip(), _RULE]
        for name, added, removed in self._rows:
            lines.append(name)
            for what, counts in (("added", added), ("removed", removed)):
                total = sum(counts.values())
                kinds = ", ".join(f"{count} {kind}" for kind, count in counts.most_common(3))
                more = ", ..." if len(counts) > 3 else ""
                about = f": {kinds}{more}" if kinds else ""
                lines.append(f"  (S) {total:6d} ops-{what} - Operations {what}{about}")
        return "\n".join(lines) + "\n"


def operation_counts(module: ir.Module) -> Counter[str]:
    """Return the number of operations of each name in a module."""
    counts: Counter[str] = Counter()

    def visit(operation: ir.Operation) -> ir.WalkResult:
        counts[operation.name] += 1
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return counts
