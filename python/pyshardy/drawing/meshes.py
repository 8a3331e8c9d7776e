# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figure of a mesh: a tile for each device."""

from __future__ import annotations

import itertools

from mlir_sdy.model import AxisRef, Mesh
from pyshardy.drawing.colors import shard_color
from pyshardy.drawing.figure import Figure, Index, Tile, arrange, is_darker


def mesh_figure(mesh: Mesh) -> Figure:
    """Return the figure of a mesh, in which each axis is a dimension."""
    sizes = tuple(axis.size for axis in mesh.axes)
    names = [str(AxisRef(axis.name)) for axis in mesh.axes]
    device_at = dict(zip(itertools.product(*map(range, sizes)), mesh.devices, strict=True))

    def place(index: Index) -> str:
        return ", ".join(f"{name}={at}" for name, at in zip(names, index, strict=False))

    def tile_at(index: Index) -> Tile:
        color = shard_color(0, 1, darker=is_darker(index, sizes))
        return Tile((device_at[index],), color, place(index))

    if mesh.is_empty:
        subtitle = "no axes and no devices: compatible with any mesh"
    elif mesh.is_maximal:
        subtitle = f"device {mesh.maximal_id} alone"
    else:
        subtitle = f"{mesh.total_size} device{'s' * (mesh.total_size > 1)}"
    return Figure(
        title=str(mesh),
        subtitle=subtitle,
        row_axis=names[-2] if len(names) > 1 else "",
        column_axis=names[-1] if names else "",
        panels=() if mesh.is_empty else arrange(sizes, tile_at, lambda _, at: str(at), place),
    )
