# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Coordinates of the devices of a mesh, and groups of devices along axes.

The *position* of a device is its index in the row-major order of the mesh: the index of its id
among the explicit ids, or the id itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.axis_lists import ordered_refs
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.mesh import Mesh


def device_position(mesh: Mesh, device: int) -> int:
    """The index of a device in the row-major order of the mesh.

    Raises:
        ModelError: If the mesh has no such device.
    """
    try:
        return mesh.devices.index(device)
    except ValueError:
        raise ModelError(f"device {device} is not in the mesh {mesh}") from None


def coordinates(mesh: Mesh, device: int, axes: Iterable[AxisRef]) -> tuple[int, ...]:
    """The coordinates of a device along axes or parts of axes.

    With the position p of the device, a ref `"x":(pre)size` of an axis of size F, and the axes
    after `x` of total size S, a step along the ref is `S * F / (pre * size)` positions wide, and

        coordinate = p / (S * F / (pre * size)) mod size

    On `<["x"=4, "y"=3]>`, device 7 is at (2, 1) along `{"x", "y"}`, and at (1, 0) along
    `{"x":(1)2, "x":(2)2}`.
    """
    position = device_position(mesh, device)
    return tuple(position // width % size for size, width in sizes_and_widths(mesh, axes))


def shard_index(mesh: Mesh, device: int, axes: Iterable[AxisRef]) -> int:
    """Return the index of a device's shard of a dimension sharded along `axes`.

    It is the linear index of the device's coordinates along `axes`, major to minor. On
    `<["x"=4, "y"=3]>`, device 7 is at 2 along `x` and at 1 along `y`: it holds shard 5 of 12
    along `{"x", "y"}`, and shard 6 of 12 along `{"y", "x"}`.
    """
    position = device_position(mesh, device)
    index = 0
    for size, width in sizes_and_widths(mesh, axes):
        index = index * size + position // width % size
    return index


def shard_indices(mesh: Mesh, axes: Iterable[AxisRef]) -> tuple[int, ...]:
    """The shard index of every device, by the devices' positions in the mesh."""
    steps = sizes_and_widths(mesh, axes)
    indices: list[int] = []
    for position in range(mesh.total_size):
        index = 0
        for size, width in steps:
            index = index * size + position // width % size
        indices.append(index)
    return tuple(indices)


def sizes_and_widths(mesh: Mesh, axes: Iterable[AxisRef]) -> list[tuple[int, int]]:
    """Return for each ref its size and the difference of positions of a step along it.

    On `<["x"=4, "y"=3]>`, `{"y", "x":(1)2}` gives [(3, 1), (2, 6)].
    """
    after: dict[str, int] = {}
    width = 1
    for axis in reversed(mesh.axes):
        after[axis.name] = width
        width *= axis.size
    return [
        (ref.size(mesh), mesh.axis_size(ref.name) // ref.next_pre_size(mesh) * after[ref.name])
        for ref in axes
    ]


def replica_groups(mesh: Mesh, axes: Iterable[AxisRef]) -> tuple[tuple[int, ...], ...]:
    """The groups of devices that differ only in their coordinates along `axes`.

    1. View the devices as an array with one dimension for each ref of the mesh, split at the ends
       of `axes` (`ordered_refs`).
    2. Move the dimensions of `axes` last, in their order.
    3. Flatten to one group per combination of the other coordinates, in mesh order.

    On `<["x"=2, "y"=3]>`, `{"x"}` gives ((0, 3), (1, 4), (2, 5)).
    """
    axes = tuple(axes)
    mentioned = set(axes)
    others = [ref for ref in ordered_refs(mesh, axes) if ref not in mentioned]
    places = shard_indices(mesh, (*others, *axes))
    ordered = [device for _, device in sorted(zip(places, mesh.devices, strict=True))]
    size = math.prod(axis.size(mesh) for axis in axes)
    return tuple(tuple(ordered[at : at + size]) for at in range(0, len(ordered), size))
