# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checked advice for programs that violate contracts.

Constraints are tried as in `checked_advice`. Each that makes devices send fewer bytes is tried with
the contract, too, so that the advice says which of them keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlir_sdy.diagnostics import Diagnostic, note
from mlir_sdy.host import ir
from pyshardy.contracts.attributes import CHECKING_PASS, HINT, copy_with_contracts
from pyshardy.contracts.contract import Contract
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.explain.checked_advice import CheckedAdvice
from pyshardy.explain.program import ExplainedProgram, explain_program
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.explain.what_if import WhatIf, whatif
from pyshardy.pipeline import PipelineError
from pyshardy.propagation.debugging.explanation import Propagation

if TYPE_CHECKING:
    from pyshardy.pipelines.partition import PartitionOptions
    from pyshardy.pipelines.propagation import PropagationOptions

_MOST_CANDIDATES = 2
_TRIED = "this was tried, and sends less"


def advice_on_contract(what_if: WhatIf, contract: Contract) -> list[Diagnostic]:
    """Return notes with the constraints that help, those that keep a contract first.

    Args:
        what_if: the program.
        contract: the contract that it violates.
    """

    def keeps(advice: CheckedAdvice) -> bool:
        changed = ProgramExplanation.of(advice.change.explained)
        return not contract.violations(changed.measured)

    return _notes([(each, keeps(each)) for each in what_if.advice(_MOST_CANDIDATES)])


def explain_with_contracts(
    module: ir.Module,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
    title: str = "program",
    options: PropagationOptions | None = None,
    partition_options: PartitionOptions | None = None,
    marks_operations: bool = True,
    on_propagated: Callable[[ir.Module, Propagation], None] | None = None,
) -> ExplainedProgram:
    """Explain a program as `explain_program` does, with advice if it violates its own contracts.

    Raises:
        PipelineError: propagation or partitioning fails.
        UsageError: as for `explain_program`.
    """
    annotated = copy_with_contracts(module)
    keywords: dict[str, Any] = {"hardware": hardware, "report_hardware": report_hardware}
    try:
        return explain_program(
            module,
            title=title,
            options=options,
            partition_options=partition_options,
            marks_operations=marks_operations,
            on_propagated=on_propagated,
            **keywords,
        )
    except PipelineError as failure:
        if annotated is not None and not options:
            add_advice(failure, annotated, **keywords)
        raise


def is_violation(failure: PipelineError) -> bool:
    """Whether an error says that a program violates its own contracts."""
    return failure.failed_pass == CHECKING_PASS


def add_advice(
    failure: PipelineError,
    annotated: ir.Module,
    *,
    hardware: Hardware | str = DEFAULT_HARDWARE,
    report_hardware: Hardware | str | None = None,
) -> None:
    """Add constraints that help to the error of a program that violates its own contracts.

    Args:
        failure: the error of partitioning it; others aren't changed.
        annotated: the program before propagation.
        hardware: the hardware that it was partitioned for.
        report_hardware: the hardware of the cost estimate.
    """
    if not is_violation(failure):
        return
    what_if = whatif(annotated, hardware=hardware, report_hardware=report_hardware)
    reasons = {one.collective.summary(): str(one) for one in what_if.explained.collectives}
    *others, last = (
        replace(each, notes=tuple(_with_reason(told, reasons) for told in each.notes))
        for each in failure.diagnostics
    )
    notes = _notes(
        [
            (
                advice,
                _keeps_own_contracts(what_if.constrained(annotated, advice.candidates), hardware),
            )
            for advice in what_if.advice(_MOST_CANDIDATES)
        ]
    )
    kept = tuple(each for each in last.notes if each.message != HINT)
    failure.diagnostics = (*others, replace(last, notes=(*kept, *notes)))


def _with_reason(told: Diagnostic, reasons: Mapping[str, str]) -> Diagnostic:
    """Return the note of a collective with its reasons."""
    return replace(told, message=reasons.get(told.message, told.message))


def _keeps_own_contracts(annotated: ir.Module, hardware: Hardware | str) -> bool:
    """Whether an annotated program, which is changed, keeps its contracts."""
    try:
        explain_program(annotated, hardware=hardware)
    except PipelineError as failure:
        if is_violation(failure):
            return False
        raise
    return True


def _notes(found: list[tuple[CheckedAdvice, bool]]) -> list[Diagnostic]:
    notes: list[Diagnostic] = []
    for advice, keeps in sorted(found, key=lambda each: not each[1]):
        effect = "and keeps the contract" if keeps else "but the contract is still violated"
        notes.append(note(f"{_TRIED}, {effect}: {advice}", advice.candidates[0].location))
    return notes
