# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-fragment-dedup`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.regions import merge_equal_operands, merge_equal_results
from pyshardy.pipeline import register_pass


@register_pass("mpmd-fragment-dedup", release="0.10.2")
def fragment_dedup(module: ir.Module) -> None:
    """Use the first of equal operands, and of equal results, of fragments.

    The others are unused then, and `mpmd-fragment-dce` drops them.
    """
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            merge_equal_operands(fragment)
            merge_equal_results(fragment)
