# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of pipelines: a pass that failed, and unexpected exceptions in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlir_sdy.diagnostics import Diagnostic, PassError

if TYPE_CHECKING:
    from mlir_sdy.host import ir


class PipelineError(PassError):
    """A pass of a pipeline failed.

    Attributes:
        diagnostics: the errors of the pass; never empty.
        failed_pass: the name of the pass.
        module_at_failure: the module as the pass left it, for inspection. It may be invalid.
            None if the caller's module was not restored and is itself in that state.
    """

    def __init__(self, failed_pass: str, *diagnostics: Diagnostic):
        super().__init__(*diagnostics)
        self.failed_pass = failed_pass
        self.module_at_failure: ir.Module | None = None

    def add(self, diagnostic: Diagnostic) -> None:
        """Add a diagnostic to those of the failure."""
        self.diagnostics = (*self.diagnostics, diagnostic)

    def __str__(self) -> str:
        return "\n".join([f"pass '{self.failed_pass}' failed", *map(str, self.diagnostics)])


def describe(bug: Exception) -> str:
    """Describe an exception in one line, by its type and its message.

    An exception raised in a callback of the host, such as that of `Operation.walk`, arrives as a
    RuntimeError whose text is the full traceback; its last line is the original exception.
    """
    text = str(bug).strip()
    if "Traceback (most recent call last)" in text:
        return text.rpartition("\n")[2]
    return f"{type(bug).__name__}: {text}"
