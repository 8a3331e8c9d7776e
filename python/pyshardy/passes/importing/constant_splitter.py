# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-constant-splitter`: the older name of `sdy-constant-or-scalar-splitter`."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import inserts
from pyshardy.passes.importing.constant_or_scalar_splitter import constant_or_scalar_splitter
from pyshardy.pipeline import register_pass


@register_pass("sdy-constant-splitter", release="pyshardy")
@inserts("sdy.constant", where={"stablehlo.constant"})
def constant_splitter(module: ir.Module) -> None:
    """Copy constants and broadcast scalars for each use.

    The older name of `sdy-constant-or-scalar-splitter`.
    """
    constant_or_scalar_splitter(module)
