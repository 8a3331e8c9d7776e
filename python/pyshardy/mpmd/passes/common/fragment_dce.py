# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-fragment-dce`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.dialect import has_effects
from mlir_sdy.mpmd.reading import FRAGMENT, TRANSFER, body_of
from pyshardy.mpmd.rewriting.functions import mpmd_functions, top_level_operations
from pyshardy.mpmd.rewriting.regions import drop_unused, drop_unused_results, erase_dead, is_used
from pyshardy.pipeline import register_pass


@register_pass("mpmd-fragment-dce", release="0.10.2")
def fragment_dce(module: ir.Module) -> None:
    """Drop unused operands and results of fragments, and dead fragments, transfers and bodies."""
    for function in mpmd_functions(module):
        for operation in reversed(top_level_operations(function)):
            if operation.name not in (FRAGMENT, TRANSFER):
                continue
            if not any(map(is_used, operation.results)) and not has_effects(operation):
                operation.erase()
            elif operation.name == FRAGMENT:
                smaller = drop_unused_results(operation)
                erase_dead(body_of(smaller))
                drop_unused(smaller)
