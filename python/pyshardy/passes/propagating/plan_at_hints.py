# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-plan-at-hints`: go on with the static program for the hints of dynamic sizes."""

from __future__ import annotations

from typing import Annotated

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir
from pyshardy.dynamic.plan import DYNAMIC_PROGRAM, at_hints
from pyshardy.irtools.analyses import UNCHANGED, UNKNOWN, Changes
from pyshardy.irtools.modules import move_contents
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.sizes.signature import takes_sizes
from pyshardy.sizes.symbols import values_in


@register_pass("sdy-plan-at-hints", release="pyshardy")
def plan_at_hints(
    module: ir.Module,
    *,
    hints: Annotated[
        str, Help("values of the symbols for which the plan is found, such as b:128,s:512")
    ] = "",
) -> Changes:
    """Replace a program with dynamic sizes by the static one for the hints of its sizes.

    The dynamic program is kept in the attribute `sdy.dynamic_program` of the module. After the
    passes that propagate, `sdy-take-plan` gives it the shardings that they have found. Programs of
    static sizes stay as they are.
    """
    values = values_in([hints], "hints")
    if not takes_sizes(module, {"hints": values}):
        return UNCHANGED
    dynamic, static = at_hints(module, values)
    text = dynamic.operation.get_asm(enable_debug_info=True)
    set_discardable(static.operation, DYNAMIC_PROGRAM, ir.StringAttr.get(text, module.context))
    move_contents(static.operation, module.operation)
    return UNKNOWN
