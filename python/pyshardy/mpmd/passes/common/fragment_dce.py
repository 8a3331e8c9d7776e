# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-fragment-dce`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT, body_of
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.regions import drop_unused, drop_unused_results, erase_dead
from pyshardy.pipeline import register_pass


@register_pass("mpmd-fragment-dce", release="0.10.2")
def fragment_dce(module: ir.Module) -> None:
    """Drop unused operands and results of fragments, and dead operations in them."""
    for function in mpmd_functions(module):
        for fragment in reversed(operations_named({FRAGMENT}, function)):
            smaller = drop_unused_results(fragment)
            erase_dead(body_of(smaller))
            drop_unused(smaller)
        erase_dead(body_of(function))
