# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Padding between elements as padding behind them."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor


@decomposition("pad")
def decompose_pad(operation: ir.Operation) -> list[Tensor] | None:
    """With k elements to go between those of a dimension, each gets k behind it.

    1. The elements stand in rows of one, which are padded to 1 + k; read row by row, they are the
       dimension with k elements too many at its end.
    2. Padding before and behind the elements comes afterwards.

    Example: `[1, 2]` with two 0 between is `[[1, 0, 0], [2, 0, 0]]`, and so `[1, 0, 0, 2]`.
    """
    data, filler = map(Tensor, operation.operands)
    interior = list(operation.attributes["interior_padding"])
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
    low, high = (list(operation.attributes[f"edge_padding_{side}"]) for side in ("low", "high"))
    return [data.pad(low, high, filler)]
