# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reversed dimensions: each shard receives and reverses the elements of the other end."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.cost.op_work import moving_work
from pyshardy.irtools.stablehlo_views import ReverseView
from pyshardy.irtools.tensor_types import shape_of, size_of_shard
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.halo.local_copy import local_copy
from pyshardy.partition.halo.windowed import any_fill
from pyshardy.partition.local.conversions import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.partial.linear_operations import first_operand, moving
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_form import Body, ExchangeForm
from pyshardy.partition.types.exchange_plan import ExchangePlan, RequiredRange, plan_exchange


class ReverseForm(ExchangeForm):
    """The exchange of a reversal, between the shards at both ends of a dimension.

    Shard t of a dimension of n shards of s elements, D without padding, is the reverse of the s
    elements from D - (t + 1) * s on. If D is n * s, these are the shard n - 1 - t; otherwise they
    are parts of two shards, of s elements together.
    """

    def __init__(self, operation: ir.Operation, rule: OpShardingRule):
        self.operation = operation
        self.rule = rule
        mappings = rule.operand_mappings[0].dim_mappings
        dims = ReverseView(operation).dimensions
        self._dims = {mappings[dim].factor_indices[0]: dim for dim in dims}
        self.factors = frozenset(self._dims)

    def exchange_plans(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the plan of an exchange between both ends."""
        size = self._size(factor)
        shard_size = size_of_shard(size, num_shards)
        starts = tuple(size - (shard + 1) * shard_size for shard in range(num_shards))
        required = RequiredRange(starts, (shard_size,) * num_shards, range(size), shard_size)
        return (plan_exchange(shard_size, (required,), num_shards, mirrored=True),)

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Exchange the elements of each dimension, then reverse them.

        If shards are exchanged as they are, one permute does so for all dimensions.
        """
        (value,) = body.values
        sizes = {factor: self._size(factor) for factor in body.device_axes}
        even = [
            device_axis
            for f, device_axis in body.device_axes.items()
            if sizes[f] % device_axis.num_shards == 0
        ]
        if even:
            value = _mirrored(value, even)
        for factor, device_axis in body.device_axes.items():
            if device_axis in even:
                continue
            (plan,) = self.exchange_plans(factor, device_axis.num_shards)
            value = emit_exchange(
                plan, {0: value}, self._dims[factor], device_axis, any_fill(body, 0)
            )
        return list(local_copy(self.operation, body, [value], {}).results)

    def _size(self, factor: int) -> int:
        return shape_of(self.operation.operands[0].type)[self._dims[factor]]


def _mirrored(value: ir.Value, device_axes: Sequence[DeviceAxis]) -> ir.Value:
    """Build the exchange with the shard at the other end of several dimensions.

    Numbered along all their axes, it is as far from the last shard as the device is from the first.
    """
    some = device_axes[0]
    axes = tuple(axis for device_axis in device_axes for axis in device_axis.axes)
    together = DeviceAxis(some.builder, some.mesh, axes)
    last = together.num_shards - 1
    return together.send(value, [(last - shard, shard) for shard in range(last + 1)])


RECORDS = {
    "stablehlo.reverse": PartitionRecord(
        linearity=moving(0),
        linear_operands=first_operand,
        halo_form=ReverseForm,
        local_form=retype_only,
        work=moving_work,
    )
}
