# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of windows with any body."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.cost.op_work import SizedOperation, counted_work
from pyshardy.irtools.stablehlo_views import WindowsView
from pyshardy.irtools.stablehlo_views.fields import FieldValues
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.partition.halo.merging import merged_padding
from pyshardy.partition.halo.windowed import (
    LocalDim,
    Window,
    WindowedDim,
    WindowedForm,
    local_copy,
    operand_fill,
    paddings,
    per_dim,
)
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord, SlicedOff
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.partial.reductions import factors_of, is_neutral
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_plan import Body, ExchangeForm, ExchangePlan

# --- Sharding -----------------------------------------------------------------------------------


def _dilated_factors(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of dimensions with holes between elements."""
    for dim, dilation in enumerate(WindowsView(operation).base_dilations):
        if dilation != 1:
            yield from factors_of(rule, 0, dim)


# --- Halo exchange ------------------------------------------------------------------------------


def reduce_window_form(operation: ir.Operation, rule: OpShardingRule) -> ExchangeForm:
    """Return the exchange of a cumulative reduction, or of other windows."""
    cumulative = _cumulative_form(operation, rule)
    if cumulative is not None:
        return cumulative
    windows = windows_of(operation)
    num_inputs = len(operation.operands) // 2
    operand, result = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
    dim_of = {
        rule.operand_mappings[0].dim_mappings[dim].factor_indices[0]: dim
        for dim, window in enumerate(windows)
        if window != Window() or operand[dim] != result[dim]
    }
    dims = {
        factor: WindowedDim(dim, operand[dim], windows[dim], result[dim])
        for factor, dim in dim_of.items()
    }

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> FieldValues:
        padding = paddings(WindowsView(operation).padding, len(windows))
        dilations = [window.dilation for window in windows]
        for factor, local in local_dims.items():
            padding[dim_of[factor]] = local.low, local.high
            dilations[dim_of[factor]] = local.dilation
        return {WindowsView.padding: padding, WindowsView.base_dilations: dilations}

    return WindowedForm(
        operation, rule, dims, range(num_inputs), operand_fill(num_inputs), local_attributes
    )


def windows_of(operation: ir.Operation) -> list[Window]:
    """Return the windows over each dimension."""
    view = WindowsView(operation)
    sizes = view.window_dimensions
    rank = len(sizes)
    columns = zip(
        paddings(view.padding, rank),
        per_dim(view.window_strides, rank),
        sizes,
        per_dim(view.window_dilations, rank),
        per_dim(view.base_dilations, rank),
        strict=True,
    )
    return [
        Window(low, stride, (size - 1) * window_dilation + 1, dilation)
        for (low, _), stride, size, window_dilation, dilation in columns
    ]


def _merge_slice(operation: ir.Operation, sliced_off: SlicedOff) -> FieldValues | None:
    """Return the attributes for windows over an uncut operand; None if impossible."""
    rank = len(sliced_off.before)
    view = WindowsView(operation)
    dilations = per_dim(view.base_dilations, rank)
    strides = per_dim(view.window_strides, rank)
    windows = per_dim(view.window_dimensions, rank)
    window_dilations = per_dim(view.window_dilations, rank)
    sizes = shape_of(operation.operands[0].type)
    edges: list[tuple[int, int]] = []
    for dim, padding in enumerate(paddings(view.padding, rank)):
        dilation = dilations[dim]
        merged = merged_padding(padding, dilation, (sliced_off.before[dim], sliced_off.behind[dim]))
        if merged is None:
            return None
        length = (sizes[dim] - 1) * dilation + 1 + sum(padding)
        reach = (windows[dim] - 1) * window_dilations[dim] + 1
        unused = strides[dim] - 1 - (length - reach) % strides[dim]
        if length < reach + strides[dim]:
            unused = 0  # IREE takes a single window to be as large as the dimension
        edges.append((merged[0], max(merged[1], min(0, merged[1] + unused))))
    return {WindowsView.padding: edges}


# --- Work ---------------------------------------------------------------------------------------


def _num_operations(sized: SizedOperation) -> int:
    """Return 1 for each element of the results and of a window."""
    window = math.prod(WindowsView(sized.operation).window_dimensions)
    return window * sum(size.elements for size in sized.results)


# --- Record -------------------------------------------------------------------------------------


RECORDS = {
    "stablehlo.reduce_window": PartitionRecord(
        blocked_factors=_dilated_factors,
        halo_form=reduce_window_form,
        merge_slice=_merge_slice,
        local_form=retype_only,
        work=counted_work(_num_operations),
    )
}


class _CumulativeForm(ExchangeForm):
    """A cumulative reduction.

        %1 = "stablehlo.reduce_window"(%0, %zero) <{padding = dense<[[7, 0]]>,
            window_dimensions = array<i64: 8>}> ({ ... })
            : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>

    is the sum of each element and all before it. Shards compute the sums of their own elements,
    gather the totals of all shards, which are one element each, and combine their results with the
    totals of all shards before them, or after them if windows extend to the other end.

    Args:
        operation: the `stablehlo.reduce_window`.
        rule: its rule.
        dim: the dimension along which it is cumulative.
        combine: the operation that combines two elements.
        is_forward: whether windows extend to the first element; otherwise to the last one.
    """

    def __init__(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        dim: int,
        combine: str,
        *,
        is_forward: bool,
    ):
        self.operation = operation
        self.rule = rule
        self.factors = frozenset(rule.operand_mappings[0].dim_mappings[dim].factor_indices)
        self._dim = dim
        self._combine = combine
        self._is_forward = is_forward

    def exchange_plans(self, _factor: int, _num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return no plans: totals are gathered."""
        return ()

    def gathered(self, _factor: int, /) -> int:
        """Return one element: the total of a shard."""
        return 1

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build the results of a shard, combined with the totals of those before it."""
        (factor,) = self.factors
        device_axis, dim = body.device_axes[factor], self._dim
        value, initial = body.values
        size, shard_size = (shape_of(v.type)[dim] for v in (self.operation.operands[0], value))
        shards = range(device_axis.num_shards)
        if not self._is_forward:  # the padding would be in all results
            valid = [range(max(0, min(size - t * shard_size, shard_size))) for t in shards]
            value = device_axis.choose(valid, value, device_axis.spread(initial, value), dim)
        around = (shard_size - 1, 0) if self._is_forward else (0, shard_size - 1)
        own = self._reduced(body, value, shard_size, around, shard_size)
        totals = device_axis.gather(
            device_axis.cut(own, dim, (shard_size - 1 if self._is_forward else 0,), 1), dim
        )
        others = [
            range(t) if self._is_forward else range(t + 1, device_axis.num_shards) for t in shards
        ]
        totals = device_axis.choose(others, totals, device_axis.spread(initial, totals), dim)
        total = self._reduced(body, totals, device_axis.num_shards, (0, 0), 1)
        return [self._combined(device_axis, own, total)]

    def _reduced(
        self, body: Body, value: ir.Value, window: int, padding: tuple[int, int], length: int
    ) -> ir.Value:
        """Build a reduction of a value by windows of another size."""
        rank = len(shape_of(value.type))
        view = WindowsView(self.operation)
        windows = per_dim(view.window_dimensions, rank)
        windows[self._dim] = window
        around = paddings(view.padding, rank)
        around[self._dim] = padding
        shape = list(shape_of(value.type))
        shape[self._dim] = length
        return local_copy(
            self.operation,
            body,
            (value, body.values[1]),
            {WindowsView.window_dimensions: windows, WindowsView.padding: around},
            (with_shape(value.type, shape),),
        ).results[0]

    def _combined(self, device_axis: DeviceAxis, own: ir.Value, total: ir.Value) -> ir.Value:
        builder, shape = device_axis.builder, shape_of(own.type)
        total = builder.broadcast_in_dim(total, shape, range(len(shape)))
        operands = (total, own) if self._is_forward else (own, total)
        return builder.create(self._combine, operands, (own.type,)).result


def _cumulative_form(operation: ir.Operation, rule: OpShardingRule) -> _CumulativeForm | None:
    """Return the form of a `stablehlo.reduce_window` if it is a cumulative reduction.

    1. It has one operand, and its body is one associative and commutative operation.
    2. Its initial value is neutral, also if it is combined with elements several times.
    3. Along one dimension its windows are as large as the dimension, whose padding is one less than
       its size, all of it at one end. Along the others they are single elements.
    """
    if len(operation.operands) != 2:
        return None
    shape = shape_of(operation.operands[0].type)
    names = combining_operations(operation.regions[0].blocks[0])
    if shape != shape_of(operation.results[0].type) or names is None:
        return None
    (combine,) = names
    if not is_neutral(operation.operands[1], combine):
        return None
    rank = len(shape)
    view = WindowsView(operation)
    for numbers in (view.window_strides, view.window_dilations, view.base_dilations):
        if any(number != 1 for number in numbers):
            return None
    windows = per_dim(view.window_dimensions, rank)
    around = paddings(view.padding, rank)
    dims = [dim for dim in range(rank) if windows[dim] != 1]
    if len(dims) != 1 or any(any(around[dim]) for dim in range(rank) if dim != dims[0]):
        return None
    (dim,) = dims
    rest = shape[dim] - 1
    if windows[dim] != shape[dim] or around[dim] not in ((rest, 0), (0, rest)):
        return None
    return _CumulativeForm(operation, rule, dim, combine, is_forward=around[dim] == (rest, 0))
