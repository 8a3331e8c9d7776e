# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Removal of optimization barriers, for engines that don't move operations across them."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor


@decomposition("optimization_barrier")
def drop_barrier(operation: ir.Operation) -> list[Tensor]:
    """The operands as they are."""
    return [Tensor(operand) for operand in operation.operands]
