# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of reshards, of collectives and of a program on given hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, Shape, mesh_of
from mlir_sdy.model.hashing import HashSlot, hash_once
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import get_sharding
from pyshardy.cost.collectives import PlannedCollective, Traffic, traffic_of
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.functions import has_static_shape
from pyshardy.irtools.loops import trip_count
from pyshardy.irtools.tensor_types import (
    element_bytes,
    padded_size,
    shape_of,
    shard_bytes,
    shard_elements,
)
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.partial.completion import COMPLETING, reduced_axes
from pyshardy.partition.resharding.plan import plan_reshard
from pyshardy.partition.types.steps import (
    AllGather,
    AllSlice,
    AllToAll,
    AxesPerDim,
    CollectivePermute,
    ReshardStep,
)


def elements_padded_for(shape: Shape, axes: AxesPerDim, others: AxesPerDim, mesh: Mesh) -> int:
    """Return the elements of a shard whose unsharded dimensions are padded for a step of a reshard.

    Example: 5 unsharded elements that are to be sliced into 2 shards are padded to 6.

    Args:
        shape: the global shape.
        axes: the axes of each dimension.
        others: those at the other end of the step.
        mesh: the mesh.
    """
    padded = tuple(
        padded_size(size, mesh.axes_size(other)) if other and not own else size
        for size, own, other in zip(shape, axes, others, strict=True)
    )
    return shard_elements(padded, axes, mesh)


@hash_once
@dataclass(frozen=True, slots=True)
class Reshard(HashSlot):
    """A reshard of a tensor on one mesh.

    Attributes:
        shape: the global shape.
        nbytes: the bytes of an element.
        source: the axes of each dimension before.
        target: the axes of each dimension afterwards.
        mesh: the mesh of both.
    """

    shape: Shape
    nbytes: int
    source: AxesPerDim
    target: AxesPerDim
    mesh: Mesh

    @classmethod
    def of(cls, value: ir.Value, source: AxesPerDim, target: AxesPerDim, mesh: Mesh) -> Reshard:
        """Return the reshard of a value."""
        return cls(shape_of(value.type), element_bytes(value.type), source, target, mesh)

    def plan(self) -> tuple[ReshardStep, ...]:
        """Return the steps of the reshard; none if nothing changes."""
        if self.source == self.target:
            return ()
        return plan_reshard(self.source, self.target, self.shape, self.mesh, reorder=False)


@lru_cache(maxsize=65536)
def reshard_collectives(reshard: Reshard) -> tuple[PlannedCollective, ...]:
    """Return the collectives of a reshard, without slices, which send nothing.

    Example: on a mesh `<["x"=2, "y"=4]>`, a `tensor<8x8xf32>` from `[{"x"}, {}]` to `[{}, {}]` is
    gathered from halves of 128 bytes: 128 bytes in one collective. From `[{"x"}, {}]` to
    `[{}, {"x"}]` half of them are sent: 64.
    """
    shape, mesh = reshard.shape, reshard.mesh
    found: list[PlannedCollective] = []
    axes = reshard.source
    for step in reshard.plan():
        kind, refs = _kind_and_axes(step, axes)
        if _moves_padding(shape, axes, step.result, mesh):
            # Such a dimension is gathered and sliced instead; see `padding.collectives`.
            ends = zip(axes, step.result, strict=True)
            kind, refs = "all_gather", [ref for a, b in ends if a != b for ref in a]
        if kind != "all_slice":
            elements = shard_elements(shape, axes, mesh)
            if kind == "all_to_all":
                elements = elements_padded_for(shape, axes, step.result, mesh)
            planned = PlannedCollective.along(kind, refs, reshard.nbytes * elements, mesh)
            if planned.group_size > 1:
                found.append(planned)
        axes = step.result
    return tuple(found)


def reshard_bytes(reshard: Reshard) -> float:
    """Return the bytes that a device sends for a reshard."""
    return sum(each.sent for each in reshard_collectives(reshard))


@lru_cache(maxsize=65536)
def reshard_traffic(reshard: Reshard, hardware: Hardware) -> Traffic:
    """Return the communication time of a reshard."""
    return traffic_of(reshard_collectives(reshard), hardware)


def reshard_cost(reshard: Reshard, hardware: Hardware) -> float:
    """Return the seconds of a reshard: transfer and latency."""
    return reshard_traffic(reshard, hardware).seconds


def collective_cost(
    kind: str, axes: Sequence[AxisRef], put_in: int, mesh: Mesh, hardware: Hardware
) -> float:
    """Return the seconds of a collective: transfer and latency; none if its operand is empty.

    Args:
        kind: the collective, such as `all_gather`.
        axes: the axes along which devices exchange data.
        put_in: the bytes of its operand on a device.
        mesh: the mesh of the axes.
        hardware: the devices and links.
    """
    if not put_in:
        return 0.0
    return PlannedCollective.along(kind, axes, put_in, mesh).traffic(hardware).seconds


def _moves_padding(shape: Shape, source: AxesPerDim, target: AxesPerDim, mesh: Mesh) -> bool:
    """Whether a dimension is sharded on both sides, but padded to different sizes."""
    for size, before, after in zip(shape, source, target, strict=True):
        if before and after and before != after:
            shards = [mesh.axes_size(axes) for axes in (before, after)]
            if len({padded_size(size, count) for count in shards}) > 1:
                return True
    return False


def _kind_and_axes(step: ReshardStep, before: AxesPerDim) -> tuple[str, Sequence[AxisRef]]:
    """Return the kind of collective of a step, and the axes along which devices exchange data."""
    if isinstance(step, AllSlice):
        return "all_slice", ()
    if isinstance(step, AllGather):
        return "all_gather", [ref for refs in step.axes for ref in refs]
    if isinstance(step, AllToAll):
        return "all_to_all", step.param.axes
    assert isinstance(step, CollectivePermute)
    ends = zip(before, step.result, strict=True)
    return "collective_permute", [ref for a, b in ends if a != b for ref in (*a, *b)]


# --- The cost of a program ------------------------------------------------------------------------


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
