# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cost of an operation on shards, in bytes that a device sends.

Computation is converted to bytes by the work of a device in the time in which its links send one.
Links differ by far more than devices; the constants are for fast networks between hosts, so that
neither much computation nor much memory is spent to save few bytes.
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
"""Multiplications and additions of a device in the time in which it sends a byte."""

ACCESSES_PER_BYTE = 64
"""Bytes that a device reads or writes in its memory in the time in which it sends a byte."""

BYTES_TO_START = 256
"""The latency of a collective, in bytes that a device could send meanwhile.

Between hosts, the latency is much larger; but for tensors that small, it hardly matters.
"""


@dataclass(frozen=True, order=True, slots=True)
class Traffic:
    """The communication of a device, compared by bytes, then by the number of collectives.

    Attributes:
        sent: the bytes that it sends.
        collectives: the number of collectives.
    """

    sent: float = 0.0
    collectives: int = 0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(self.sent + other.sent, self.collectives + other.collectives)


def local_elements(shape: Shape, axes: AxesPerDim, mesh: Mesh) -> int:
    """Return the number of elements of a shard, padding included."""
    return math.prod(
        -(-size // mesh.axes_size(refs)) for size, refs in zip(shape, axes, strict=True)
    )


@lru_cache(maxsize=65536)
def reshard_traffic(
    shape: Shape, nbytes: int, source: AxesPerDim, target: AxesPerDim, mesh: Mesh
) -> tuple[float, int]:
    """Return the bytes that a device sends to reshard a tensor, and the number of collectives.

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
    """Return the cost of resharding a tensor, in bytes: communication and latency.

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
    """Return the cost of completing partial results and of resharding them, in bytes.

    An all-reduce whose result is then sliced along the same axes is a reduce-scatter.

    Args:
        shape: the global shape of the result.
        nbytes: the bytes of an element.
        computed: the axes of each dimension in which it is computed.
        reduced: the axes along which results are partial; none if they are complete.
        target: the axes of each dimension afterwards.
        mesh: the mesh of all of them.
        addends: the number of such results that a loop accumulates, with one all-reduce for all
            after it, unless they are resharded otherwise than by gathers. The cost is that for one
            of them.
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
    """Return the cost of a collective, in bytes: communication and latency.

    Args:
        kind: the collective, such as `all_gather`.
        group: the number of devices that exchange data with each other.
        put_in: the bytes of its operand on a device.
    """
    sent = put_in * float(share_sent(kind, group))
    return sent + BYTES_TO_START if sent else 0.0


def work_cost(operations: int, accessed: int) -> float:
    """Return the cost of computation, in bytes that a device could send in that time.

    Args:
        operations: the number of multiplications and additions.
        accessed: the bytes that are read and written.
    """
    return max(operations / OPERATIONS_PER_BYTE, accessed / ACCESSES_PER_BYTE)


def _moves_padding(shape: Shape, source: AxesPerDim, target: AxesPerDim, mesh: Mesh) -> bool:
    """Whether a dimension is sharded on both sides, but padded to different sizes."""
    for size, before, after in zip(shape, source, target, strict=True):
        if before and after and before != after:
            shards = [mesh.axes_size(axes) for axes in (before, after)]
            if len({-(-size // count) * count for count in shards}) > 1:
                return True
    return False


def _kind_and_group(step: Step, mesh: Mesh) -> tuple[str, int]:
    """Return the kind of collective of a step, and the size of its groups."""
    if isinstance(step, AllSlice):
        return "all_slice", 1
    if isinstance(step, AllGather):
        return "all_gather", math.prod(map(mesh.axes_size, step.axes))
    if isinstance(step, AllToAll):
        return "all_to_all", mesh.axes_size(step.param.axes)
    assert isinstance(step, CollectivePermute)
    return "collective_permute", mesh.total_size
