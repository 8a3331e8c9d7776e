# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Printing of the IR before and after passes, under the headers that MLIR prints."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from mlir_sdy.assembly import asm
from pyshardy.irtools.stablehlo_views import FunctionView, symbol_name
from pyshardy.pipeline.instrumentation import Instrumentation
from pyshardy.pipeline.plan import Step, operations_at

if TYPE_CHECKING:
    from mlir_sdy.host import ir


class Everything(Container[str]):
    """The set of all names of passes."""

    def __contains__(self, name: object) -> bool:
        return True


@dataclass
class IRPrinting(Instrumentation):
    """Prints the operations that a pass ran on, before or after the selected passes.

    Attributes:
        before: the passes to print before.
        after: the passes to print after.
        only_changed: after a pass, print only the operations that it changed.
        after_failure: print after a pass that failed, whatever `after` says.
        module_scope: print the whole module, also around passes on functions.
        text_of: returns the text of an operation.
        stream: where to print; standard error by default.
    """

    before: Container[str] = ()
    after: Container[str] = ()
    only_changed: bool = False
    after_failure: bool = False
    module_scope: bool = False
    text_of: Callable[[ir.OpView], str] = asm
    stream: TextIO | None = None
    _texts_before: list[str] = field(default_factory=list[str], init=False, repr=False)

    def before_pass(self, step: Step, module: ir.Module) -> None:
        """Print, and store the text if `only_changed` is set."""
        if step.argument in self.before:
            self._print("Before", "", step, module)
        if self.only_changed and step.argument in self.after:
            self._texts_before = [_plain_text(target) for target in _targets(step, module)]

    def after_pass(self, step: Step, module: ir.Module) -> None:
        """Print if this pass was selected and, with `only_changed`, changed something."""
        if step.argument in self.after:
            self._print("After", "", step, module, unless=self._texts_before)

    def after_failed_pass(self, step: Step, module: ir.Module) -> None:
        """Print the state at the failure."""
        if self.after_failure or step.argument in self.after:
            self._print("After", " Failed", step, module)

    def _print(
        self, when: str, how: str, step: Step, module: ir.Module, unless: list[str] | None = None
    ) -> None:
        stream = self.stream or sys.stderr
        for index, target in enumerate(_targets(step, module)):
            # A pass may add or remove operations; these cannot be compared.
            if unless and index < len(unless) and unless[index] == _plain_text(target):
                continue
            scope = ""
            shown = target
            if self.module_scope and step.nesting:
                scope = f" ('{target.operation.name}' operation{_symbol(target)})"
                shown = module.operation.opview
            name = f"{step.display_name}{how} ({step.argument})"
            text = self.text_of(shown)
            print(f"// -----// IR Dump {when} {name}{scope} //----- //", file=stream)
            print(text.rstrip("\n"), end="\n\n", file=stream)


def _targets(step: Step, module: ir.Module) -> list[ir.OpView]:
    return list(operations_at(module, step.nesting))


def _plain_text(operation: ir.OpView) -> str:
    return operation.operation.get_asm(print_generic_op_form=True, assume_verified=True)


def _symbol(operation: ir.OpView) -> str:
    is_symbol = FunctionView.sym_name.is_in(operation.operation)
    return f": @{symbol_name(operation.operation)}" if is_symbol else ""
