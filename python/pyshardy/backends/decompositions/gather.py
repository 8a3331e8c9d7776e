# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gather with all indices said, and none outside."""

from __future__ import annotations

from mlir_sdy.host import ir, stablehlo
from pyshardy.backends.decompositions.indices import explicit_indices, index_row
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, create, where


@decomposition("gather")
def decompose_gather(operation: ir.Operation) -> list[Tensor]:
    """A gather of a simple form, which takes nothing from outside of its operand.

    1. Batches become indices, and vectors of indices lie along the last dimension.
    2. A slice that is partly outside is moved inside.
    """
    name = "dimension_numbers"
    numbers = stablehlo.GatherDimensionNumbers(operation.attributes[name])
    operand, indices = map(Tensor, operation.operands)
    batches = list(numbers.operand_batching_dims)
    vectors = explicit_indices(
        indices, numbers.index_vector_dim, numbers.start_indices_batching_dims
    )
    indexed = [*numbers.start_index_map, *batches]
    sizes = list(operation.attributes["slice_sizes"])
    if indexed:
        last = index_row([operand.shape[dim] - sizes[dim] for dim in indexed])
        vectors = where(vectors < 0, 0, where(vectors > last, last, vectors))
    explicit = ir.Attribute.parse(
        f"#stablehlo.gather<offset_dims = {list(numbers.offset_dims)}, "
        f"collapsed_slice_dims = {sorted([*numbers.collapsed_slice_dims, *batches])}, "
        f"start_index_map = {indexed}, index_vector_dim = {vectors.rank - 1}>"
    )
    attributes = {**dict(operation.attributes.items()), name: explicit}
    return [create("gather", (operand, vectors), Tensor(operation.result).type, attributes)]
