# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Slices: windows of one element with a start and strides.

A slice of the full size of a dimension also has the full size in shards, and in padded tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.cost.op_work import taking_work
from pyshardy.irtools.stablehlo_views import FieldValues, SliceView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.halo.window import Window
from pyshardy.partition.halo.windowed import LocalDim, WindowedDim, WindowedForm, any_fill
from pyshardy.partition.local.conversions import fit_only
from pyshardy.partition.op_facts.record import PartitionRecord, SlicedOff
from pyshardy.partition.partial.linear_operations import first_operand, moving

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


# --- Record -------------------------------------------------------------------------------------


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
    )
}
