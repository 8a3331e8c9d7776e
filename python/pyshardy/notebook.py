# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The extension of IPython: `%load_ext pyshardy`.

It displays modules as text, and adds the magic of cells `%%sdy`, which explains the program in a
cell:

    %%sdy --hardware=tpu-v5e
    sdy.mesh @mesh = <["x"=2]>
    func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) ...

A cell with Python code is executed, and the value of its last expression is explained: a module, a
traced function, a partitioned program, or an explanation.
"""

# pyright: reportUntypedFunctionDecorator=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

import ast
import html
import re
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from mlir_sdy.diagnostics import SdyError
from mlir_sdy.host import ir
from pyshardy.api import asm
from pyshardy.display import beginning_of
from pyshardy.explain.entry import explain
from pyshardy.explain.program_explanation import ProgramExplanation

_MLIR = re.compile(
    r'^\s*(?:func\.func\b|sdy\.mesh @|module\s*(?:@[\w"]+\s*)?(?:attributes\s*)?\{)', re.M
)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Add the magic `%%sdy` and the representations of modules to a session of IPython."""
    shell.register_magics(ShardingMagics)
    formatter: Any = shell.display_formatter
    formatter.formatters["text/html"].for_type(ir.Module, _html)
    formatter.formatters["text/plain"].for_type(ir.Module, _pretty)


@magics_class
class ShardingMagics(Magics):
    """The magics of the extension."""

    @magic_arguments()
    @argument("--hardware", default="default", help="hardware to partition for")
    @argument("--report-hardware", help="hardware of the cost estimate, if it is another")
    @argument("--name", default="explanation", help="variable that gets the explanation")
    @cell_magic
    def sdy(self, line: str, cell: str) -> ProgramExplanation | None:
        """Partition and explain the program in the cell: MLIR, or an expression of Python."""
        arguments = parse_argstring(self.sdy, line)
        hardware = {"hardware": arguments.hardware, "report_hardware": arguments.report_hardware}
        try:
            found = cell if _MLIR.search(cell) else self._value_of(cell)
            if not isinstance(found, ProgramExplanation):
                found = explain(found, **hardware)
        except SdyError as failure:
            print(failure, file=sys.stderr)
            return None
        self._session.push({arguments.name: found})
        return found

    def _value_of(self, code: str) -> Any:
        """Execute code in the session, and return the value of its last expression."""
        tree = ast.parse(self._session.transform_cell(code))
        names: dict[str, Any] = self._session.user_ns
        if not tree.body or not isinstance(last := tree.body.pop(), ast.Expr):
            return None
        exec(compile(tree, "<%%sdy>", "exec"), names)
        return eval(compile(ast.Expression(last.value), "<%%sdy>", "eval"), names)

    @property
    def _session(self) -> InteractiveShell:
        assert self.shell is not None, "magics belong to a session"
        return self.shell


def _shown(module: ir.Module) -> str:
    return beginning_of(asm(module, debug_info=False, large_elements_limit=16))


def _html(module: ir.Module) -> str:
    return f"<pre>{html.escape(_shown(module))}</pre>"


def _pretty(module: ir.Module, printer: Any, cycle: bool) -> None:
    del cycle
    printer.text(_shown(module))
