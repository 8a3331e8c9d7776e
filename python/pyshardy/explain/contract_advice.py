# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checked advice for programs that violate contracts.

Constraints are tried as in `checked_advice`. Each that makes devices send fewer bytes is tried with
the contract, too, so that the advice says which of them keep it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlir_sdy.diagnostics import Diagnostic, note
from mlir_sdy.host import ir
from pyshardy.contracts.attributes import has_contracts
from pyshardy.contracts.contract import Contract
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE
from pyshardy.cost.hardware import Hardware
from pyshardy.explain.checked_advice import CheckedAdvice
from pyshardy.explain.program import COST_HARDWARE, ExplainedProgram, explain_program
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.explain.what_if import WhatIf, whatif
from pyshardy.irtools.modules import copy_of
from pyshardy.irtools.source_text import remember_text, text_of
from pyshardy.pipeline import PipelineError

if TYPE_CHECKING:
    from pyshardy.pipelines.option_types import PropagationOptions

_CHECKING_PASS = "sdy-check-contracts"
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
    cost_hardware: Hardware | str = COST_HARDWARE,
    title: str = "program",
    options: PropagationOptions | None = None,
) -> ExplainedProgram:
    """Explain a program as `explain_program` does, with advice if it violates its own contracts.

    Raises:
        PipelineError: propagation or partitioning fails.
        UsageError: as for `explain_program`.
    """
    annotated = None
    if has_contracts(module):
        annotated = copy_of(module)
        remember_text(annotated, text_of(module))
    keywords: dict[str, Any] = {"hardware": hardware, "cost_hardware": cost_hardware}
    try:
        return explain_program(module, title=title, options=options, **keywords)
    except PipelineError as failure:
        if annotated is not None and failure.failed_pass == _CHECKING_PASS:
            advised = replace(
                failure.diagnostics[0],
                notes=(
                    *failure.diagnostics[0].notes,
                    *_advice_on_own_contracts(annotated, hardware, cost_hardware),
                ),
            )
            failure.diagnostics = (advised, *failure.diagnostics[1:])
        raise


def _advice_on_own_contracts(
    module: ir.Module, hardware: Hardware | str, cost_hardware: Hardware | str
) -> list[Diagnostic]:
    """Return notes with the constraints that help a program with violated contracts."""
    what_if = whatif(module, hardware=cost_hardware, plan_hardware=hardware)

    def keeps(advice: CheckedAdvice) -> bool:
        constrained = what_if.constrained(module, advice.candidates)
        try:
            explain_program(constrained, hardware=hardware, cost_hardware=cost_hardware)
        except PipelineError as failure:
            if failure.failed_pass == _CHECKING_PASS:
                return False
            raise
        return True

    return _notes([(each, keeps(each)) for each in what_if.advice(_MOST_CANDIDATES)])


def _notes(found: list[tuple[CheckedAdvice, bool]]) -> list[Diagnostic]:
    notes: list[Diagnostic] = []
    for advice, keeps in sorted(found, key=lambda each: not each[1]):
        effect = "and keeps the contract" if keeps else "but the contract is still violated"
        notes.append(note(f"{_TRIED}, {effect}: {advice}", advice.candidates[0].location))
    return notes
