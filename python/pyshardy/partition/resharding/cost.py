# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it costs to compute an operation on shards, in bytes that a device sends.

Work is turned into bytes by what a device can do while its links send one. Links differ by far
more than devices; these are those of fast networks between hosts, so that neither much work nor
much memory is spent on saving few bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from mlir_sdy.model import AxisTuple, Mesh
from mlir_sdy.model.communication import share_sent
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.resharding.plan import (
    AllGather,
    AllSlice,
    AllToAll,
    AxesPerDim,
    CollectivePermute,
    Step,
    plan_reshard,
)

OPERATIONS_PER_BYTE = 4096
"""Multiplications and additions that a device does while it sends a byte."""

ACCESSES_PER_BYTE = 64
"""Bytes that a device reads or writes in its memory while it sends a byte."""

BYTES_TO_START = 256
"""Bytes that a device could send while it waits for a collective to begin. Between hosts it is
more by far; but where whole tensors are that small, nobody counts."""


@dataclass(frozen=True, order=True, slots=True)
class Traffic:
    """What a device sends: the fewer bytes are less, and of as many those in fewer collectives.

    Attributes:
        sent: the bytes.
        collectives: in how many collectives.
    """

    sent: float = 0.0
    collectives: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.sent + other.sent, self.collectives + other.collectives)


def local_elements(shape: Shape, axes: AxesPerDim, mesh: Mesh) -> int:
    """The elements of a shard, padding included."""
    return math.prod(
        -(-size // mesh.axes_size(refs)) for size, refs in zip(shape, axes, strict=True)
    )


@lru_cache(maxsize=65536)
def reshard_traffic(
    shape: Shape, nbytes: int, source: AxesPerDim, target: AxesPerDim, mesh: Mesh
) -> tuple[float, int]:
    """The bytes that a device sends to reshard a tensor, and in how many collectives.

    Args:
        shape: the global shape.
        nbytes: the bytes of an element.
        source: the axes of each dimension before.
        target: the axes of each dimension afterwards.
        mesh: the mesh of both.

    Example: on a mesh `<["x"=2, "y"=4]>`, a `tensor<8x8xf32>` from `[{"x"}, {}]` to `[{}, {}]` is
    gathered from halves of 128 bytes: 128 bytes in one collective. From `[{"x"}, {}]` to
    `[{}, {"x"}]` half of them are sent: 64. Slices send nothing.
    """
    sent, count = 0.0, 0
    axes = source
    steps = plan_reshard(source, target, shape, mesh, reorder=False) if source != target else ()
    for step in steps:
        kind, group = _kind_and_group(step, mesh)
        if _moves_padding(shape, axes, step.result, mesh):
            # Such a dimension is gathered and sliced instead; see `padding.collectives`.
            ends = zip(axes, step.result, strict=True)
            kind, group = "all_gather", math.prod(mesh.axes_size(a) for a, b in ends if a != b)
        share = share_sent(kind, group)
        sent += nbytes * local_elements(shape, axes, mesh) * float(share)
        count += share > 0
        axes = step.result
    return sent, count


def reshard_cost(
    shape: Shape, nbytes: int, source: AxesPerDim, target: AxesPerDim, mesh: Mesh
) -> float:
    """The bytes that a device sends to reshard a tensor, and could send while it waits.

    See `reshard_traffic` for the arguments.
    """
    sent, count = reshard_traffic(shape, nbytes, source, target, mesh)
    return sent + count * BYTES_TO_START


def completion_cost(
    shape: Shape,
    nbytes: int,
    computed: AxesPerDim,
    reduced: AxisTuple,
    target: AxesPerDim,
    mesh: Mesh,
    addends: int = 1,
) -> float:
    """The bytes that a device sends to complete partial results and to reshard them, with waits.

    An all-reduce whose result is then sliced along the same axes is a reduce-scatter.

    Args:
        shape: the global shape of the result.
        nbytes: the bytes of an element.
        computed: the axes of each dimension where it is computed.
        reduced: the axes along which results are partial; none if they are complete.
        target: the axes of each dimension that are wanted.
        mesh: the mesh of all of them.
        addends: how many such results a loop adds up, with one all-reduce for all after it, unless
            they are resharded otherwise than by gathers. The cost is that for one of them.
    """
    if not reduced:
        return reshard_cost(shape, nbytes, computed, target, mesh)
    group = mesh.axes_size(reduced)
    put_in = nbytes * local_elements(shape, computed, mesh)
    steps = tuple(plan_reshard(computed, target, shape, mesh, reorder=False))
    first = next(iter(steps), None)
    if isinstance(first, AllSlice) and set(reduced) <= {ref for refs in first.axes for ref in refs}:
        scattered = collective_cost("reduce_scatter", group, put_in)
        return scattered + reshard_cost(shape, nbytes, first.result, target, mesh)
    completed = collective_cost("all_reduce", group, put_in)
    if all(isinstance(step, AllGather) for step in steps):
        completed /= addends
    return completed + reshard_cost(shape, nbytes, computed, target, mesh)


def collective_cost(kind: str, group: int, put_in: int) -> float:
    """The bytes that a device sends in a collective, and could send while it waits.

    Args:
        kind: the collective, such as `all_gather`.
        group: the number of devices that exchange data with each other.
        put_in: the bytes of its operand on a device.
    """
    sent = put_in * float(share_sent(kind, group))
    return sent + BYTES_TO_START if sent else 0.0


def work_cost(operations: int, accessed: int) -> float:
    """The work of a device, in bytes that it could send in that time.

    Args:
        operations: the multiplications and additions that it does.
        accessed: the bytes that it reads and writes.
    """
    return max(operations / OPERATIONS_PER_BYTE, accessed / ACCESSES_PER_BYTE)


def _moves_padding(shape: Shape, source: AxesPerDim, target: AxesPerDim, mesh: Mesh) -> bool:
    """Whether some dimension is sharded on both sides, but its padding is of another size."""
    for size, before, after in zip(shape, source, target, strict=True):
        if before and after and before != after:
            shards = [mesh.axes_size(axes) for axes in (before, after)]
            if len({-(-size // count) * count for count in shards}) > 1:
                return True
    return False


def _kind_and_group(step: Step, mesh: Mesh) -> tuple[str, int]:
    """The collective of a step, and how many devices exchange data with each other."""
    if isinstance(step, AllSlice):
        return "all_slice", 1
    if isinstance(step, AllGather):
        return "all_gather", math.prod(map(mesh.axes_size, step.axes))
    if isinstance(step, AllToAll):
        return "all_to_all", mesh.axes_size(step.param.axes)
    assert isinstance(step, CollectivePermute)
    return "collective_permute", mesh.total_size
