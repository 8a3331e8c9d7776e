# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices: windows of one element with a start and strides."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.attributes import integers_attribute
from pyshardy.partition.halo.form import exchanges
from pyshardy.partition.halo.window import Window
from pyshardy.partition.halo.windowed import LocalDim, WindowedDim, WindowedForm, any_filling

_START, _LIMIT, _STRIDE = "start_indices", "limit_indices", "strides"


@exchanges("stablehlo.slice")
def slice_form(operation: ir.Operation, rule: OpShardingRule) -> WindowedForm:
    """Return the form of a slice, also with strides."""
    bounds = {name: list(operation.attributes[name]) for name in (_START, _LIMIT, _STRIDE)}
    operand, result = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
    cut = [dim for dim, size in enumerate(operand) if size != result[dim]]
    dim_of = {rule.operand_mappings[0].dim_mappings[dim].factor_indices[0]: dim for dim in cut}
    dims = {
        factor: WindowedDim(
            dim, operand[dim], Window(-bounds[_START][dim], bounds[_STRIDE][dim]), result[dim]
        )
        for factor, dim in dim_of.items()
    }

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> Mapping[str, ir.Attribute]:
        starts, limits = list(bounds[_START]), list(bounds[_LIMIT])
        for factor, local in local_dims.items():
            starts[dim_of[factor]], limits[dim_of[factor]] = 0, local.length
        return {
            _START: integers_attribute(starts),
            _LIMIT: integers_attribute(limits),
        }

    return WindowedForm(operation, rule, dims, range(1), any_filling, local_attributes)
