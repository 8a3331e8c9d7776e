# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-take-plan`: give a program with dynamic sizes the shardings found at its hints."""

from __future__ import annotations

from mlir_sdy.discardable import get_discardable
from mlir_sdy.host import ir
from pyshardy.dynamic import plan
from pyshardy.irtools.analyses import UNCHANGED, UNKNOWN, Changes
from pyshardy.irtools.modules import move_contents
from pyshardy.pipeline import register_pass


@register_pass("sdy-take-plan", release="pyshardy")
def take_plan(module: ir.Module) -> Changes:
    """Restore the dynamic program of `sdy-plan-at-hints`, with the shardings of the static one.

    Each operation gets the shardings that it has in the static program, and so do arguments and
    results. Other programs stay as they are.
    """
    kept = get_discardable(module.operation, plan.DYNAMIC_PROGRAM)
    if not isinstance(kept, ir.StringAttr):
        return UNCHANGED
    dynamic = ir.Module.parse(kept.value, module.context)
    plan.take_plan(module, dynamic)
    move_contents(dynamic.operation, module.operation)
    return UNKNOWN
