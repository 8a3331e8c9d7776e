# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of reshards and of collectives on some hardware."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, Shape
from mlir_sdy.model.hashing import HashSlot, hash_once
from pyshardy.cost.collectives import PlannedCollective, Traffic, traffic_of
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import element_bytes, padded_size, shape_of, shard_elements
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
