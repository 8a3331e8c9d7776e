# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-simplify-program`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.regions import simplify_operations
from pyshardy.pipeline import register_pass


@register_pass("mpmd-simplify-program", release="0.10.2")
def simplify_program(module: ir.Module) -> None:
    """Merge equal values of fragments, and drop unused values.

    A result that is an argument of the body is replaced by the operand, if that has its type.
    """
    for function in mpmd_functions(module):
        simplify_operations(function, FRAGMENT)
