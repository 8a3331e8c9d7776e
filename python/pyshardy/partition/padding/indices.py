# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that count along padded dimensions.

A slice that would extend beyond the end of a dimension is moved back, and must not end in padding:
its indices are clamped to the unpadded dimension before the padding is added.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import Shape
from mlir_sdy.values import get_sharding
from pyshardy.irtools.stablehlo_views import GatherView
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.types.padding_builder import PaddingBuilder


def clamp_indices(
    operation: ir.Operation, contents: Mapping[ir.Value, Shape], builder: PaddingBuilder
) -> None:
    """Clamp the indices of an operation that takes or replaces slices of a padded operand.

    A slice as long as its dimension is padded with it, and needs no clamp: it begins at 0, padded
    or not.

    Args:
        operation: the operation.
        contents: the shape without padding of each value that is padded.
        builder: builds the clamps.
    """
    clamp = record_of(operation.name).clamp_indices
    sizes = None if clamp is None else contents.get(operation.operands[0])
    if clamp is not None and sizes is not None:
        clamp(operation, sizes, builder)


def clamp_starts(
    operation: ir.Operation, first: int, sizes: Shape, slice_: ir.Value, builder: PaddingBuilder
) -> None:
    """Clamp the starts of a slice, which are the operands from a first one on."""
    padded = shape_of(operation.operands[0].type)
    for dim, length in enumerate(shape_of(slice_.type)):
        if padded[dim] != sizes[dim] and padded[dim] != length:
            index = operation.operands[first + dim]
            bounds = (builder.scalar(index, bound) for bound in _bounds(index, sizes[dim] - length))
            low, high = bounds
            sharded = builder.sharded(get_sharding(index))
            operation.operands[first + dim] = sharded.clamp(low, index, high)


def clamp_vectors(operation: ir.Operation, sizes: Shape, builder: PaddingBuilder) -> None:
    """Clamp the indices of a gather, whose components are along one dimension."""
    numbers = GatherView(operation).dimension_numbers
    slice_sizes = GatherView(operation).slice_sizes
    padded = shape_of(operation.operands[0].type)
    indexed: list[int] = list(numbers.start_index_map)
    if all(padded[dim] in (sizes[dim], slice_sizes[dim]) for dim in indexed):
        return
    indices = operation.operands[1]
    # A slice of a full dimension starts at 0.
    ends: list[int] = [max(sizes[dim] - slice_sizes[dim], 0) for dim in indexed]
    low = builder.scalar(indices, 0)
    high = _spread(indices, ends, numbers.index_vector_dim, builder)
    sharded = builder.sharded(get_sharding(indices))
    operation.operands[1] = sharded.clamp(low, indices, high)


def _spread(
    indices: ir.Value, numbers: list[int], vector_dim: int, builder: PaddingBuilder
) -> ir.Value:
    """Build a number for each component of indices; a scalar if all are equal."""
    numbers = [_bounds(indices, number)[1] for number in numbers]
    if len({*numbers}) == 1:
        return builder.scalar(indices, numbers[0])
    literal = ir.Attribute.parse(f"dense<{numbers}> : {with_shape(indices.type, [len(numbers)])}")
    vector = builder.sharded(None).literal(literal)
    sharded = builder.sharded(get_sharding(indices))
    return sharded.broadcast_in_dim(vector, shape_of(indices.type), [vector_dim])


def _bounds(index: ir.Value, end: int) -> tuple[int, int]:
    """Return zero and `end`, clamped to the type of an index."""
    integer = ir.IntegerType(ir.RankedTensorType(index.type).element_type)
    greatest = 2 ** (integer.width if integer.is_unsigned else integer.width - 1) - 1
    return 0, min(end, greatest)
