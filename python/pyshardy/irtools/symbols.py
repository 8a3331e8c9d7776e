# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names for new symbols."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import FunctionView, symbol_name


class FreshNames:
    """Generates names that no symbol of a module has.

    A free name is used unchanged; otherwise a number is appended. One counter that is never reset
    numbers all names: clashes of `f`, `g` and `f` give `f_0`, `g_1` and `f_2`.
    """

    def __init__(self, module: ir.Module):
        self._counter = 0
        self._taken = {
            symbol_name(view.operation)
            for view in module.body.operations
            if FunctionView.sym_name.is_in(view.operation)
        }

    def name(self, base: str) -> str:
        """Return a free name that begins with `base`, and mark it as used."""
        name = base
        while name in self._taken:
            name = f"{base}_{self._counter}"
            self._counter += 1
        self._taken.add(name)
        return name
