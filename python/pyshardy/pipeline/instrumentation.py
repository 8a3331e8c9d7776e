# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instrumentation of pipeline runs; printing of the IR under the headers that MLIR prints."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from mlir_sdy.assembly import asm
from mlir_sdy.files import file_access
from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import FunctionView, symbol_name
from pyshardy.pipeline.plan import Step, operations_at
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
        with file_access(f"write the log '{path}'"):
            if self._path is not None:
                self._path.write_bytes(b"")

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


# --- Printing of the IR before and after passes ---------------------------------------------------


_UNNAMED = "no-symbol-name"


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
        directory: print into files below this directory instead; see `_file`.
    """

    before: Container[str] = ()
    after: Container[str] = ()
    only_changed: bool = False
    after_failure: bool = False
    module_scope: bool = False
    text_of: Callable[[ir.OpView], str] = asm
    stream: TextIO | None = None
    directory: Path | None = None
    _number: int = field(default=0, init=False, repr=False)
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
        self._number += 1

    def after_failed_pass(self, step: Step, module: ir.Module) -> None:
        """Print the state at the failure."""
        if self.after_failure or step.argument in self.after:
            self._print("After", " Failed", step, module)

    def _print(
        self, when: str, how: str, step: Step, module: ir.Module, unless: list[str] | None = None
    ) -> None:
        for index, target in enumerate(_targets(step, module)):
            # A pass may add or remove operations; these cannot be compared.
            if unless and index < len(unless) and unless[index] == _plain_text(target):
                continue
            scope = ""
            shown = target
            if self.module_scope and step.nesting:
                symbol = _symbol(target.operation)
                about = "" if symbol == _UNNAMED else f": @{symbol}"
                scope = f" ('{target.operation.name}' operation{about})"
                shown = module.operation.opview
            name = f"{step.display_name}{how} ({step.argument})"
            text = self.text_of(shown)
            dump = f"// -----// IR Dump {when} {name}{scope} //----- //\n{text.rstrip()}\n\n"
            if self.directory is None:
                (self.stream or sys.stderr).write(dump)
            else:
                suffix = "_before" if when == "Before" else how.replace(" F", "_f")
                self._write(self._file(target, f"{step.argument}{suffix}"), dump)

    def _file(self, target: ir.OpView, name: str) -> Path:
        """Return the file of a dump, whose folders are the names of the operations around it.

        Example: `builtin_module_no-symbol-name/func_func_main/3_cse.mlir` after the fourth pass.
        """
        assert self.directory is not None
        folders: list[str] = []
        operation: ir.Operation | None = target.operation
        while operation is not None:
            folders.append(f"{operation.name.replace('.', '_')}_{_symbol(operation)}")
            operation = None if operation.parent is None else operation.parent.operation
        return self.directory.joinpath(*reversed(folders), f"{self._number}_{name}.mlir")

    def _write(self, file: Path, text: str) -> None:
        with file_access(f"write the IR to '{file}'"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")


def _targets(step: Step, module: ir.Module) -> list[ir.OpView]:
    return list(operations_at(module, step.nesting))


def _plain_text(operation: ir.OpView) -> str:
    printed = operation.operation.get_asm  # numbers all of the module without a local scope
    return printed(print_generic_op_form=True, assume_verified=True, use_local_scope=True)


def _symbol(operation: ir.Operation) -> str:
    is_symbol = FunctionView.sym_name.is_in(operation)
    return symbol_name(operation) if is_symbol else _UNNAMED
