# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with sizes in attributes, which follow from the types of operands and results.

A slice of the full size of a dimension also has the full size in shards, and in padded tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mlir_sdy.host import ir, stablehlo
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import converts


def fit_slice(operation: ir.Operation) -> None:
    """Fit a slice: a full dimension ends with the shard."""
    attributes = operation.attributes
    operand, result = _shape(operation.operands[0]), _shape(operation.results[0])
    starts, strides = attributes["start_indices"], attributes["strides"]
    limits = [
        size if size == taken and start == 0 and stride == 1 else limit
        for size, taken, start, stride, limit in zip(
            operand, result, starts, strides, attributes["limit_indices"], strict=True
        )
    ]
    attributes["limit_indices"] = ir.DenseI64ArrayAttr.get(limits)


def fit_pad(operation: ir.Operation) -> None:
    """Fit a pad: the difference of sizes is added to the padding at the end."""
    attributes = operation.attributes
    columns = zip(
        _shape(operation.operands[0]),
        _shape(operation.results[0]),
        attributes["edge_padding_low"],
        attributes["interior_padding"],
        strict=True,
    )
    high = [
        wanted - low - size - max(size - 1, 0) * interior for size, wanted, low, interior in columns
    ]
    attributes["edge_padding_high"] = ir.DenseI64ArrayAttr.get(high)


def fit_dynamic_slice(operation: ir.Operation) -> None:
    """Fit a dynamic slice: its sizes are those of its result."""
    sizes = _shape(operation.results[0])
    operation.attributes["slice_sizes"] = ir.DenseI64ArrayAttr.get(list(sizes))


def fit_broadcast(operation: ir.Operation) -> None:
    """Fit a broadcast: the sizes of the dimensions that it adds are those of the result."""
    result = _shape(operation.results[0])
    added = len(result) - len(_shape(operation.operands[0]))
    operation.attributes["broadcast_sizes"] = ir.DenseI64ArrayAttr.get(list(result[:added]))


def fit_gather(operation: ir.Operation) -> None:
    """Fit a gather: the sizes of slices are those of the result's offset dimensions."""
    attributes = operation.attributes
    numbers: Any = stablehlo.GatherDimensionNumbers(attributes["dimension_numbers"])
    result = _shape(operation.results[0])
    without_offset = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    offsets = iter(numbers.offset_dims)
    sizes: list[int] = [
        size if dim in without_offset else result[next(offsets)]
        for dim, size in enumerate(attributes["slice_sizes"])
    ]
    attributes["slice_sizes"] = ir.DenseI64ArrayAttr.get(sizes)


def fit_convolution(operation: ir.Operation) -> None:
    """Fit a convolution: a device may have only some of the groups."""
    attributes = operation.attributes
    numbers: Any = stablehlo.ConvDimensionNumbers(attributes["dimension_numbers"])
    lhs, kernel, result = map(_shape, (*operation.operands, operation.results[0]))
    groups: dict[str, tuple[int, int]] = {
        "feature_group_count": (
            lhs[numbers.input_feature_dimension],
            kernel[numbers.kernel_input_feature_dimension],
        ),
        "batch_group_count": (
            lhs[numbers.input_batch_dimension],
            result[numbers.output_batch_dimension],
        ),
    }
    integer = ir.IntegerType.get_signless(64)
    for name, (size, size_of_group) in groups.items():
        if size_of_group:  # empty groups are not sharded
            attributes[name] = ir.IntegerAttr.get(integer, size // size_of_group)


FITTING: dict[str, Callable[[ir.Operation], None]] = {
    "stablehlo.broadcast": fit_broadcast,
    "stablehlo.convolution": fit_convolution,
    "stablehlo.dynamic_slice": fit_dynamic_slice,
    "stablehlo.gather": fit_gather,
    "stablehlo.pad": fit_pad,
    "stablehlo.slice": fit_slice,
}
"""The functions that fit the sizes in an operation's attributes to its types, by its name."""


@converts("stablehlo.broadcast", "stablehlo.convolution", "stablehlo.pad", "stablehlo.slice")
def convert_sizes(operation: ir.Operation, _: LocalBuilder) -> None:
    """Fit the sizes of an operation that is valid on shards otherwise."""
    FITTING[operation.name](operation)


def _shape(value: ir.Value) -> tuple[int, ...]:
    return tuple(ir.RankedTensorType(value.type).shape)
