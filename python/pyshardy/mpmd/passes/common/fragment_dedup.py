# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-fragment-dedup`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.reading import FRAGMENT
from pyshardy.irtools.walks import operations_named
from pyshardy.mpmd.rewriting.functions import mpmd_functions
from pyshardy.mpmd.rewriting.regions import (
    merge_equal_operands,
    merge_equal_results,
    without_duplicates,
)
from pyshardy.pipeline import register_pass


@register_pass("mpmd-fragment-dedup", release="0.10.2")
def fragment_dedup(module: ir.Module) -> None:
    """Merge equal operands, and equal results, of fragments."""
    for function in mpmd_functions(module):
        for fragment in operations_named({FRAGMENT}, function):
            merge_equal_operands(fragment)
            merge_equal_results(fragment)
            without_duplicates(fragment)
