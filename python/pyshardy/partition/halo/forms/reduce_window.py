# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of windows with any body."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.attributes import (
    integers,
    integers_attribute,
    paddings,
    paddings_attribute,
)
from pyshardy.partition.halo.form import ExchangeForm, exchanges
from pyshardy.partition.halo.forms.cumulative import cumulative_form
from pyshardy.partition.halo.window import Window
from pyshardy.partition.halo.windowed import LocalDim, WindowedDim, WindowedForm, operand_filling


@exchanges("stablehlo.reduce_window")
def reduce_window_form(operation: ir.Operation, rule: OpShardingRule) -> ExchangeForm:
    """Return the form of a cumulative reduction, or of other windows."""
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

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> Mapping[str, ir.Attribute]:
        padding = paddings(operation, len(windows))
        dilations = [window.dilation for window in windows]
        for factor, local in local_dims.items():
            padding[dim_of[factor]] = local.low, local.high
            dilations[dim_of[factor]] = local.dilation
        return {
            "padding": paddings_attribute(padding),
            "base_dilations": integers_attribute(dilations),
        }

    return WindowedForm(
        operation, rule, dims, range(num_inputs), operand_filling(num_inputs), local_attributes
    )


def windows_of(operation: ir.Operation) -> list[Window]:
    """Return the windows over each dimension."""
    rank = len(operation.attributes["window_dimensions"])
    columns = zip(
        paddings(operation, rank),
        integers(operation, "window_strides", rank),
        integers(operation, "window_dimensions", rank),
        integers(operation, "window_dilations", rank),
        integers(operation, "base_dilations", rank),
        strict=True,
    )
    return [
        Window(low, stride, (size - 1) * window_dilation + 1, dilation)
        for (low, _), stride, size, window_dilation, dilation in columns
    ]
