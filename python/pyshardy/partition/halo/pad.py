# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pads: windows of one element, some of which are padding."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.halo.attributes import integers_attribute
from pyshardy.partition.halo.form import exchanges
from pyshardy.partition.halo.window import Window
from pyshardy.partition.halo.windowed import LocalDim, WindowedDim, WindowedForm, operand_filling
from pyshardy.partition.padding.shapes import shape_of

_LOW, _HIGH, _INTERIOR = "edge_padding_low", "edge_padding_high", "interior_padding"


@exchanges("stablehlo.pad")
def pad_form(operation: ir.Operation, rule: OpShardingRule) -> WindowedForm:
    """Padding of any kind, also where it cuts something off."""
    attributes = operation.attributes
    amounts = {name: list(attributes[name]) for name in (_LOW, _HIGH, _INTERIOR)}
    operand, result = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
    padded = [dim for dim, of_dim in enumerate(zip(*amounts.values(), strict=True)) if any(of_dim)]
    dim_of = {rule.operand_mappings[0].dim_mappings[dim].factor_indices[0]: dim for dim in padded}
    dims = {
        factor: WindowedDim(
            dim,
            operand[dim],
            Window(amounts[_LOW][dim], dilation=amounts[_INTERIOR][dim] + 1),
            result[dim],
        )
        for factor, dim in dim_of.items()
    }

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> Mapping[str, ir.Attribute]:
        low, high, interior = map(list, amounts.values())
        for factor, local in local_dims.items():
            dim = dim_of[factor]
            low[dim], high[dim], interior[dim] = local.low, local.high, local.dilation - 1
        written = zip(amounts, (low, high, interior), strict=True)
        return {name: integers_attribute(of_dims) for name, of_dims in written}

    return WindowedForm(operation, rule, dims, range(1), operand_filling(1), local_attributes)
