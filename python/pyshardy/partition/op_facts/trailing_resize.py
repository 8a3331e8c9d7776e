# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pads and slices that keep the position of each element."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, mesh_of
from mlir_sdy.values import get_sharding, look_through_barriers
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.record import record_of


def factors_in_place(
    operation: ir.Operation, rule: OpShardingRule, meshes: Mapping[str, Mesh]
) -> frozenset[int]:
    """Return the factors of dimensions that grow or shrink at their end, without communication.

    1. The operation is a slice that begins at 0 with stride 1, or a pad after the last element.
    2. Operand and result are sharded alike, and their shards have the same size.

    Example: `stablehlo.slice %0 [0:7] : (tensor<8xf32>) -> tensor<7xf32>` on 4 devices. Shards have
      2 elements; the second one of the last shard becomes padding.
    """
    resized_at_end = record_of(operation.name).resized_at_end
    if resized_at_end is None:
        return frozenset()
    operand, result = operation.operands[0], operation.results[0]
    before, sharding = get_sharding(look_through_barriers(operand)), get_sharding(result)
    if before is None or sharding is None or before.dim_axes != sharding.dim_axes:
        return frozenset()
    mesh = mesh_of(sharding, meshes)
    if mesh is None or mesh.is_maximal:
        return frozenset()
    columns = zip(
        rule.result_mappings[0].dim_mappings,
        resized_at_end(operation),
        sharding.local_shape(shape_of(operand.type), mesh),
        sharding.local_shape(shape_of(result.type), mesh),
        strict=True,
    )
    return frozenset(
        factor
        for mapping, is_at_end, old_size, new_size in columns
        if is_at_end and old_size == new_size
        for factor in mapping.factor_indices
    )


def does_nothing(operation: ir.Operation) -> bool:
    """Whether an operation is a pad or a slice that has become as large as its operand.

    Example: `stablehlo.slice %0 [0:8] : (tensor<8xf32>) -> tensor<8xf32>`.
    """
    resized_at_end = record_of(operation.name).resized_at_end
    if resized_at_end is None or operation.operands[0].type != operation.results[0].type:
        return False
    return all(resized_at_end(operation))


REMOVED_BY = {
    "sdy.data_flow_edge": "sdy-sink-data-flow-edges",
    "sdy.func_data_flow_edge": "sdy-sink-func-data-flow-edges",
    "sdy.reshard": "sdy-reshard-to-collectives",
    "sdy.sharding_constraint": "sdy-sharding-constraint-to-reshard",
}
"""The pass that replaces an operation."""


def is_left(name: str) -> str:
    """Return the rest of an error message that begins with the name of a remaining operation."""
    return f"is left: run '{REMOVED_BY[name]}' first"
