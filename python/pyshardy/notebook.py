# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension of IPython: `%load_ext pyshardy`.

It displays modules as text, and adds the magic of cells `%%sdy`, which explains the program in a
cell:

    %%sdy --hardware=tpu-v5e
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) ...

A cell with Python code is executed, and the value of its last expression is explained: a module, a
traced function, a partitioned program, or an explanation. With `--passes` the answer is what passes
change in the program:

    %%sdy --passes=sdy-propagation-pipeline,canonicalize
    module
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import ast
import difflib
import html
import re
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from mlir_sdy.diagnostics import SdyError, SourceLocation, UsageError, error
from mlir_sdy.host import ir
from mlir_sdy.suggest import did_you_mean
from pyshardy.any_program import module_of
from pyshardy.api import asm, run_pipeline
from pyshardy.display import DisplayedText, beginning_of
from pyshardy.explain.entry import explain
from pyshardy.explain.program_explanation import ProgramExplanation
from pyshardy.irtools.modules import copy_of

_MLIR = re.compile(
    r'^\s*(?:func\.func\b|sdy\.mesh @|module\s*(?:@[\w"]+\s*)?(?:attributes\s*)?\{)', re.M
)

_LIKE_MLIR = re.compile(
    r'^\s*(?:%[\w$.-]+[^=\n]*=|[a-z_]\w*\.[a-z_]\w*\s+[@%"]|func\.|\}\s*$)|tensor<', re.M
)
"""Parts of programs in MLIR, also of those whose first operation is misspelled."""

_CELL = "<cell>"
_OWN_FILES = str(Path(__file__).parent)
_COLORS = {"+": "#22863a", "-": "#cb2431", "@": "#6a737d"}


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magic `%%sdy` and the representations of modules to a session of IPython."""
    shell.register_magics(ShardingMagics)
    shell.input_transformers_cleanup.append(_with_body)
    formatter: Any = shell.display_formatter
    formatter.formatters["text/html"].for_type(ir.Module, _html)
    formatter.formatters["text/plain"].for_type(ir.Module, _pretty)


@magics_class
class ShardingMagics(Magics):
    """The magics of the extension."""

    @magic_arguments()
    @argument("--hardware", default="default", help="hardware to partition for")
    @argument("--report-hardware", help="hardware of the cost estimate, if it is another")
    @argument("--passes", help="pipeline whose changes of the program are shown, as a diff")
    @argument("--help", action="store_true", help="show this help")
    @argument("--name", default="explanation", help="variable that gets the explanation")
    @cell_magic
    def sdy(self, line: str, cell: str) -> ProgramExplanation | ModuleDiff | None:
        """Partition and explain the program in the cell: MLIR, or an expression of Python."""
        arguments = parse_argstring(self.sdy, line)
        if arguments.help:
            print(self.sdy.__doc__)
            return None
        hardware = {"hardware": arguments.hardware, "report_hardware": arguments.report_hardware}
        try:
            found = cell if _is_mlir(cell) else self._value_of(cell)
            if arguments.passes:
                return diff_of_passes(found, arguments.passes)
            if not isinstance(found, ProgramExplanation):
                found = explain(found, **hardware)
        except SdyError as failure:
            print(failure, file=sys.stderr)
            return None
        self._session.push({arguments.name: found})
        return found

    def _value_of(self, code: str) -> Any:
        """Execute code in the session, and return the value of its last expression.

        Raises:
            UsageError: the code has no such value, or a line of it fails, not what it calls.
        """
        names: dict[str, Any] = self._session.user_ns
        try:
            tree = ast.parse(self._session.transform_cell(code))
            if not tree.body or not isinstance(last := tree.body.pop(), ast.Expr):
                message = "the cell has to be a program in MLIR, or end in an expression"
                raise UsageError(error(f"{message}, such as a module"))
            exec(compile(tree, _CELL, "exec"), names)
            return eval(compile(ast.Expression(last.value), _CELL, "eval"), names)
        except SyntaxError as failure:
            place = SourceLocation(_CELL, failure.lineno or 0, failure.offset or 0)
            raise UsageError(error(f"the cell is no Python: {failure.msg}", place)) from None
        except (AttributeError, NameError) as failure:
            frames = traceback.extract_tb(failure.__traceback__)
            inner = [each for each in frames if not each.filename.startswith(_OWN_FILES)]
            if inner[-1].filename != _CELL:
                raise
            known = dir(failure.obj) if isinstance(failure, AttributeError) else names
            message = f"{failure}{did_you_mean(failure.name or '', known)}"
            place = SourceLocation(_CELL, inner[-1].lineno or 0, 0)
            raise UsageError(error(message, place)) from None

    @property
    def _session(self) -> InteractiveShell:
        assert self.shell is not None, "magics belong to a session"
        return self.shell


def _with_body(lines: list[str]) -> list[str]:
    """Give a cell that asks the magic for help a body, without which IPython refuses it."""
    asks = lines and re.match(r"%%sdy\b.*--help\b", lines[0]) and not "".join(lines[1:]).strip()
    return [f"{lines[0].rstrip()}\n", "None\n"] if asks else lines


def _is_mlir(cell: str) -> bool:
    """Whether a cell has a program in MLIR, also one with mistakes."""
    if _MLIR.search(cell):
        return True
    try:
        ast.parse(cell)
    except SyntaxError:
        return _LIKE_MLIR.search(cell) is not None
    return False


# --- Modules ------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ModuleDiff(DisplayedText):
    """The lines of a module that differ after some passes; notebooks color them.

    Attributes:
        before: the text of the module before.
        after: its text after the passes.
    """

    before: str
    after: str

    def __str__(self) -> str:
        return "\n".join(self._lines()) or "no line differs"

    def _repr_html_(self) -> str:
        lines = (
            f'<span style="color: {_COLORS.get(line[:1], "inherit")}">{html.escape(line)}</span>'
            for line in str(self).splitlines()
        )
        return "<pre>" + "\n".join(lines) + "</pre>"

    def _lines(self) -> list[str]:
        texts = (self.before.splitlines(), self.after.splitlines())
        return list(difflib.unified_diff(*texts, "before", "after", lineterm=""))


def diff_of_passes(program: Any, pipeline: str) -> ModuleDiff:
    """Return what passes change in a program, which is left as it is.

    Args:
        program: a program in any form that needs no arguments.
        pipeline: the passes.

    Raises:
        SdyError: the program is invalid, or a pass fails.
    """
    module = copy_of(module_of("notebook.diff_of_passes", program, partitioned=True))
    before = _shown(module)
    run_pipeline(module, pipeline)
    return ModuleDiff(before, _shown(module))


def _shown(module: ir.Module) -> str:
    return beginning_of(asm(module, debug_info=False, large_elements_limit=16))


def _html(module: ir.Module) -> str:
    return f"<pre>{html.escape(_shown(module))}</pre>"


def _pretty(module: ir.Module, printer: Any, cycle: bool) -> None:
    del cycle
    printer.text(_shown(module))
