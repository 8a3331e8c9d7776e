# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Window dimensions of a `stablehlo.scatter`, and those of single elements."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.stablehlo_views import ScatterView


def window_dims(operation: ir.Operation) -> dict[int, int]:
    """Return the dimension of the updates for each dimension of the inputs that windows have."""
    numbers = ScatterView(operation).scatter_dimension_numbers
    left_out = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
    rank = ir.RankedTensorType(operation.operands[0].type).rank
    dims = [dim for dim in range(rank) if dim not in left_out]
    return dict(zip(dims, numbers.update_window_dims, strict=True))


def single_element_dims(operation: ir.Operation) -> dict[int, int]:
    """Return the `window_dims` along which a window is one of several elements.

    Such an element is in one shard, as along `inserted_window_dims`. The operation must have its
    global types.
    """
    inputs, updates = (
        ir.RankedTensorType(operation.operands[index].type).shape
        for index in (0, len(operation.results) + 1)
    )
    return {
        dim: window
        for dim, window in window_dims(operation).items()
        if updates[window] == 1 != inputs[dim]
    }
