# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gather with all indices said."""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.backends.decompositions.indices import explicit_indices
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, create


@decomposition("gather")
def decompose_gather(operation: ir.Operation) -> list[Tensor] | None:
    """Batches become indices, and vectors of indices lie along the last dimension.

    A gather that is such already stays.
    """
    name = "dimension_numbers"
    numbers = stablehlo.GatherDimensionNumbers(operation.attributes[name])
    operand, indices = map(Tensor, operation.operands)
    batches = list(numbers.operand_batching_dims)
    if not batches and numbers.index_vector_dim == indices.rank - 1:
        return None
    vectors = explicit_indices(
        indices, numbers.index_vector_dim, numbers.start_indices_batching_dims
    )
    collapsed = sorted([*numbers.collapsed_slice_dims, *batches])
    explicit = ir.Attribute.parse(
        f"#stablehlo.gather<offset_dims = {list(numbers.offset_dims)}, "
        f"collapsed_slice_dims = {collapsed}, "
        f"start_index_map = {[*numbers.start_index_map, *batches]}, "
        f"index_vector_dim = {vectors.rank - 1}>"
    )
    attributes = {**dict(operation.attributes.items()), name: explicit}
    return [create("gather", (operand, vectors), Tensor(operation.result).type, attributes)]
