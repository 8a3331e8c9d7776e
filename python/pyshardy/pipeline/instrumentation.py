# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instrumentation of pipeline runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyshardy.pipeline.plan import Step

if TYPE_CHECKING:
    from mlir_sdy.host import ir
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
