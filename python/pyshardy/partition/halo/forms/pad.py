# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pads: windows of one element, some of which are padding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.partition.halo.attributes import integers_attribute
from pyshardy.partition.halo.form import Body, exchanges
from pyshardy.partition.halo.window import Window
from pyshardy.partition.halo.windowed import (
    LocalDim,
    WindowedDim,
    WindowedForm,
    operand_filling,
    zero_filling,
)
from pyshardy.partition.op_facts.reductions import is_positive_zero
from pyshardy.partition.padding.trailing_resize import does_nothing

_LOW, _HIGH, _INTERIOR = "edge_padding_low", "edge_padding_high", "interior_padding"


@exchanges("stablehlo.pad")
def pad_form(operation: ir.Operation, rule: OpShardingRule) -> WindowedForm:
    """Return the form of a pad, also with negative padding."""
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

    # A device that receives nothing gets zeros, which need not be overwritten.
    filling = zero_filling if is_positive_zero(operation.operands[1]) else operand_filling(1)
    return _PadForm(operation, rule, dims, range(1), filling, local_attributes)


class _PadForm(WindowedForm):
    """A pad of the shard and, if the amounts differ between devices, a slice of the result."""

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build a pad by the largest amount of any device, and slice what the device needs."""
        shape, wanted = shape_of(body.values[0].type), list(shape_of(body.result_types[0]))
        for factor, device_axis in body.lanes.items():
            windowed, num_shards = self.dims[factor], device_axis.pieces
            is_even = windowed.size % num_shards == windowed.count % num_shards == 0
            if not is_even or not self.sends_nothing(factor, num_shards):
                return super().build(body)
        attributes = self.operation.attributes
        low, high, interior = (list(attributes[name]) for name in (_LOW, _HIGH, _INTERIOR))
        begins: dict[int, ir.Value] = {}
        for factor, device_axis in body.lanes.items():
            window, dim = self.dims[factor].window, self.dims[factor].dim
            size, length = wanted[dim], (shape[dim] - 1) * window.dilation + 1
            # The position of the first element of a shard in its result.
            places = [
                shard * (shape[dim] * window.dilation - size) + window.low
                for shard in range(device_axis.pieces)
            ]
            low[dim], high[dim] = max(places), size - length - min(places)
            if len(set(places)) > 1:
                low[dim], high[dim] = max(0, low[dim]), max(0, high[dim])
                begins[dim] = device_axis.by_shard([low[dim] - place for place in places])
        padded = [
            before + (size - 1) * (between + 1) + 1 + behind
            for before, size, between, behind in zip(low, shape, interior, high, strict=True)
        ]
        local = body.local_copy(
            self.operation,
            body.values,
            {
                _LOW: integers_attribute(low),
                _HIGH: integers_attribute(high),
            },
            (with_shape(body.result_types[0], tuple(padded)),),
        )
        value: ir.Value = local.results[0]
        if does_nothing(local):
            value = local.operands[0]
            local.erase()
        if begins:
            zero = body.builder.index(0)
            offsets = [begins.get(dim, zero) for dim in range(len(wanted))]
            value = body.builder.dynamic_slice(value, offsets, wanted)
        return [value]
