# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes and their grids, in which sub-axes become axes; uneven shards; origins of operations.

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
from typing import NamedTuple

from mlir_sdy.discardable import set_discardable, text_of
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, AxisTuple, Mesh, MeshAxis, ModelError, add_or_merge
from mlir_sdy.shard.values import Axes, Grid, GridSharding
from pyshardy.irtools.tensor_types import size_of_shard

AXIS_NAMES = "sdy.axis_names"
"""The attribute of a grid with the name of the mesh axis that each of its axes belongs to."""

ORIGIN = "sdy.origin"
"""The attribute of an annotation with the name of its original operation."""

ORIGINS = frozenset({"sdy.reshard", "sdy.sharding_constraint"})
"""The operations that become annotations."""


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
    """Return the mesh of a grid; adjacent axes of a name are sub-axes of a mesh axis.

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


# --- Uneven shards -------------------------------------------------------------------------------


def offsets_rounded_up(size: int, num_shards: int) -> tuple[int, ...]:
    """Return the starts of shards whose size is rounded up, and the end of the last one.

    7 elements in 3 shards: (0, 3, 6, 7); 2 elements in 4 shards: (0, 1, 2, 2, 2).
    """
    shard_size = size_of_shard(size, num_shards)
    return tuple(min(index * shard_size, size) for index in range(num_shards + 1))


def uneven_dim(sharding: GridSharding, shape: Sequence[int], grid: Grid) -> int | None:
    """Return the first dimension whose shards differ from Shardy's, or None.

    Shardy splits 7 elements over 3 devices into 3, 3 and 1, and the shard dialect into 2, 2 and 3.
    By offsets, the shard dialect can express the former as well: 0, 3, 6, 7.

    1. With offsets, they must be those of `offsets_rounded_up`.
    2. Without, the dimension must divide evenly or be of dynamic size.
    """
    offsets = sharding.offsets(grid)
    for dim in sharding.split_dims:
        num_shards = grid.axes_size(sharding.split_axes[dim])
        if dim in offsets:
            if shape[dim] < 0 or offsets[dim] != offsets_rounded_up(shape[dim], num_shards):
                return dim
        elif shape[dim] >= 0 and shape[dim] % num_shards:
            return dim
    return None


def with_offsets(sharding: GridSharding, shape: Sequence[int], grid: Grid) -> GridSharding | None:
    """Return a sharding with the offsets of Shardy's rule, without any if all dimensions divide.

    None if offsets are required and a dimension is split along several axes, for which offsets
    aren't supported.
    """
    if uneven_dim(sharding, shape, grid) is None:
        return sharding
    offsets: list[int] = []
    for dim in sharding.split_dims:
        axes = sharding.split_axes[dim]
        if len(axes) > 1 or shape[dim] < 0:
            return None
        offsets += offsets_rounded_up(shape[dim], grid.axes_size(axes))
    return GridSharding(sharding.grid, sharding.split_axes, (), tuple(offsets))


# --- Origins in an sdy program -------------------------------------------------------------------


def origin_of(annotation: ir.Operation) -> str | None:
    """Return the sdy operation that became a `shard.shard`; None if it was a value's sharding."""
    origin = text_of(annotation, ORIGIN)
    return origin if origin in ORIGINS else None


def copy_other_attributes(source: ir.Operation, target: ir.Operation) -> None:
    """Copy the discardable attributes of a mesh or a grid."""
    for name, attribute in source.attributes.items():
        if name not in {"sym_name", "mesh", "shape", AXIS_NAMES}:
            set_discardable(target, name, attribute)


# --- Grids of the groups of collectives -----------------------------------------------------------

# In a program for a grid, the groups of a collective extend along some axes of the grid. In terms
# of device ids, an axis is a *digit*: a number of devices at a distance, its stride.
#
# | group              | digits, the slowest first   |
# |--------------------|-----------------------------|
# | 0, 1, 2, 3         | 4 at stride 1               |
# | 0, 4               | 2 at stride 4               |
# | 0, 3, 1, 4, 2, 5   | 3 at stride 1, 2 at stride 3 |
#
# A grid that is split at the start and end of every digit has axes for all groups.


class Digit(NamedTuple):
    """A number of devices at a constant distance."""

    size: int
    stride: int


def digits_of(group: Sequence[int]) -> tuple[Digit, ...] | None:
    """Return the digits of a group, the slowest first; None if the group has no such form.

    A group of one device has no digits.
    """
    digits: list[Digit] = []
    rest = list(group)
    while len(rest) > 1:
        stride = rest[1] - rest[0]
        size = next(
            (at for at in range(1, len(rest)) if rest[at] != rest[0] + at * stride), len(rest)
        )
        if stride < 1 or len(rest) % size:
            return None
        digits.append(Digit(size, stride))
        rest = rest[::size]
    digits.reverse()
    return tuple(digits) if _counted(digits, group[0]) == list(group) else None


def _counted(digits: Sequence[Digit], first: int) -> list[int]:
    """Return the group of some digits that starts at a device."""
    places = itertools.product(*(range(digit.size) for digit in digits))
    return [
        first + sum(at * digit.stride for at, digit in zip(place, digits, strict=True))
        for place in places
    ]


def grid_for(digits: Iterable[Digit], devices: int) -> Grid | None:
    """Return the grid with the fewest axes such that each digit consists of full axes.

    1. The boundaries of axes are 1, the number of devices, and for each digit its stride and its
       stride times its size.
    2. Each boundary must divide the next one; otherwise the result is None.

    Digits of 2 at stride 4 and of 2 at stride 1, for 8 devices: boundaries 1, 2, 4, 8, grid 2x2x2.
    """
    cuts = {1, devices}
    for digit in digits:
        cuts |= {digit.stride, digit.stride * digit.size}
    sizes: list[int] = []
    for before, after in itertools.pairwise(sorted(cuts)):
        if after % before:
            return None
        sizes.append(after // before)
    return Grid(tuple(reversed(sizes)) or (1,))


def axes_of_digits(digits: Iterable[Digit], grid: Grid) -> Axes:
    """Return the axes of a grid from `grid_for` that digits consist of, in their order."""
    strides = list(itertools.accumulate(reversed(grid.shape), lambda a, b: a * b, initial=1))
    stride_of = list(reversed(strides[:-1]))
    return tuple(
        axis
        for digit in digits
        for axis in grid.all_axes
        if digit.stride <= stride_of[axis] < digit.stride * digit.size
    )


def axes_apart(pairs: Iterable[tuple[int, int]], grid: Grid) -> Axes:
    """Return the axes along which the two devices of any pair differ."""
    found: set[int] = set()
    for source, target in pairs:
        places = zip(grid.coordinates(source), grid.coordinates(target), strict=True)
        found |= {axis for axis, (one, other) in enumerate(places) if one != other}
    return tuple(sorted(found))
