# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scatters on shards."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, OpShardingRule, TensorSharding
from pyshardy.cost.op_work import SizedOperation, counted_work
from pyshardy.irtools.stablehlo_views import ScatterView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.function_context import sharding_of
from pyshardy.partition.local.arithmetic import (
    Component,
    Indices,
    indices_into_shard,
    is_first,
    value_where,
)
from pyshardy.partition.local.completing import all_reduce_product
from pyshardy.partition.op_facts.record import Neutral, PartitionRecord
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.op_facts.scatter_windows import single_element_dims, window_dims
from pyshardy.partition.partial.reductions import (
    completion_by_body,
    completion_of,
    counts_any_number_of_times,
    factors_of,
)
from pyshardy.partition.types.local_builder import LocalBuilder, axes_of
from pyshardy.partition.types.neutral_elements import neutral_element

# --- Sharding -----------------------------------------------------------------------------------


def _scatter_rule(operation: ir.Operation, rule: OpShardingRule) -> OpShardingRule:
    """Return a rule by which each device applies the updates of single elements in its shard.

    Example:
        "stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [0, 1], scatter_dims_to_operand_dims = [0]>}> ({
        ^bb0(%x: tensor<f32>, %y: tensor<f32>):
          stablehlo.return %y : tensor<f32>
        }) : (tensor<8x4xf32>, tensor<1xi32>, tensor<1x4xf32>) -> tensor<8x4xf32>
        // ([i, k], [l], [j, k])->([i, k]) {i=8, j=1, k=4, l=1} need_replication={j, l}
    """
    dims = rule.operand_mappings[0].dim_mappings
    single = {
        factor for dim in single_element_dims(operation) for factor in dims[dim].factor_indices
    }
    needed = tuple(each for each in rule.need_replication_factors if each not in single)
    return replace(rule, need_replication_factors=needed)


def _factors_of_indexed_windows(operation: ir.Operation, rule: OpShardingRule) -> Iterator[int]:
    """Yield the factors of window dimensions of more than one element that have indices.

    Windows that extend beyond the end are skipped; a gather moves them back instead.
    """
    numbers = ScatterView(operation).scatter_dimension_numbers
    indexed = {*numbers.scattered_dims_to_operand_dims} - {*numbers.inserted_window_dims}
    for dim in indexed - single_element_dims(operation).keys():
        yield from factors_of(rule, 0, dim)


# --- The local form -----------------------------------------------------------------------------


def convert_scatter(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Convert a scatter: a device applies the updates of its shard.

    1. Along sharded dimensions of the inputs that updates lack, or have one element of, indices are
       relative to the start of the shard. Updates out of bounds are skipped, as they are for a
       global tensor.
    2. If such a dimension has no indices, all updates go to the first shard: others are unchanged.
    3. Where devices have different updates to the same inputs, only the first device begins with
       these, others with neutral elements. An all-reduce after the operation, or here, completes
       the result. If it doesn't depend on how often inputs are combined, all begin with them.
    4. A single update with indices into a shard is applied to inputs after an optimization barrier:
       XLA rewrites it to a dynamic slice and its update, and merges these with slices that define
       the inputs even if indices are out of bounds.
    """
    count = len(operation.results)
    numbers = ScatterView(operation).scatter_dimension_numbers
    of_inputs = sharding_of(operation.operands[0])
    of_updates = sharding_of(operation.operands[count + 1])
    given = [each for each in (of_inputs, of_updates) if each and not each.is_fully_replicated]
    if not given:
        return
    mesh = builder.mesh_of(given[0])
    spread = _axes_of_batches(of_updates, numbers)
    if spread:
        _begin_once(operation, spread, mesh, builder)
    inserted_dims: list[int] = [
        *numbers.inserted_window_dims,
        *_single_element_dims(operation, of_inputs, of_updates),
    ]
    inserted = {dim: axes_of(of_inputs, dim) for dim in inserted_dims if axes_of(of_inputs, dim)}
    indexed: list[int] = list(numbers.scattered_dims_to_operand_dims)
    if not inserted.keys().isdisjoint(indexed):
        sizes = shape_of(operation.operands[0].type)
        components = [_component(sizes[dim], inserted.get(dim, ()), mesh) for dim in indexed]
        indices = Indices(operation.operands[count], numbers.index_vector_dim)
        if _is_single(operation.operands[count], len(indexed)):
            inputs = [operation.operands[index] for index in range(count)]
            for index, value in enumerate(builder.optimization_barrier(inputs)):
                operation.operands[index] = value
        operation.operands[count] = indices_into_shard(indices, components, mesh, builder).value
    fixed = [axis for dim, axes in inserted.items() if dim not in indexed for axis in axes]
    if fixed:
        _keep_others(operation, fixed, mesh, builder)


def _single_element_dims(
    operation: ir.Operation, of_inputs: TensorSharding | None, of_updates: TensorSharding | None
) -> list[int]:
    """Return the sharded dimensions along which windows are single elements.

    Windows as large as the dimension are sharded as the dimension.
    """
    return [
        dim
        for dim, window in window_dims(operation).items()
        if axes_of(of_inputs, dim) and not axes_of(of_updates, window)
    ]


def _component(shard_size: int, axes: tuple[AxisRef, ...], mesh: Mesh) -> Component:
    """Return the component of a dimension; indices out of bounds stay out of bounds.

    Otherwise, windows that begin out of bounds could be moved into the tensor.
    """
    size = shard_size * mesh.axes_size(axes)
    return Component(axes, shard_size, -1 if axes else None, size)


def _is_single(indices: ir.Value, components: int) -> bool:
    """Whether the indices are those of a single update."""
    return math.prod(ir.RankedTensorType(indices.type).shape) == components


def _axes_of_batches(sharding: TensorSharding | None, numbers: Any) -> list[AxisRef]:
    """Return the axes along which devices have different updates to the same inputs."""
    if sharding is None:
        return []
    batch_dims = [dim for dim in range(sharding.rank) if dim not in numbers.update_window_dims]
    indices_dims: list[int] = [
        dim for dim in range(len(batch_dims) + 1) if dim != numbers.index_vector_dim
    ]
    return [
        axis
        for dim, indices_dim in zip(batch_dims, indices_dims, strict=False)
        if indices_dim not in numbers.scatter_indices_batching_dims
        for axis in sharding.dim_axes[dim]
    ]


def _begin_once(
    operation: ir.Operation, axes: list[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> None:
    names = combining_operations(operation.regions[0].blocks[0])
    completion = completion_of(operation)
    assert names is not None, "batches of other scatters are not sharded"
    assert completion is not None, "a body of one operation can be completed"
    for index, name in enumerate(names):
        value = operation.operands[index]
        if not counts_any_number_of_times(value, name):
            first = is_first(builder, mesh, axes)
            operation.operands[index] = value_where(builder, first, value, name)
    if completion.is_local:
        all_reduce_product(operation, axes, mesh, builder)


def _keep_others(
    operation: ir.Operation, axes: list[AxisRef], mesh: Mesh, builder: LocalBuilder
) -> None:
    """Keep the inputs unchanged on all devices but the first along some axes."""
    first = is_first(builder, mesh, axes)
    for index, result in enumerate(operation.results):
        with ir.InsertionPoint.after(operation):
            kept = builder.select(first, result, operation.operands[index])
        result.replace_all_uses_except(kept, kept.owner.operation)


# --- Padding and work ---------------------------------------------------------------------------


def _padding_values(operation: ir.Operation) -> dict[int, Neutral] | None:
    """Return the identity of the operation in the body, for the updates."""
    names = combining_operations(operation.regions[0].blocks[0])
    values: dict[int, Neutral] = {}
    for index, name in enumerate(names or ()):
        element_type = ir.RankedTensorType(operation.results[index].type).element_type
        identity = neutral_element(name, element_type)
        if identity is None:
            return None
        values[len(operation.results) + 1 + index] = identity
    return values


def _num_operations(sized: SizedOperation) -> int:
    """Return 1 for each element of an update."""
    return sized.operands[-1].elements


# --- Record -------------------------------------------------------------------------------------


RECORDS = {
    "stablehlo.scatter": PartitionRecord(
        rule_on_shards=_scatter_rule,
        blocked_factors=_factors_of_indexed_windows,
        completion=completion_by_body,
        local_form=convert_scatter,
        neutral_values=_padding_values,
        work=counted_work(_num_operations),
    )
}
