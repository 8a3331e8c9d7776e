# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reshapes between padded values that keep padding at the end."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, mesh_of, place_data_alike
from mlir_sdy.values import get_sharding
from pyshardy.irtools.tensor_types import padded_shape_of, shape_of
from pyshardy.partition.compatibility.reshape_groups import pads_alike


def reshapes_padding(reshape: ir.Operation, meshes: Mapping[str, Mesh]) -> bool:
    """Whether a reshape is valid between padded types, on each shard by itself.

    1. Shards of operand and result hold the same data, on one mesh.
    2. Their padding corresponds (see `pads_alike`).

    Example: on a mesh `<["x"=4]>`, `(6) -> (3, 2)` with `[{"x"}]` and `[{"x"}, {}]`. Both have
    shards of 2 elements; it becomes `(8) -> (4, 2)`.
    """
    operand, result = reshape.operands[0], reshape.results[0]
    source, target = get_sharding(operand), get_sharding(result)
    mesh = None if source is None else mesh_of(source, meshes)
    if source is None or target is None or mesh is None or mesh.is_maximal:
        return False
    before, after = shape_of(operand.type), shape_of(result.type)
    return place_data_alike(source, before, target, after, mesh) and pads_alike(
        before, padded_shape_of(operand, meshes), after, padded_shape_of(result, meshes)
    )
