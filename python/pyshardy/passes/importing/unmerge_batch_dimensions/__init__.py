# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-unmerge-batch-dimensions`: restore dimensions that reshapes merge around matrix products.

`splits.plan_splits` and `broadcast_products.is_equal_along` state the conditions, and the
documentation of the pass summarizes them.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.passes.importing.unmerge_batch_dimensions.broadcast_products import (
    unbatch_broadcast_operands,
)
from pyshardy.passes.importing.unmerge_batch_dimensions.splits import (
    split_merged_dimensions,
)
from pyshardy.pipeline import register_pass


@register_pass("sdy-unmerge-batch-dimensions", anchor="func.func", release="pyshardy")
def unmerge_batch_dimensions(function: ir.Operation | ir.OpView) -> None:
    """Restore dimensions that reshapes merge around matrix products.

    PyTorch merges the batch and the heads of attention for a batched product, and the batch and the
    sequence for a linear layer, and splits them again afterwards. A merged dimension can't be
    sharded by one mesh axis along the batch and by another along the heads. This pass removes such
    reshapes and computes with the dimensions that they merge.

    A dimension of a value is split where this is available and wanted:

    1. A split is available in the result of a `stablehlo.reshape` that merged dimensions, and of a
       constant. It is available in the result of another operation if it is in each operand that
       has the dimension; a dimension that a broadcast adds can be split anywhere.
    2. A split is wanted of the operand of a `stablehlo.reshape` that splits the dimension again,
       and along contracted and reduced dimensions. It is wanted of the operands of another
       operation if it is of one of its results.
    3. Splits pass through `stablehlo.dot_general`, `transpose`, `broadcast_in_dim`, `reduce`,
       `concatenate`, `slice`, `pad`, `reverse` and `iota` along dimensions that these don't change,
       and through elementwise operations.
    4. Operations with a sharding or a sharding rule are not changed, nor are constraints.
       Dimensions that an argument or another operation merged are not split.

    No reshape that splits a dimension is added, and no computation is repeated: a value that is
    also used merged is merged after its definition.

    ```mlir
    %0 = stablehlo.reshape %q : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
    %1 = stablehlo.reshape %k : (tensor<8x4x6x16xf32>) -> tensor<32x6x16xf32>
    %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    %3 = stablehlo.reshape %2 : (tensor<32x6x6xf32>) -> tensor<8x4x6x6xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.dot_general %q, %k, batching_dims = [0, 1] x [0, 1],
        contracting_dims = [3] x [3]
    ```

    Then the pass removes batch dimensions of a `stablehlo.dot_general` along which the values of an
    operand are equal, such as those of a weight that is broadcast to the batch. They become free
    dimensions of the other operand.

    ```mlir
    %0 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<16x5xf32>) -> tensor<8x16x5xf32>
    %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    ```

    becomes

    ```mlir
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0]
    ```
    """
    with function.operation.context:
        split_merged_dimensions(function.operation)
        unbatch_broadcast_operands(function.operation)
