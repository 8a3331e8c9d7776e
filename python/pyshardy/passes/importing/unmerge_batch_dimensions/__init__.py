# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-unmerge-batch-dimensions`: restore dimensions that reshapes merge around matrix products.

Before:

    %0 = stablehlo.reshape %q : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
    %1 = stablehlo.reshape %k : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    %3 = stablehlo.reshape %2 : (tensor<32x6x6xf32>) -> tensor<8x4x6x6xf32>

After:

    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1],
        contracting_dims = [3] x [3]
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.passes.importing.unmerge_batch_dimensions.broadcast_products import (
    unbatch_broadcast_operands,
)
from pyshardy.passes.importing.unmerge_batch_dimensions.split_dimensions import (
    split_merged_dimensions,
)


def unmerge_batch_dimensions(function: ir.Operation | ir.OpView) -> None:
    """Restore merged dimensions, and remove batch dimensions of operands that are broadcast.

    `splits.plan_splits` and `broadcast_products.is_equal_along` state the conditions, and the
    documentation of the pass summarizes them.

    Args:
        function: the `func.func`.
    """
    with function.operation.context:
        split_merged_dimensions(function.operation)
        unbatch_broadcast_operands(function.operation)
