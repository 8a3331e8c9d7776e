# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding operations before any of them is changed."""

from __future__ import annotations

from collections.abc import Container

from mlir_sdy.host import ir


def operations_named(
    names: Container[str],
    root: ir.Module | ir.Operation | ir.OpView,
    order: ir.WalkOrder = ir.WalkOrder.PRE_ORDER,
) -> list[ir.Operation]:
    """The operations of these names in `root`, in the order of the text.

    In post-order an operation comes after those in its regions, otherwise before them.
    """
    found: list[ir.Operation] = []

    def visit(operation: ir.Operation) -> ir.WalkResult:
        if operation.name in names:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    root.operation.walk(visit, order)
    return found
