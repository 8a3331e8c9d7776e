# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives of arbitrary groups by an all-gather along axes of a grid.

    groups [2, 0] and [3, 1] of a grid of 2x2: all of an axis, but in another order

1. Each device gathers along the axes along which any two members of a group differ.
2. It selects the tensors of its group's members, in their order, by a table.
3. It applies the collective to them.

This sends more than the collective if the groups are smaller than the gathered axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from mlir_sdy.host import ir
from mlir_sdy.shard import building
from pyshardy.irtools.stablehlo_views import AllGatherView, AllToAllView, ReduceScatterView
from pyshardy.irtools.tensor_types import element_type_of, shape_of
from pyshardy.local_program.process_groups import Groups
from pyshardy.shard.lowering.builder import GridBuilder
from pyshardy.shard.strides import axes_apart


def held_by(
    value: ir.Value, members: Sequence[Sequence[int]], name: str, builder: GridBuilder
) -> list[ir.Value]:
    """Return the tensors of the devices that each device lists; all lists have one length.

    Args:
        value: the device's own tensor.
        members: the devices, for each device.
        name: the grid.
        builder: the builder of StableHLO on the grid.
    """
    grid = builder.grids[name]
    pairs = [(member, device) for device, each in enumerate(members) for member in each]
    axes = axes_apart(pairs, grid)
    if not axes:
        return [value] * len(members[0])
    shape = list(shape_of(value.type))
    every = building.all_gather(builder.reshape(value, [1, *shape]), name, 0, grid_axes=axes)
    found: list[ir.Value] = []
    for column in zip(*members, strict=True):
        places = [grid.index_in_group(grid.coordinates(member), axes) for member in column]
        piece = builder.piece(every, 0, np.array(places, np.int64), 1)
        found.append(builder.reshape(piece, shape))
    return found


def by_gathering(
    operation: ir.Operation, groups: Groups, name: str, builder: GridBuilder
) -> list[ir.Value]:
    """Return the replacement of a collective with arbitrary groups.

    Args:
        operation: an all-gather, an all-reduce, a reduce-scatter or an all-to-all.
        groups: its groups, which are equally large and hold all devices.
        name: the grid.
        builder: the builder of StableHLO on the grid.
    """
    group_of = {device: group for group in groups for device in group}
    members = [group_of[device] for device in range(builder.grids[name].size)]
    own = np.array([group.index(device) for device, group in enumerate(members)], np.int64)
    results: list[ir.Value] = []
    for operand, result in zip(operation.operands, operation.results, strict=True):
        value = builder.convert(operand, element_type_of(result.type))
        held = held_by(value, members, name, builder)
        results.append(_combined(operation, held, own, builder))
    return results


def _combined(
    operation: ir.Operation, held: Sequence[ir.Value], own: np.ndarray, builder: GridBuilder
) -> ir.Value:
    """Return the result of a collective from the tensors of all members."""
    if operation.name == "stablehlo.all_gather":
        return _joined(held, AllGatherView(operation).all_gather_dim, builder)
    if operation.name == "stablehlo.all_to_all":
        view, count = AllToAllView(operation), len(held)
        split = view.split_dimension
        size = ir.RankedTensorType(held[0].type).shape[split] // count
        shards = [builder.piece(value, split, own, size) for value in held]
        return _joined(shards, view.concat_dimension, builder)
    combine = operation.regions[0].blocks[0].operations[0].operation.name
    combine = combine.removeprefix("stablehlo.")
    total = reduce(lambda one, other: builder.binary(combine, one, other), held)
    if operation.name == "stablehlo.all_reduce":
        return total
    dim = ReduceScatterView(operation).scatter_dimension
    size = ir.RankedTensorType(total.type).shape[dim] // len(held)
    return builder.piece(total, dim, own, size)


def _joined(values: Sequence[ir.Value], dim: int, builder: GridBuilder) -> ir.Value:
    """Concatenate tensors along a dimension."""
    return builder.concatenate(values, dim)
