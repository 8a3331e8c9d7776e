# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions: windows of the kernel over the input, also in gradients.

A spatial dimension is sharded in one of two ways:

1. Along the windows. A shard of the result needs the elements of the input that its windows cover,
   and the full kernel.
2. Along the kernel, if it is larger than the result: as in the gradient of a kernel, where the
   kernel operand is a gradient of the size of the input. A shard of the kernel needs the elements
   of the input that it is multiplied with in any window. Its partial results are added up.

For the input, 2. is 1. with kernel and result exchanged. If its axes don't divide the kernel, it is
padded with zeros: an infinity multiplied by one of them becomes NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import FactorType, OpShardingRule
from pyshardy.cost.measured import CONVOLUTION, GRADIENT, GROUPED
from pyshardy.cost.op_work import ProductWork, SizedOperation
from pyshardy.irtools.stablehlo_views import ConvolutionView
from pyshardy.irtools.stablehlo_views.fields import FieldValues
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.windowed import (
    LocalDim,
    Window,
    WindowedDim,
    WindowedForm,
    paddings,
    per_dim,
    with_factor,
    zero_fill,
)
from pyshardy.partition.local.arithmetic import fit_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.partial.linear_operations import multiplicative
from pyshardy.partition.partial.reductions import completion_by_sum, factors_of
from pyshardy.partition.records.dot import zeros_for_all_operands

# --- Sharding -----------------------------------------------------------------------------------


def _spatial_factors(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of spatial dimensions, whose windows overlap several shards."""
    numbers = ConvolutionView(operation).dimension_numbers
    for tensor, dims in (
        (0, numbers.input_spatial_dimensions),
        (1, numbers.kernel_spatial_dimensions),
        (2, numbers.output_spatial_dimensions),
    ):
        for dim in dims:
            yield from factors_of(rule, tensor, dim)


# --- Halo exchange ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SpatialDim:
    """A spatial dimension: its position in input, kernel and result, and the kernel's window."""

    dims: tuple[int, int, int]
    sizes: tuple[int, int, int]
    low: int
    stride: int
    input_dilation: int
    kernel_dilation: int
    is_reversed: bool

    @property
    def reach(self) -> int:
        """The number of positions of the input from the first to the last one of the kernel."""
        return (self.sizes[1] - 1) * self.kernel_dilation + 1

    @property
    def is_along_kernel(self) -> bool:
        """Whether it is sharded along the kernel."""
        _, kernel, result = self.sizes
        return kernel > result

    @property
    def windowed(self) -> WindowedDim:
        """Return the windows over the input."""
        size, kernel, result = self.sizes
        if self.is_along_kernel:
            reach = (result - 1) * self.stride + 1
            window = Window(self.low, self.kernel_dilation, reach, self.input_dilation)
            return WindowedDim(self.dims[0], size, window, kernel)
        window = Window(self.low, self.stride, self.reach, self.input_dilation)
        return WindowedDim(self.dims[0], size, window, result)


def convolution_form(operation: ir.Operation, rule: OpShardingRule) -> WindowedForm | None:
    """Return the exchange of a convolution, unless its kernel is sharded and reversed."""
    spatial = list(spatial_dims(operation))
    if any(each.is_along_kernel and each.is_reversed for each in spatial):
        return None
    factors: list[int] = []
    for each in spatial:
        kind, (first, second), rest = (
            (FactorType.REDUCTION, (0, 1), 2)
            if each.is_along_kernel
            else (FactorType.PERMUTATION, (0, 2), 1)
        )
        factors.append(rule.num_factors)
        sharded = {tensor: each.dims[tensor] for tensor in (first, second)}
        rule = with_factor(rule, sharded, each.windowed.count, kind)
        unsharded = {rest: each.dims[rest]}
        rule = with_factor(rule, unsharded, each.sizes[rest], FactorType.NEED_REPLICATION)

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> FieldValues:
        padding = paddings(ConvolutionView(operation).padding, len(spatial))
        dilations = [each.input_dilation for each in spatial]
        for index, factor in enumerate(factors):
            if factor in local_dims:
                local = local_dims[factor]
                padding[index] = local.low, local.high
                dilations[index] = local.dilation
        return {ConvolutionView.padding: padding, ConvolutionView.lhs_dilation: dilations}

    dims = {factor: each.windowed for factor, each in zip(factors, spatial, strict=True)}
    return WindowedForm(operation, rule, dims, range(1), zero_fill, local_attributes)


def spatial_dims(operation: ir.Operation) -> Iterator[SpatialDim]:
    """Yield the spatial dimensions."""
    view = ConvolutionView(operation)
    numbers = view.dimension_numbers
    values = operation.operands[0], operation.operands[1], operation.results[0]
    shapes = [shape_of(value.type) for value in values]
    places: list[tuple[int, int, int]] = list(
        zip(
            numbers.input_spatial_dimensions,
            numbers.kernel_spatial_dimensions,
            numbers.output_spatial_dimensions,
            strict=True,
        )
    )
    count = len(places)
    padding = paddings(view.padding, count)
    strides = per_dim(view.window_strides, count)
    input_dilations = per_dim(view.lhs_dilation, count)
    kernel_dilations = per_dim(view.rhs_dilation, count)
    reversals = per_dim(view.window_reversal, count, default=0)
    for index, dims in enumerate(places):
        yield SpatialDim(
            dims,
            (shapes[0][dims[0]], shapes[1][dims[1]], shapes[2][dims[2]]),
            padding[index][0],
            strides[index],
            input_dilations[index],
            kernel_dilations[index],
            bool(reversals[index]),
        )


# --- Local form and work ------------------------------------------------------------------------


def fit_convolution(operation: ir.Operation) -> None:
    """Set the number of groups, as a device may have only some of them."""
    numbers = ConvolutionView(operation).dimension_numbers
    lhs, kernel, result = (
        shape_of(value.type) for value in (*operation.operands, operation.results[0])
    )
    groups = {
        ConvolutionView.feature_group_count: (
            lhs[numbers.input_feature_dimension],
            kernel[numbers.kernel_input_feature_dimension],
        ),
        ConvolutionView.batch_group_count: (
            lhs[numbers.input_batch_dimension],
            result[numbers.output_batch_dimension],
        ),
    }
    for count, (size, size_of_group) in groups.items():
        if size_of_group:  # empty groups are not sharded
            count.set_on(operation, size // size_of_group)


def _num_operations(sized: SizedOperation) -> int:
    """Return 2 for each element of the result and of the kernel, per feature."""
    numbers = ConvolutionView(sized.operation).dimension_numbers
    kernel = sized.operands[1].shape
    features_dim = numbers.kernel_output_feature_dimension
    num_features = max(kernel[features_dim], 1)
    return 2 * sized.results[0].elements * (math.prod(kernel) // num_features)


_LARGEST_WINDOW = 9
"""The places of the largest window that is never that of a gradient."""


def _kind(sized: SizedOperation) -> str:
    """Return the kind of product: a large window that covers the result is that of a gradient."""
    numbers = ConvolutionView(sized.operation).dimension_numbers
    (image, kernel), result = (size.shape for size in sized.operands), sized.results[0].shape
    window = math.prod(kernel[dim] for dim in numbers.kernel_spatial_dimensions)
    places = math.prod(result[dim] for dim in numbers.output_spatial_dimensions)
    kind = GRADIENT if window > max(places, _LARGEST_WINDOW) else CONVOLUTION
    has_groups = (
        image[numbers.input_feature_dimension] > kernel[numbers.kernel_input_feature_dimension]
        or image[numbers.input_batch_dimension] > result[numbers.output_batch_dimension]
    )
    return GROUPED + kind if has_groups else kind


# --- Record -------------------------------------------------------------------------------------


RECORDS = {
    "stablehlo.convolution": PartitionRecord(
        blocked_factors=_spatial_factors,
        completion=completion_by_sum,
        linearity=multiplicative(0, 1),
        halo_form=convolution_form,
        local_form=fit_only(fit_convolution),
        fit_sizes=fit_convolution,
        neutral_values=zeros_for_all_operands,
        work=ProductWork(_num_operations, _kind),
    )
}
