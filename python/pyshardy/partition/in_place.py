# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pads and slices that leave each element where it is."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, mesh_of
from mlir_sdy.values import get_sharding
from pyshardy.partition.padding.shapes import shape_of


def factors_in_place(
    operation: ir.Operation, rule: OpShardingRule, meshes: Mapping[str, Mesh]
) -> frozenset[int]:
    """The factors of dimensions that grow or shrink at their end, without any move.

    1. The operation is a slice that begins at 0 and leaves nothing out before its end, or a pad
       behind the last element.
    2. Shards have the same size before and after.

    Example: `stablehlo.slice %0 [0:7] : (tensor<8xf32>) -> tensor<7xf32>` on 4 devices. Shards have
    2 elements; of the last one, the second becomes padding.
    """
    result = operation.results[0] if len(operation.results) == 1 else None
    sharding = None if result is None else get_sharding(result)
    mesh = None if sharding is None else mesh_of(sharding, meshes)
    if result is None or sharding is None or mesh is None or mesh.is_maximal:
        return frozenset()
    if operation.name not in _RESIZED_AT_END:
        return frozenset()
    columns = zip(
        rule.result_mappings[0].dim_mappings,
        _resized_at_end(operation),
        sharding.local_shape(shape_of(operation.operands[0].type), mesh),
        sharding.local_shape(shape_of(result.type), mesh),
        strict=True,
    )
    return frozenset(
        factor
        for mapping, is_at_end, before, after in columns
        if is_at_end and before == after
        for factor in mapping.factor_indices
    )


_RESIZED_AT_END = frozenset({"stablehlo.pad", "stablehlo.slice"})


def _resized_at_end(operation: ir.Operation) -> list[bool]:
    """Whether a dimension is cut or padded at its end only, for each dimension."""
    attributes = operation.attributes
    if operation.name == "stablehlo.slice":
        names, wanted = ("start_indices", "strides"), (0, 1)
        return [each == wanted for each in zip(*(attributes[name] for name in names), strict=True)]
    low, high, interior = (
        attributes[name] for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    )
    return [
        before == between == 0 and behind >= 0
        for before, behind, between in zip(low, high, interior, strict=True)
    ]
