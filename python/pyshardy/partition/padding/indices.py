# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that count along padded dimensions.

A slice that would extend beyond the end of a dimension is moved back, and must not end in padding:
its indices are clamped to the unpadded dimension before the padding is added.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding
from pyshardy.irtools.stablehlo_views import GatherView
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_element, with_shape
from pyshardy.partition.op_facts.record import ContentShape, record_of
from pyshardy.partition.types.padding_builder import Content, PaddingBuilder
from pyshardy.sizes.size import Number, number_of

_LARGEST_SIZE = 2**31 - 1


def clamp_indices(
    operation: ir.Operation, contents: Mapping[ir.Value, Content], builder: PaddingBuilder
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
    if clamp is not None and operation.operands[0] in contents:
        clamp(operation, lambda value: contents.get(value, shape_of(value.type)), builder)


def clamp_starts(
    operation: ir.Operation,
    first: int,
    slice_: ir.Value,
    content_shape: ContentShape,
    builder: PaddingBuilder,
) -> None:
    """Clamp the starts of a slice, which are the operands from a first one on."""
    padded, sizes = shape_of(operation.operands[0].type), content_shape(operation.operands[0])
    taken = content_shape(slice_)
    for dim, length in enumerate(shape_of(slice_.type)):
        if padded[dim] != sizes[dim] and padded[dim] != length:
            index = operation.operands[first + dim]
            low = builder.scalar(index, 0)
            high = _bound(index, _difference(sizes[dim], taken[dim]), builder)
            sharded = builder.sharded(get_sharding(index))
            operation.operands[first + dim] = sharded.clamp(low, index, high)


def clamp_vectors(
    operation: ir.Operation, content_shape: ContentShape, builder: PaddingBuilder
) -> None:
    """Clamp the indices of a gather, whose components are along one dimension."""
    numbers = GatherView(operation).dimension_numbers
    slice_sizes = GatherView(operation).slice_sizes
    padded, sizes = shape_of(operation.operands[0].type), content_shape(operation.operands[0])
    indexed: list[int] = list(numbers.start_index_map)
    if all(padded[dim] in (sizes[dim], slice_sizes[dim]) for dim in indexed):
        return
    indices = operation.operands[1]
    without_offset = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    result = content_shape(operation.results[0])
    offsets = iter(numbers.offset_dims)
    taken = [
        1 if dim in without_offset else result[next(offsets)] for dim in range(len(slice_sizes))
    ]
    # A slice of a full dimension starts at 0.
    ends = [
        0 if padded[dim] == slice_sizes[dim] else _difference(sizes[dim], taken[dim])
        for dim in indexed
    ]
    low = builder.scalar(indices, 0)
    high = _spread(indices, ends, numbers.index_vector_dim, builder)
    sharded = builder.sharded(get_sharding(indices))
    operation.operands[1] = sharded.clamp(low, indices, high)


def _spread(
    indices: ir.Value, numbers: list[Number], vector_dim: int, builder: PaddingBuilder
) -> ir.Value:
    """Build a number for each component of indices; a scalar if all are equal."""
    if len({*numbers}) == 1:
        return _bound(indices, numbers[0], builder)
    unsharded = builder.sharded(None)
    known = [_at_most(indices, number) for number in numbers if isinstance(number, int)]
    if len(known) == len(numbers):
        vector_type = with_shape(indices.type, [len(known)])
        vector = unsharded.literal(ir.Attribute.parse(f"dense<{known}> : {vector_type}"))
    else:
        scalars = [_bound(indices, number, builder) for number in numbers]
        vector = unsharded.concatenate([unsharded.reshape(each, [1]) for each in scalars], 0)
    sharded = builder.sharded(get_sharding(indices))
    return sharded.broadcast_in_dim(vector, shape_of(indices.type), [vector_dim])


def _bound(index: ir.Value, end: Number, builder: PaddingBuilder) -> ir.Value:
    """Build an end as a scalar of the type of an index, to which it is clamped."""
    if isinstance(end, int):
        return builder.scalar(index, _at_most(index, end))
    greatest = _at_most(index, _LARGEST_SIZE)
    integer = with_shape(with_element(index.type, ir.IntegerType.get_signless(32)), ())
    unsharded = builder.sharded(None)
    number = builder.number(integer, end)
    if greatest < _LARGEST_SIZE:
        number = unsharded.binary("minimum", number, unsharded.splat(integer, greatest))
    return unsharded.convert(number, element_type_of(index.type))


def _at_most(index: ir.Value, end: int) -> int:
    """Return an end, clamped to the type of an index."""
    integer = ir.IntegerType(element_type_of(index.type))
    return min(end, 2 ** (integer.width if integer.is_unsigned else integer.width - 1) - 1)


def _difference(size: Number, length: Number) -> Number:
    return number_of(size - length)
