# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-simplify-program`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.mpmd.passes.common.fragment_dce import fragment_dce
from pyshardy.mpmd.passes.common.fragment_dedup import fragment_dedup
from pyshardy.pipeline import register_pass


@register_pass("mpmd-simplify-program", release="0.10.2")
def simplify_program(module: ir.Module) -> None:
    """Merge equal values of fragments, and drop unused ones."""
    fragment_dedup(module)
    fragment_dce(module)
