# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-simplify-named-computations`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import NAMED_COMPUTATION
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.mpmd.rewriting.regions import simplify_operations
from pyshardy.pipeline import register_pass


@register_pass("mpmd-simplify-named-computations", release="0.10.2")
def simplify_named_computations(module: ir.Module) -> None:
    """Merge and drop operands and results of named computations.

    Equal results, and equal operands, are merged. A result that is an argument of the body is
    replaced by the operand, also through an `optimization_barrier`. Unused results and operands are
    dropped, and dead operations erased.
    """
    for function in functions_of(module):
        if has_body(function):
            simplify_operations(function, NAMED_COMPUTATION)
