# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of booleans."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, boolean


@decomposition("add")
def decompose_add(operation: ir.Operation) -> list[Tensor] | None:
    """Replace a sum of booleans by a disjunction, since compilers add i1 modulo 2."""
    left, right = map(Tensor, operation.operands)
    return [left | right] if left.element == boolean() else None
