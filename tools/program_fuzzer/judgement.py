# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The outcome of a program: rejected with a diagnostic, or valid after each stage."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from typing import Any

import pyshardy as sdy
from mlir_sdy.diagnostics import SdyError, Severity, collect
from mlir_sdy.verify import verify
from pyshardy.dynamic.program import DynamicProgram

DEFECT = "defect"
"""The prefix of the names of outcomes that must not occur."""


_WARM_UP = """
sdy.mesh @mesh = <["x"=2]>
func.func @main(%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    -> tensor<8xf32> {
  %0 = stablehlo.abs %arg0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
"""


def warm_up() -> None:
    """Load all modules that are loaded on demand, so that workers don't load them again."""
    outcome = judged(_WARM_UP, sdy.Context(), lambda _: None)
    assert outcome == "partitioned", outcome


def judged(text: str, context: sdy.ir.Context, note_stage: Callable[[str], None]) -> str:
    """Return the outcome of a program: the stage that rejected it, "partitioned", or a defect.

    Args:
        text: the program.
        context: the context to parse it in.
        note_stage: called with each stage before it starts.
    """
    module: Any = None

    def parse() -> None:
        nonlocal module
        module = sdy.parse(text, context)

    def round_trip() -> None:
        verify(module)
        _check_round_trip(module, context)

    def propagate() -> None:
        sdy.propagate(module)

    def partition() -> None:
        nonlocal module
        # The passes of overlap come after all others, so that both kinds of programs are tried.
        program = sdy.partition(module, overlap="all", hardware="h100")
        if isinstance(program, DynamicProgram):
            program = program.at(**program.hints)
        module = program.module

    for stage, is_check in (
        (parse, False),
        (round_trip, True),
        (propagate, False),
        (round_trip, True),
        (partition, False),
        (round_trip, True),
    ):
        if not is_check:
            last = stage.__name__
        note_stage(last if not is_check else f"check after {last}")
        with collect():
            try:
                stage()
            except SdyError as refusal:
                if is_check:
                    return f"{DEFECT}: invalid after {last}: {refusal}"
                return _judged_refusal(refusal, last)
            except _WrongTextError as wrong:
                return f"{DEFECT}: after {last}: {wrong}"
            except Exception:
                return f"{DEFECT}: exception in {last}: {traceback.format_exc()}"
    return "partitioned"


_RESOURCE = re.compile(r"\b(weights)(?:_\d+)+\b")
"""Names of resources, which MLIR renames if the context has them already."""


class _WrongTextError(Exception):
    """The printed program differs from the one that was parsed."""


def _check_round_trip(module: Any, context: Any) -> None:
    once = sdy.asm(module)
    again = sdy.asm(sdy.parse(once, context))
    if _RESOURCE.sub(r"\1", once) != _RESOURCE.sub(r"\1", again):
        raise _WrongTextError(f"the text changes when it is read again\n{once}\n-----\n{again}")


def _judged_refusal(refusal: SdyError, stage: str) -> str:
    diagnostics = refusal.diagnostics
    if not diagnostics or not all(diagnostic.message.strip() for diagnostic in diagnostics):
        return f"{DEFECT}: an error of {stage} without a message"
    if all(diagnostic.severity is not Severity.ERROR for diagnostic in diagnostics):
        return f"{DEFECT}: an error of {stage} without a diagnostic that is an error"
    for diagnostic in diagnostics:
        if "internal error" in diagnostic.message or "without saying why" in diagnostic.message:
            cause = refusal.__cause__
            trace = "".join(traceback.format_exception(cause)) if cause else ""
            return f"{DEFECT}: internal error in {stage}: {diagnostic}\n{trace}"
    if diagnostics[0].location is None:
        return f"{DEFECT}: an error of {stage} without a location: {refusal}"
    return f"refused by {stage}"
