# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removal of propagation barriers."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.walks import operations_named


def remove_barriers(function: ir.Operation | ir.OpView) -> bool:
    """Replace each `sdy.propagation_barrier` by its operand: to devices, they are one value.

    Returns:
        Whether there was one.
    """
    barriers = operations_named({"sdy.propagation_barrier"}, function)
    for barrier in barriers:
        barrier.results[0].replace_all_uses_with(barrier.operands[0])
        barrier.erase()
    return bool(barriers)
