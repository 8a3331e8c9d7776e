# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Interior padding as edge padding."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor
from pyshardy.irtools.stablehlo_views import PadView


@decomposition("pad")
def decompose_pad(operation: ir.Operation) -> list[Tensor] | None:
    """Replace interior padding by k elements by high padding and reshapes.

    1. The dimension is reshaped to rows of one element, and these are padded to 1 + k elements and
       flattened. This leaves k superfluous elements at the end of the dimension.
    2. The low and high padding follow.

    Example: `[1, 2]` with two 0 between is `[[1, 0, 0], [2, 0, 0]]`, and so `[1, 0, 0, 2]`.
    """
    data, filler = map(Tensor, operation.operands)
    amounts = PadView(operation)
    interior = amounts.interior_padding
    if not any(interior):
        return None
    for axis, between in enumerate(interior):
        before, size, behind = data.shape[:axis], data.shape[axis], data.shape[axis + 1 :]
        if between and size:
            rows = data.reshape(*before, size, 1, *behind)
            high = [0] * rows.rank
            high[axis + 1] = between
            spread = rows.pad([0] * rows.rank, high, filler)
            line = spread.reshape(*before, size * (1 + between), *behind)
            data = line.along(axis, 0, size * (1 + between) - between)
    return [data.pad(amounts.edge_padding_low, amounts.edge_padding_high, filler)]
