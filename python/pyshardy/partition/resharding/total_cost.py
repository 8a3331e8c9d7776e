# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost of the communication of a program whose reshards are collectives."""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.functions import has_static_shape
from pyshardy.irtools.loops import trip_count
from pyshardy.irtools.tensor_types import shard_bytes
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.partial.completion import COMPLETING, reduced_axes
from pyshardy.partition.resharding.cost import (
    Reshard,
    collective_cost,
    reshard_cost,
)

_MOVING = frozenset({"sdy.all_gather", "sdy.all_slice", "sdy.all_to_all", "sdy.collective_permute"})
_WHILE = "stablehlo.while"

_TRIPS_IF_UNKNOWN = 8
"""The assumed number of iterations of a loop whose iterations can't be counted."""


def total_cost(module: ir.Module, hardware: Hardware) -> float:
    """Return the seconds of all collectives: transfer and latency.

    1. Each collective of the dialect has its cost by `cost`.
    2. One in a loop counts once for each iteration: `_TRIPS_IF_UNKNOWN` times if these can't be
       counted.
    3. One in a function counts once, and one in a branch too.

    Example: an all-reduce over 2 devices of a `tensor<64xf32>` in a loop of 3 iterations costs
      three times the transfer of 256 bytes, and the latency of each.

    Args:
        module: the module.
        hardware: the devices and links.
    """
    meshes = meshes_of(module)
    collectives = operations_named(COMPLETING | _MOVING, module)
    return sum(_cost(each, meshes, hardware) * _repetitions(each) for each in collectives)


def _cost(collective: ir.Operation, meshes: Mapping[str, Mesh], hardware: Hardware) -> float:
    value, result = collective.operands[0], collective.results[0]
    target = get_sharding(result)
    mesh = None if target is None else mesh_of(target, meshes)
    if target is None or mesh is None or mesh.is_maximal:
        return 0
    source = get_sharding(value) or target.fully_closed_like()
    if not has_static_shape(value.type):
        return 0
    if collective.name in COMPLETING:
        put_in = shard_bytes(value.type, source.dim_axes, mesh)
        kind, axes = collective.name.removeprefix("sdy."), reduced_axes(collective, meshes)
        return collective_cost(kind, axes, put_in, mesh, hardware)
    if mesh_of(source, meshes) != mesh:
        return 0
    return reshard_cost(Reshard.of(value, source.dim_axes, target.dim_axes, mesh), hardware)


def _repetitions(operation: ir.Operation) -> int:
    """Return the number of executions of an operation in a run of its function."""
    times = 1
    parent = operation.parent
    while parent is not None and parent.operation.name != "func.func":
        if parent.operation.name == _WHILE:
            trips = trip_count(parent.operation)
            times *= _TRIPS_IF_UNKNOWN if trips is None else trips
        parent = parent.operation.parent
    return times
