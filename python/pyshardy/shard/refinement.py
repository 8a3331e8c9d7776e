# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes and their grids, in which sub-axes become axes.

A grid has no sub-axes. A mesh axis whose sub-axes are in use is split, and the grid has an axis for
each part; the order of devices stays the same.

On a mesh `<["x"=8, "y"=2]>` with `"x":(1)2` in use, `"x"` is split after its first factor 2:

| axis of the grid | 0          | 1          | 2     |
|------------------|------------|------------|-------|
| size             | 2          | 4          | 2     |
| part of the mesh | `"x":(1)2` | `"x":(2)4` | `"y"` |
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, MeshAxis, ModelError, add_or_merge
from mlir_sdy.shard.values import Axes, Grid


@dataclass(frozen=True)
class Refinement:
    """A mesh with its axes split into those of a grid.

    Attributes:
        mesh: the mesh.
        parts: the mesh axis or sub-axis of each axis of the grid.
    """

    mesh: Mesh
    parts: AxisTuple

    @property
    def grid(self) -> Grid:
        """The grid."""
        return Grid(tuple(part.size(self.mesh) for part in self.parts))

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the mesh axis that each axis of the grid belongs to."""
        return tuple(part.name for part in self.parts)

    def grid_axes(self, axes: Iterable[AxisRef]) -> Axes:
        """Return the axes of the grid that some axes of the mesh consist of, in their order."""
        return tuple(
            number
            for axis in axes
            for number, part in enumerate(self.parts)
            if axis.contains(part) or axis == part
        )

    def mesh_axes(self, axes: Iterable[int]) -> AxisTuple:
        """Return the axes of the mesh for axes of the grid; consecutive sub-axes are merged."""
        found: AxisTuple = ()
        for number in axes:
            found = add_or_merge(found, self.parts[number], self.mesh)
        return found


def refine(mesh: Mesh, axes: Iterable[AxisRef]) -> Refinement:
    """Split a mesh so that each of the axes in use consists of full parts.

    1. An axis of size n is split at 1, at n, and at the start and end of each sub-axis.
    2. Each of these numbers must divide the next one.

    Raises:
        ModelError: sub-axes are incompatible, such as `"x":(1)2` and `"x":(1)3`.
    """
    cuts = {axis.name: {1, axis.size} for axis in mesh.axes}
    for axis in axes:
        cuts[axis.name] |= {axis.pre_size, axis.next_pre_size(mesh)}
    parts: list[AxisRef] = []
    for axis in mesh.axes:
        places = sorted(cuts[axis.name])
        if len(places) <= 2:
            parts.append(AxisRef(axis.name))
            continue
        for before, after in itertools.pairwise(places):
            if after % before:
                raise ModelError(
                    f'sub-axes split "{axis.name}" at {before} and at {after}, but a grid requires '
                    "that one divides the other"
                )
            parts.append(AxisRef.sub(axis.name, before, after // before))
    return Refinement(mesh, tuple(parts))


def coarsen(grid: Grid, names: Sequence[str]) -> Refinement:
    """Return the mesh of a grid; adjacent axes of one name are sub-axes of one mesh axis.

    Args:
        grid: the grid, of static sizes.
        names: the name of each of its axes.

    Raises:
        ModelError: two axes of one name are not adjacent.
    """
    axes: list[MeshAxis] = []
    parts: list[AxisRef] = []
    named = itertools.groupby(zip(names, grid.shape, strict=True), lambda axis: axis[0])
    for name, members in named:
        sizes = [size for _, size in members]
        pre_sizes = list(itertools.accumulate(sizes, lambda one, other: one * other, initial=1))
        axes.append(MeshAxis(name, pre_sizes[-1]))
        if len(sizes) == 1:
            parts.append(AxisRef(name))
        else:
            refs = zip(pre_sizes, sizes, strict=False)
            parts += [AxisRef.sub(name, pre_size, size) for pre_size, size in refs]
    return Refinement(Mesh(tuple(axes)), tuple(parts))
