# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `mpmd-convert-sdy-constants`."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.mpmd.building import attributes_of
from mlir_sdy.uses import replace_by
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass


@register_pass("mpmd-convert-sdy-constants", release="0.10.2")
def convert_sdy_constants(module: ir.Module) -> None:
    """Convert the constants of sdy, which propagation leaves, to those of StableHLO."""
    for constant in operations_named({"sdy.constant"}, module):
        with ir.InsertionPoint(constant), constant.location:
            built = ir.Operation.create(
                "stablehlo.constant",
                results=[constant.results[0].type],
                attributes=attributes_of(constant),
            )
        replace_by(constant, built.results[0])
