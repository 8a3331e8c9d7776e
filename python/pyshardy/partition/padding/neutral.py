# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Overwriting of padding that operations read.

The contents of padding are undefined: operations are computed on padding as well. This is harmless
as long as its elements don't affect others. The records of all other operations state which padding
is overwritten, and by which values:

1. `neutral_values`: that of reduced dimensions, such as 0 for both operands of a matrix product.
2. `padding_masks`: that of other dimensions, such as 1 for an integer divisor.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule, TensorMapping
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.record import Neutral, PaddingMask, record_of
from pyshardy.partition.partial.reductions import is_positive_zero
from pyshardy.partition.types.padding_builder import Content, PaddingBuilder


def mask_operands(
    operation: ir.Operation,
    rule: OpShardingRule,
    contents: Mapping[ir.Value, Content],
    zeros: Collection[ir.Value],
    builder: PaddingBuilder,
) -> None:
    """Overwrite the padding that an operation reads.

    Args:
        operation: the operation, whose operands are padded.
        rule: its rule.
        contents: the shape without padding of each value that is padded.
        zeros: values whose padding is known to be zero.
        builder: builds the masks.
    """

    def content_shape(value: ir.Value) -> Content:
        return contents.get(value, shape_of(value.type))

    masks = masks_of_reduced_dims(operation, rule)
    find_masks = record_of(operation.name).padding_masks
    if find_masks is not None:
        masks += find_masks(operation, content_shape)
    for mask in masks:
        overwrite(operation, mask, contents, zeros, builder)


def neutral_values(operation: ir.Operation) -> dict[int, Neutral] | None:
    """Return the neutral values for the reduced dimensions of operands, by position.

    None if a reduction has no neutral value.
    """
    find = record_of(operation.name).neutral_values
    return None if find is None else find(operation)


def masks_of_reduced_dims(operation: ir.Operation, rule: OpShardingRule) -> list[PaddingMask]:
    """Return the masks of operands whose reduced dimensions may be padded.

    Args:
        operation: the operation.
        rule: its rule.
    """
    reduced = {*rule.reduction_factors}
    if not reduced:
        return []
    neutrals = neutral_values(operation) or {}  # without any, it isn't padded
    return [
        PaddingMask(index, _dims_with(reduced, rule.operand_mappings[index]), neutral)
        for index, neutral in neutrals.items()
    ]


def _dims_with(factors: set[int], mapping: TensorMapping) -> list[int]:
    """Return the dimensions of a tensor that have any of the factors."""
    return [
        dim
        for dim, dim_mapping in enumerate(mapping.dim_mappings)
        if not factors.isdisjoint(dim_mapping.factor_indices)
    ]


def _is_zero(neutral: Neutral) -> bool:
    if isinstance(neutral, int):
        return neutral == 0
    return isinstance(neutral, ir.Value) and is_positive_zero(neutral)


def overwrite(
    operation: ir.Operation,
    mask: PaddingMask,
    contents: Mapping[ir.Value, Content],
    zeros: Collection[ir.Value],
    builder: PaddingBuilder,
) -> None:
    """Overwrite the padding of an operand by a mask; see `mask_operands`."""
    value, neutral = operation.operands[mask.operand], mask.neutral
    sizes = contents.get(value)
    if sizes is None or (value in zeros and _is_zero(neutral)):
        return
    shape = shape_of(value.type)
    padded = [dim for dim in mask.dims if shape[dim] != sizes[dim]]
    if padded:
        if isinstance(neutral, int):
            neutral = builder.scalar(value, neutral)
        elif isinstance(neutral, ir.DenseElementsAttr):
            neutral = builder.sharded(None).literal(neutral)
        operation.operands[mask.operand] = builder.masked(value, sizes, padded, neutral)
