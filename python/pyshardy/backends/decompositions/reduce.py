# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions along no dimension, and of no elements."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, mapped
from pyshardy.irtools.stablehlo_views import ReduceView


@decomposition("reduce")
def decompose_reduce(operation: ir.Operation) -> list[Tensor] | None:
    """Replace the trivial reductions that some compilers lack.

    1. Along no dimension, each element is combined with the initial value.
    2. The result of a reduction of no elements is the initial value.
    3. All other reductions are unchanged.
    """
    values = [Tensor(operand) for operand in operation.operands]
    data, initial = values[: len(values) // 2], values[len(values) // 2 :]
    result = Tensor(operation.results[0])
    is_along_nothing = not ReduceView(operation).dimensions
    if not is_along_nothing and 0 not in data[0].shape:
        return None
    initial = [each.broadcast(*result.shape) for each in initial]
    if not is_along_nothing:
        return initial
    body = operation.regions[0]
    return [mapped(body, [*initial, *data], index) for index in range(len(data))]
