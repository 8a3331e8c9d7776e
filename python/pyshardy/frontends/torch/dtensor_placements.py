# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings as placements of DTensor, and placements as shardings.

A placement says for one dimension of a device mesh what a tensor is along it. Where several mesh
dimensions shard one tensor dimension, the first one is the major one, unless a `_StridedShard` says
how many shards the later ones, which are more major, have made before.

    on a mesh data=4, model=2:
    <@mesh, [{"model"}, {}]>           (Replicate(), Shard(0))
    <@mesh, [{"data", "model"}, {}]>   (Shard(0), Shard(0))
    <@mesh, [{"model", "data"}, {}]>   (_StridedShard(0, split_factor=2), Shard(0))
    <@mesh, [{}, {}], unreduced={"data"}>  (Partial("sum"), Replicate())
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import AxisRef, Mesh, TensorSharding
from pyshardy.frontends.meshes import DEFAULT_NAME

if TYPE_CHECKING:
    from torch.distributed.tensor.placement_types import Placement


def sharding_of_placements(
    placements: Sequence[Placement], mesh: Mesh, rank: int, name: str
) -> TensorSharding:
    """Return the sharding of a tensor from its placements.

    Args:
        placements: one for each axis of the mesh.
        mesh: the mesh dimensions, in the order of the placements.
        rank: the number of dimensions of the tensor.
        name: its name in diagnostics.

    Raises:
        UsageError: a placement can't be expressed.
    """
    dims: list[list[str]] = [[] for _ in range(rank)]
    unreduced: list[str] = []
    axes = list(zip(mesh.axes, placements, strict=True))
    for axis, placement in reversed(axes):
        if placement.is_partial():
            if str(getattr(placement, "reduce_op", "")) != "sum":
                message = f"'{name}' is {placement!r} along \"{axis.name}\": only sums of shards"
                raise UsageError(error(f"{message} can be expressed; redistribute it first"))
            unreduced.insert(0, axis.name)
        elif not placement.is_replicate():
            of_dim, outer = _dim_of(placement, name), getattr(placement, "split_factor", 1)
            place = _after_shards(dims[of_dim], outer, mesh)
            if place is None:
                message = (
                    f"'{name}' is {placement!r} along \"{axis.name}\", but the later mesh "
                    f"dimensions split its dimension {of_dim} by {dims[of_dim] or 'none of them'}"
                )
                raise UsageError(error(f"{message}, not into {outer} shards"))
            dims[of_dim].insert(place, axis.name)
    sharding = TensorSharding.from_axes(DEFAULT_NAME, [tuple(map(AxisRef, each)) for each in dims])
    return sharding.with_unreduced_axes(tuple(map(AxisRef, unreduced)))


def _dim_of(placement: Placement, name: str) -> int:
    dim = getattr(placement, "dim", None)
    if dim is None:
        message = f"'{name}' has the placement {placement!r}, which no sharding can express"
        raise UsageError(error(f"{message}; redistribute it first"))
    return dim


def _after_shards(axes: Sequence[str], count: int, mesh: Mesh) -> int | None:
    """Return how many leading axes make a number of shards, or None."""
    for place in range(len(axes) + 1):
        if math.prod(mesh.axis_size(name) for name in axes[:place]) == count:
            return place
    return None


def placements_of_sharding(
    sharding: TensorSharding | None, mesh: Mesh, shape: Sequence[int], name: str
) -> tuple[Placement, ...]:
    """Return the placements of a tensor from its sharding, one for each axis of the mesh.

    Args:
        sharding: the sharding; None if replicated.
        mesh: its mesh.
        shape: the shape of the tensor.
        name: its name in diagnostics.

    Raises:
        UsageError: the sharding uses a sub-axis; or it splits a dimension unevenly along several
            axes, which PyTorch does one after the other, with other shards.
    """
    from torch.distributed.tensor import Partial, Replicate, Shard  # noqa: PLC0415
    from torch.distributed.tensor.placement_types import _StridedShard  # noqa: PLC0415

    placements: dict[str, Any] = {axis.name: Replicate() for axis in mesh.axes}
    if sharding is None:
        return tuple(placements.values())
    for axis in (*sharding.all_axes(), *sharding.unreduced_axes):
        if axis.sub_axis_info is not None:
            message = f"'{name}' is sharded as {sharding} by the sub-axis {axis}"
            remedy = f'split "{axis.name}" into two axes in the mesh'
            raise UsageError(error(f"{message}, which placements can't express; {remedy}"))
    order = {axis.name: index for index, axis in enumerate(mesh.axes)}
    for dim, axes in enumerate(sharding.dim_axes):
        _check_even(sharding, mesh, shape, dim, name)
        for index, axis in enumerate(axes):
            later = [one for one in axes[:index] if order[one.name] > order[axis.name]]
            outer = mesh.axes_size(later)
            shard = _StridedShard(dim, split_factor=outer) if outer > 1 else Shard(dim)
            placements[axis.name] = shard
    for axis in sharding.unreduced_axes:
        placements[axis.name] = Partial("sum")
    return tuple(placements.values())


def _check_even(
    sharding: TensorSharding, mesh: Mesh, shape: Sequence[int], dim: int, name: str
) -> None:
    axes = [axis for axis in sharding.dim_axes[dim] if axis.size(mesh) > 1]
    count = mesh.axes_size(axes)
    if len(axes) > 1 and shape[dim] % count:
        message = (
            f"'{name}' is sharded as {sharding}: dimension {dim} of size {shape[dim]} is not "
            f"divisible by {count}, and PyTorch splits it by one axis after the other"
        )
        raise UsageError(error(f"{message}; pad the dimension, or shard it along one axis"))
