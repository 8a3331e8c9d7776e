# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of shardings to another mesh of the same devices."""

from __future__ import annotations

from functools import lru_cache

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.axis_lists import AxisTuple, add_or_merge
from mlir_sdy.model.devices import sizes_and_widths
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.sharding import TensorSharding


@lru_cache(maxsize=1024)
def sharding_on(
    sharding: TensorSharding, mesh: Mesh, other: Mesh, mesh_or_ref: str | Mesh
) -> TensorSharding | None:
    """Return the sharding on another mesh by which each device holds the same part of a tensor.

    Only dimensions are converted: the result has neither replicated nor unreduced axes.

    Args:
        sharding: the sharding.
        mesh: its mesh.
        other: the target mesh, which orders the devices in the same way.
        mesh_or_ref: the mesh or mesh name of the result.

    Returns:
        The sharding; None if the axes of the other mesh, and parts of them, can't express it.

    Example: on `<["x"=4]>`, `[{"x"}, {}]` is `[{"a", "b"}, {}]` on `<["a"=2, "b"=2]>`, and
    `[{"x":(1)2}, {}]` is `[{"a"}, {}]`.
    """
    if mesh.total_size != other.total_size or mesh.device_ids != other.device_ids:
        return None
    dims: list[AxisTuple] = []
    for axes in sharding.dim_axes:
        new: AxisTuple = ()
        for size, width in sizes_and_widths(mesh, axes):
            refs = _refs_between(width, width * size, other)
            if refs is None:
                return None
            for ref in refs:
                new = add_or_merge(new, ref, other)
        dims.append(new)
    return TensorSharding.from_axes(mesh_or_ref, tuple(dims))


def _refs_between(low: int, high: int, mesh: Mesh) -> AxisTuple | None:
    """Return the axes along which one step is at least `low` and less than `high` positions."""
    whole = [AxisRef(axis.name) for axis in mesh.axes]
    found: list[AxisRef] = []
    reached = high
    for ref, (size, width) in zip(whole, sizes_and_widths(mesh, whole), strict=True):
        begin, end = max(low, width), min(high, width * size)
        if end <= begin:
            continue
        if end != reached or end % begin or begin % width or width * size % end:
            return None
        found.append(AxisRef.sub(ref.name, width * size // end, end // begin))
        reached = begin
    refs = tuple(
        AxisRef(ref.name) if ref.size(mesh) == mesh.axis_size(ref.name) else ref for ref in found
    )
    return refs if reached == low else None
