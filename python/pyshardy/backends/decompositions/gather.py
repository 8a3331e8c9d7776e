# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gather with explicit batch indices, clamped to the operand."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.indices import explicit_indices, index_row
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, create, where
from pyshardy.irtools.stablehlo_views import GatherView


@decomposition("gather")
def decompose_gather(operation: ir.Operation) -> list[Tensor]:
    """Replace a gather by one without batching dimensions and without indices out of bounds.

    1. Batches become indices, and the index vectors are the last dimension.
    2. The start of a slice that is partly out of bounds is clamped.
    """
    view = GatherView(operation)
    numbers = view.dimension_numbers
    operand, indices = map(Tensor, operation.operands)
    batches = list(numbers.operand_batching_dims)
    vectors = explicit_indices(
        indices, numbers.index_vector_dim, numbers.start_indices_batching_dims
    )
    indexed = [*numbers.start_index_map, *batches]
    sizes = view.slice_sizes
    if indexed:
        last = index_row([operand.shape[dim] - sizes[dim] for dim in indexed])
        vectors = where(vectors < 0, 0, where(vectors > last, last, vectors))
    explicit = ir.Attribute.parse(
        f"#stablehlo.gather<offset_dims = {list(numbers.offset_dims)}, "
        f"collapsed_slice_dims = {sorted([*numbers.collapsed_slice_dims, *batches])}, "
        f"start_index_map = {indexed}, index_vector_dim = {vectors.rank - 1}>"
    )
    attributes = {**dict(operation.attributes.items()), GatherView.dimension_numbers.name: explicit}
    return [create("gather", (operand, vectors), Tensor(operation.result).type, attributes)]
