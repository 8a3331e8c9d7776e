# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of windows with any body."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.cost.op_work import SizedOperation, counted_work
from pyshardy.irtools.stablehlo_views import FieldValues, WindowsView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.attributes import paddings, per_dim
from pyshardy.partition.halo.cumulative import cumulative_form
from pyshardy.partition.halo.form import ExchangeForm
from pyshardy.partition.halo.merging import merged_padding
from pyshardy.partition.halo.window import Window
from pyshardy.partition.halo.windowed import LocalDim, WindowedDim, WindowedForm, operand_fill
from pyshardy.partition.local.conversions import retype_only
from pyshardy.partition.op_facts.blocked_factors import factors_of
from pyshardy.partition.op_facts.record import PartitionRecord, SlicedOff

# --- Sharding -----------------------------------------------------------------------------------


def _dilated_factors(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of dimensions with holes between elements."""
    for dim, dilation in enumerate(WindowsView(operation).base_dilations):
        if dilation != 1:
            yield from factors_of(rule, 0, dim)


# --- Halo exchange ------------------------------------------------------------------------------


def reduce_window_form(operation: ir.Operation, rule: OpShardingRule) -> ExchangeForm:
    """Return the exchange of a cumulative reduction, or of other windows."""
    cumulative = cumulative_form(operation, rule)
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
