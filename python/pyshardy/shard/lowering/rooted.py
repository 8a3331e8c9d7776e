# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives with a root."""

from __future__ import annotations

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import index_list, integer
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.shard.errors import cannot_lower
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.lowering.device_values import Known
from pyshardy.shard.lowering.registry import lowers


@lowers("shard.broadcast")
def lower_broadcast(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Gather the tensors of all members along a new dimension, and select that of the root.

    StableHLO has a broadcast, but neither XLA on CPU nor IREE supports it.
    """
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    if not axes:
        return value
    shape = list(shape_of(value.type))
    everybody = builder.all_gather(builder.reshape(value, [1, *shape]), 0, refs, mesh)
    chosen = builder.piece(everybody, 0, root_index(operation, builder), 1)
    return builder.reshape(chosen, shape)


@lowers("shard.scatter")
def lower_scatter(operation: ir.Operation, builder: GridBuilder) -> ir.Value:
    """Build an all-to-all of all members' tensors, and select the part of the root."""
    _, axes, mesh, refs = builder.place(operation)
    value = operation.operands[0]
    if not axes:
        return value
    dim = integer(operation, "scatter_dim")
    shards = builder.all_to_all(value, dim, dim, refs, mesh)
    size = ir.RankedTensorType(operation.results[0].type).shape[dim]
    return builder.piece(shards, dim, root_index(operation, builder), size)


def root_index(operation: ir.Operation, builder: GridBuilder) -> Known:
    """Return the index of the root in its group.

    A root that is only known at run time must not be out of range.
    """
    grid, axes, *_ = builder.place(operation)
    coordinates = index_list(operation, "root", 1)
    index: Known | None = None
    for axis, coordinate in zip(axes, coordinates, strict=True):
        known = builder.device_values.known(coordinate)
        if known is None:
            reason = "the root must be computed from constants and indices of devices, or taken "
            reason += "from an integer tensor of rank 0 by 'tensor.extract'"
            raise cannot_lower(operation, reason)
        size = grid.shape[axis]
        if isinstance(known, np.ndarray) and not ((known >= 0) & (known < size)).all():
            reason = f"a coordinate of the root is out of range along axis {axis}"
            raise cannot_lower(operation, reason)
        index = known if index is None else _appended(index, size, known, builder)
    assert index is not None, "a collective with a root has axes"
    return index


def _appended(index: Known, size: int, coordinate: Known, builder: GridBuilder) -> Known:
    """Return the index extended by an axis: `index * size + coordinate`."""
    if isinstance(index, np.ndarray) and isinstance(coordinate, np.ndarray):
        return index * size + coordinate
    scaled = builder.binary("multiply", builder.scalar(index), builder.index(size))
    return builder.binary("add", scaled, builder.scalar(coordinate))
