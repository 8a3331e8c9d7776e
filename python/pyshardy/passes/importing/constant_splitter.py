# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-constant-splitter`: the older name of `sdy-constant-or-scalar-splitter`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.passes.importing.constant_or_scalar_splitter import constant_or_scalar_splitter
from pyshardy.pipeline import register_pass


@register_pass("sdy-constant-splitter", release="pyshardy")
def constant_splitter(module: ir.Module) -> Changes:
    """Copy constants and broadcast scalars for each use.

    The older name of `sdy-constant-or-scalar-splitter`.
    """
    return constant_or_scalar_splitter(module)
