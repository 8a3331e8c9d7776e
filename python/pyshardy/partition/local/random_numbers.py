# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers on shards."""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, set_difference
from mlir_sdy.values import get_sharding
from mlir_sdy.verify.operations import bound_manual_axes
from pyshardy.partition.local.arithmetic import element_type_of, is_first, value_where
from pyshardy.partition.local.builder import LocalBuilder
from pyshardy.partition.local.registry import converts
from pyshardy.partition.monoids import is_boolean


@converts("stablehlo.rng", differing=True)
def convert_rng(operation: ir.Operation, builder: LocalBuilder) -> None:
    """Random numbers: each device makes those of its shard.

    1. The shape, which an operand tells, is that of the shard.
    2. Nothing says that devices make the same numbers. What several have to hold is made by the
       first of them, and an all-reduce hands it to the others.
    """
    result = operation.results[0]
    shape = ir.RankedTensorType(result.type).shape
    operation.operands[2] = builder.constant(np.array(shape, np.int64))
    sharding = get_sharding(result)
    given = None if sharding is None or sharding.is_fully_replicated else sharding
    meshes = [mesh for mesh in builder.meshes.values() if mesh.axes]
    if given is None and not meshes:
        return
    mesh = meshes[0] if given is None else builder.mesh_of(given)
    used = [] if given is None else [axis for axes in given.dim_axes for axis in axes]
    axes = _other_axes(mesh, used, {*bound_manual_axes(operation)})
    if mesh.axes_size(axes) == 1:
        return
    with ir.InsertionPoint.after(operation):
        first = is_first(builder, mesh, axes)
        masked = value_where(builder, first, result, "stablehlo.add")
        # Truth values have no sum on some devices.
        name = "or" if is_boolean(element_type_of(result)) else "add"
        handed = builder.all_reduce(masked, f"stablehlo.{name}", axes, mesh)
    result.replace_all_uses_except(handed, masked.owner.operation)


def _other_axes(mesh: Mesh, used: list[AxisRef], manual: set[str]) -> tuple[AxisRef, ...]:
    """The axes of a mesh, but for manual ones and what is used."""
    free = [AxisRef(name) for name in mesh.axis_names if name not in manual]
    return set_difference(free, used, mesh)
