# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants that nothing merges."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.passes.walks import operations_named


def use_sdy_constants(root: ir.Module | ir.Operation | ir.OpView) -> None:
    """Make an `sdy.constant` of each `stablehlo.constant`.

    MLIR merges equal constants of its dialects, however they are sharded.
    """
    for constant in operations_named({"stablehlo.constant"}, root):
        converted = ir.Operation.create(
            "sdy.constant",
            results=[constant.results[0].type],
            attributes=dict(constant.attributes.items()),
            loc=constant.location,
            ip=ir.InsertionPoint(constant),
        )
        constant.results[0].replace_all_uses_with(converted.results[0])
        constant.erase()
