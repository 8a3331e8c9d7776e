# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pads: windows of one element, some of which are padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.cost.op_work import moving_work
from pyshardy.irtools.stablehlo_views import PadView
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
    zero_fill,
)
from pyshardy.partition.local.arithmetic import fit_only
from pyshardy.partition.op_facts.record import (
    ContentShape,
    PaddingMask,
    PartitionRecord,
    SlicedOff,
)
from pyshardy.partition.op_facts.trailing_resize import does_nothing
from pyshardy.partition.partial.linear_operations import is_zero, moving
from pyshardy.partition.partial.reductions import factors_of, is_positive_zero
from pyshardy.partition.types.exchange_plan import Body
from pyshardy.sizes.size import Number

# --- Sharding -----------------------------------------------------------------------------------


def _padded_factors(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of dimensions with any padding, positive or negative."""
    for dim, of_dim in enumerate(zip(*PadView(operation).amounts, strict=True)):
        if any(of_dim):
            yield from factors_of(rule, 0, dim)


def _linear_operands(operation: ir.Operation) -> tuple[int, ...]:
    """Return the padded operand if the padding is zero."""
    return (0,) if is_zero(operation.operands[1]) else ()


# --- Halo exchange ------------------------------------------------------------------------------


def pad_form(operation: ir.Operation, rule: OpShardingRule) -> WindowedForm:
    """Return the exchange of a pad, also with negative padding."""
    amounts = PadView(operation).amounts
    operand, result = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
    padded = [dim for dim, of_dim in enumerate(zip(*amounts, strict=True)) if any(of_dim)]
    dim_of = {rule.operand_mappings[0].dim_mappings[dim].factor_indices[0]: dim for dim in padded}
    dims = {
        factor: WindowedDim(
            dim,
            operand[dim],
            Window(amounts[0][dim], dilation=amounts[2][dim] + 1),
            result[dim],
        )
        for factor, dim in dim_of.items()
    }

    def local_attributes(local_dims: Mapping[int, LocalDim]) -> FieldValues:
        low, high, interior = map(list, amounts)
        for factor, local in local_dims.items():
            dim = dim_of[factor]
            low[dim], high[dim], interior[dim] = local.low, local.high, local.dilation - 1
        return {
            PadView.edge_padding_low: low,
            PadView.edge_padding_high: high,
            PadView.interior_padding: interior,
        }

    # A device that receives nothing gets zeros, which need not be overwritten.
    fill = zero_fill if is_positive_zero(operation.operands[1]) else operand_fill(1)
    return _PadForm(operation, rule, dims, range(1), fill, local_attributes)


class _PadForm(WindowedForm):
    """A pad of the shard and, if the amounts differ between devices, a slice of the result."""

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build a pad by the largest amount of any device, and slice what the device needs."""
        shape, wanted = shape_of(body.values[0].type), list(shape_of(body.result_types[0]))
        for factor, device_axis in body.device_axes.items():
            windowed, num_shards = self.dims[factor], device_axis.num_shards
            is_even = windowed.size % num_shards == windowed.count % num_shards == 0
            if not is_even or not self.sends_nothing(factor, num_shards):
                return super().build(body)
        low, high, interior = map(list, PadView(self.operation).amounts)
        begins: dict[int, ir.Value] = {}
        for factor, device_axis in body.device_axes.items():
            window, dim = self.dims[factor].window, self.dims[factor].dim
            size, length = wanted[dim], (shape[dim] - 1) * window.dilation + 1
            # The position of the first element of a shard in its result.
            places = [
                shard * (shape[dim] * window.dilation - size) + window.low
                for shard in range(device_axis.num_shards)
            ]
            low[dim], high[dim] = max(places), size - length - min(places)
            if len(set(places)) > 1:
                low[dim], high[dim] = max(0, low[dim]), max(0, high[dim])
                begins[dim] = device_axis.by_shard([low[dim] - place for place in places])
        padded = [
            before + (size - 1) * (between + 1) + 1 + behind
            for before, size, between, behind in zip(low, shape, interior, high, strict=True)
        ]
        local = local_copy(
            self.operation,
            body,
            body.values,
            {PadView.edge_padding_low: low, PadView.edge_padding_high: high},
            (with_shape(body.result_types[0], tuple(padded)),),
        )
        value: ir.Value = local.results[0]
        if does_nothing(local):
            value = local.operands[0]
            local.erase()
        if begins:
            zero = body.builder.index(0)
            offsets = [begins.get(dim, zero) for dim in range(len(wanted))]
            value = body.builder.slice_within_bounds(value, offsets, wanted)
        return [value]


def _merge_slice(operation: ir.Operation, sliced_off: SlicedOff) -> FieldValues | None:
    """Return the padding of the operand of a preceding slice; None if it is between elements."""
    columns = zip(*PadView(operation).amounts, sliced_off.before, sliced_off.behind, strict=True)
    merged = [
        merged_padding((before, behind), between + 1, cuts)
        for before, behind, between, *cuts in columns
    ]
    edges = [each for each in merged if each is not None]
    if len(edges) < len(merged):
        return None
    return {
        PadView.edge_padding_low: [before for before, _ in edges],
        PadView.edge_padding_high: [behind for _, behind in edges],
    }


# --- Local form and padding ---------------------------------------------------------------------


def fit_pad(operation: ir.Operation) -> None:
    """Add the difference of the sizes to the padding at the end."""
    low, _, interior = PadView(operation).amounts
    columns = zip(
        shape_of(operation.operands[0].type),
        shape_of(operation.results[0].type),
        low,
        interior,
        strict=True,
    )
    high = [
        wanted - before - size - max(size - 1, 0) * between
        for size, wanted, before, between in columns
    ]
    PadView(operation).edge_padding_high = tuple(high)


def _masks(operation: ir.Operation, content_shape: ContentShape) -> Iterator[PaddingMask]:
    """Yield the dimensions of the operand that grow, with the padding value."""
    operand, result = content_shape(operation.operands[0]), content_shape(operation.results[0])
    sizes = enumerate(zip(operand, result, strict=True))
    grown = [dim for dim, (old, new) in sizes if not _is_at_least(old, new)]
    yield PaddingMask(0, grown, operation.operands[1])


def _is_at_least(old: Number, new: Number) -> bool:
    """Whether a size is known to be at least another one."""
    return old == new or (isinstance(old, int) and isinstance(new, int) and old > new)


def _resized_at_end(operation: ir.Operation) -> list[bool]:
    """Return for each dimension whether it is only padded at its end."""
    return [
        before == between == 0 and behind >= 0
        for before, behind, between in zip(*PadView(operation).amounts, strict=True)
    ]


# --- Record -------------------------------------------------------------------------------------


RECORDS = {
    "stablehlo.pad": PartitionRecord(
        blocked_factors=_padded_factors,
        linearity=moving(0, 1),
        linear_operands=_linear_operands,
        halo_form=pad_form,
        merge_slice=_merge_slice,
        local_form=fit_only(fit_pad),
        fit_sizes=fit_pad,
        padding_masks=_masks,
        resized_at_end=_resized_at_end,
        work=moving_work,
    )
}
