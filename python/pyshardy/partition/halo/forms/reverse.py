# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reversed dimensions: each shard receives and reverses the elements of the other end."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.device_axis import DeviceAxis
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.halo.exchange_plan import ExchangePlan, RequiredRange, plan_exchange
from pyshardy.partition.halo.form import Body, ExchangeForm, exchanges
from pyshardy.partition.halo.windowed import any_filling


@exchanges("stablehlo.reverse")
class ReverseForm(ExchangeForm):
    """A reversal of some dimensions.

    Shard t of a dimension of n shards of s elements, D without padding, is the reverse of the s
    elements from D - (t + 1) * s on. If D is n * s, these are the shard n - 1 - t; otherwise they
    are parts of two shards, of s elements together.
    """

    def __init__(self, operation: ir.Operation, rule: OpShardingRule):
        self.operation = operation
        self.rule = rule
        mappings = rule.operand_mappings[0].dim_mappings
        dims: list[int] = list(operation.attributes["dimensions"])
        self._dims = {mappings[dim].factor_indices[0]: dim for dim in dims}
        self.factors = frozenset(self._dims)

    def routes(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the plan of an exchange between both ends."""
        size = self._size(factor)
        shard_size = -(-size // num_shards)
        starts = tuple(size - (shard + 1) * shard_size for shard in range(num_shards))
        demand = RequiredRange(starts, (shard_size,) * num_shards, range(size), shard_size)
        return (plan_exchange(shard_size, (demand,), num_shards, mirrored=True),)

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Exchange the elements of each dimension, then reverse them.

        If shards are exchanged as they are, one permute does so for all dimensions.
        """
        (value,) = body.values
        sizes = {factor: self._size(factor) for factor in body.lanes}
        even = [
            device_axis
            for f, device_axis in body.lanes.items()
            if sizes[f] % device_axis.pieces == 0
        ]
        if even:
            value = _mirrored(value, even)
        for factor, device_axis in body.lanes.items():
            if device_axis in even:
                continue
            (plan,) = self.routes(factor, device_axis.pieces)
            value = emit_exchange(
                plan, {0: value}, self._dims[factor], device_axis, any_filling(body, 0)
            )
        return list(body.local_copy(self.operation, [value], {}).results)

    def _size(self, factor: int) -> int:
        return shape_of(self.operation.operands[0].type)[self._dims[factor]]


def _mirrored(value: ir.Value, lanes_of_dims: Sequence[DeviceAxis]) -> ir.Value:
    """Build the exchange with the shard at the other end of several dimensions.

    Numbered along all their axes, it is as far from the last shard as the device is from the first.
    """
    some = lanes_of_dims[0]
    axes = tuple(axis for device_axis in lanes_of_dims for axis in device_axis.axes)
    together = DeviceAxis(some.builder, some.mesh, axes)
    last = together.pieces - 1
    return together.send(value, [(last - shard, shard) for shard in range(last + 1)])
