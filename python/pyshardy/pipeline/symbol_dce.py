# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `symbol-dce` of the host, which is left out where it has nothing to erase."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.functions import functions_of, is_public
from pyshardy.irtools.walks import names_that_may_occur
from pyshardy.pipeline.plan import Step

NAME = "symbol-dce"

_WITHOUT_SYMBOL_TABLES = ("chlo.", "func.", "sdy.", "stablehlo.")
"""The dialects that may occur: their only symbols are functions, and none has a table of them."""


def is_needless(step: Step, module: ir.Module) -> bool:
    """Whether a pass is `symbol-dce`, and each symbol in the module is public.

    Only public symbols are kept without a use. Other symbols than functions, and symbol tables
    inside of the module, are left to the host.
    """
    if step.argument != NAME or step.nesting:
        return False
    names = names_that_may_occur(module)
    if names is None or not all(name.startswith(_WITHOUT_SYMBOL_TABLES) for name in names):
        return False
    return all(map(is_public, functions_of(module)))
