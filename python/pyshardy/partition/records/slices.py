# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices: windows of one element with a start and strides.

A slice of the full size of a dimension also has the full size in shards, and in padded tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.cost.op_work import moving_work, taking_work
from pyshardy.irtools.stablehlo_views import ReverseView, SliceView
from pyshardy.irtools.stablehlo_views.fields import FieldValues
from pyshardy.irtools.tensor_types import shape_of, size_of_shard
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.halo.windowed import (
    LocalDim,
    Window,
    WindowedDim,
    WindowedForm,
    any_fill,
    local_copy,
)
from pyshardy.partition.local.arithmetic import fit_only, retype_only
from pyshardy.partition.op_facts.record import PartitionRecord, SlicedOff
from pyshardy.partition.partial.linear_operations import first_operand, moving
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_plan import (
    Body,
    ExchangeForm,
    ExchangePlan,
    RequiredRange,
    plan_exchange,
)

# --- Halo exchange ------------------------------------------------------------------------------


def slice_form(operation: ir.Operation, rule: OpShardingRule) -> WindowedForm:
    """Return the exchange of a slice, also with strides."""
    view = SliceView(operation)
    begins, ends, strides = view.start_indices, view.limit_indices, view.strides
    operand, result = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
    cut = [dim for dim, size in enumerate(operand) if size != result[dim]]
    dim_of = {rule.operand_mappings[0].dim_mappings[dim].factor_indices[0]: dim for dim in cut}
    dims = {
        factor: WindowedDim(dim, operand[dim], Window(-begins[dim], strides[dim]), result[dim])
        for factor, dim in dim_of.items()
    }

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> FieldValues:
        starts, limits = list(begins), list(ends)
        for factor, local in local_dims.items():
            starts[dim_of[factor]], limits[dim_of[factor]] = 0, local.length
        return {SliceView.start_indices: starts, SliceView.limit_indices: limits}

    return WindowedForm(operation, rule, dims, range(1), any_fill, local_attributes)


def _merge_slice(operation: ir.Operation, sliced_off: SlicedOff) -> FieldValues:
    """Return the bounds in the operand of a preceding slice."""
    skipped = sliced_off.before
    return {
        bound: [at + before for at, before in zip(bound.of(operation), skipped, strict=True)]
        for bound in (SliceView.start_indices, SliceView.limit_indices)
    }


# --- Local form and padding ---------------------------------------------------------------------


def fit_slice(operation: ir.Operation) -> None:
    """Set the end of each full dimension to that of the shard."""
    view = SliceView(operation)
    operand, result = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
    starts, strides = view.start_indices, view.strides
    view.limit_indices = tuple(
        size if size == taken and start == 0 and stride == 1 else limit
        for size, taken, start, stride, limit in zip(
            operand, result, starts, strides, view.limit_indices, strict=True
        )
    )


def _factors_of_size_one(_: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of size 1, which may be sliced with any stride."""
    yield from (factor for factor, size in enumerate(rule.factor_sizes) if size == 1)


def _resized_at_end(operation: ir.Operation) -> list[bool]:
    """Return for each dimension whether it is only sliced at its end."""
    view = SliceView(operation)
    columns = zip(
        shape_of(operation.operands[0].type),
        shape_of(operation.results[0].type),
        view.start_indices,
        view.strides,
        strict=True,
    )
    return [size == taken or (start == 0 and stride == 1) for size, taken, start, stride in columns]


# --- Reversals ------------------------------------------------------------------------------------


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
    "stablehlo.slice": PartitionRecord(
        linearity=moving(0),
        linear_operands=first_operand,
        halo_form=slice_form,
        merge_slice=_merge_slice,
        local_form=fit_only(fit_slice),
        fit_sizes=fit_slice,
        unpaddable_factors=_factors_of_size_one,
        resized_at_end=_resized_at_end,
        work=taking_work,
    ),
    "stablehlo.reverse": PartitionRecord(
        linearity=moving(0),
        linear_operands=first_operand,
        halo_form=ReverseForm,
        local_form=retype_only,
        work=moving_work,
    ),
}
