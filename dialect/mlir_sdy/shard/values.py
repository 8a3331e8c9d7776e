# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Grids of devices, shardings on them, and kinds of reductions, as plain values.

A device has a *linear index*, row-major over the grid, and *coordinates*. A collective along some
axes joins *groups*: devices that differ only in their coordinates along these axes. Members of a
group are in the order of these coordinates, the first axis written being the slowest.
"""

from __future__ import annotations

import enum
import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DYNAMIC = -(2**63)
"""Placeholder in a list of numbers for one that is an operand."""

Axes = tuple[int, ...]
"""Axes of a grid by their numbers, the slowest first."""


class ReductionKind(enum.IntEnum):
    """Kind of a reduction between devices; the numbers are those of the attribute."""

    SUM = 1
    MAX = 2
    MIN = 3
    PRODUCT = 4
    AVERAGE = 5
    BITWISE_AND = 6
    BITWISE_OR = 7
    BITWISE_XOR = 8
    GENERIC = 100

    @property
    def keyword(self) -> str:
        """The word in the text of operations."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Grid:
    """A grid of devices: `Grid((2, 3))` has two rows of three.

    Attributes:
        shape: the number of devices along each axis; `DYNAMIC` where it is not known.
    """

    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return DYNAMIC not in self.shape

    @property
    def all_axes(self) -> Axes:
        """Every axis, in order."""
        return tuple(range(self.rank))

    @property
    def size(self) -> int:
        """The number of devices."""
        return math.prod(self.shape)

    def axes_size(self, axes: Iterable[int]) -> int:
        """Return the number of devices along some axes: the size of a group."""
        return math.prod(self.shape[axis] for axis in axes)

    def linear_index(self, coordinates: Sequence[int]) -> int:
        """The linear index of the device with these coordinates.

        In a grid of 10x20x30, that of (1, 2, 3) is 663.
        """
        index = 0
        for size, coordinate in zip(self.shape, coordinates, strict=True):
            index = index * size + coordinate
        return index

    def coordinates(self, device: int) -> tuple[int, ...]:
        """The coordinates of the device with this linear index."""
        found: list[int] = []
        for size in reversed(self.shape):
            device, coordinate = divmod(device, size)
            found.append(coordinate)
        return tuple(reversed(found))

    def index_in_group(self, coordinates: Sequence[int], axes: Sequence[int]) -> int:
        """Return the index of a device in its group along `axes`, by its coordinates."""
        along = Grid(tuple(self.shape[axis] for axis in axes))
        return along.linear_index([coordinates[axis] for axis in axes])

    def groups(self, axes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
        """The groups along `axes`, each with its members' linear indices in order.

        In a grid of 2x3, those along [0] are (0, 3), (1, 4), (2, 5), and those along [1, 0] the
        one group (0, 3, 1, 4, 2, 5).
        """
        others = [axis for axis in self.all_axes if axis not in axes]
        groups: list[tuple[int, ...]] = []
        for fixed in itertools.product(*(range(self.shape[axis]) for axis in others)):
            members: list[int] = []
            for along in itertools.product(*(range(self.shape[axis]) for axis in axes)):
                held = dict(zip((*others, *axes), (*fixed, *along), strict=True))
                members.append(self.linear_index([held[axis] for axis in self.all_axes]))
            groups.append(tuple(members))
        return tuple(groups)

    def neighbors(self, coordinates: Sequence[int], axes: Sequence[int]) -> tuple[int, int]:
        """The linear indices of the devices before and after one, along `axes`; -1 for none.

        In a grid of 10x20x30, those of (1, 2, 3) along [1] are 633 and 693.
        """
        place = self.index_in_group(coordinates, axes)
        size = self.axes_size(axes)
        along = Grid(tuple(self.shape[axis] for axis in axes))
        found: list[int] = []
        for step in (-1, 1):
            moved = list(coordinates)
            if 0 <= place + step < size:
                for axis, at in zip(axes, along.coordinates(place + step), strict=True):
                    moved[axis] = at
                found.append(self.linear_index(moved))
            else:
                found.append(-1)
        return found[0], found[1]

    def shift_pairs(self, axis: int, offset: int, *, rotate: bool) -> tuple[tuple[int, int], ...]:
        """Return the pairs of sender and receiver of a shift by `offset` along `axis`.

        1. With `rotate` coordinates wrap around.
        2. Without it, devices send nothing beyond the grid.

        In a grid of 4, an offset of 1 gives (0, 1), (1, 2), (2, 3), and (3, 0) with `rotate`.
        """
        size = self.shape[axis]
        pairs: list[tuple[int, int]] = []
        for device in range(self.size):
            coordinates = list(self.coordinates(device))
            target = coordinates[axis] + offset
            if rotate:
                target %= size
            if 0 <= target < size:
                coordinates[axis] = target
                pairs.append((device, self.linear_index(coordinates)))
        return tuple(pairs)

    def __str__(self) -> str:
        return "x".join("?" if size == DYNAMIC else str(size) for size in self.shape)


@dataclass(frozen=True, slots=True)
class GridSharding:
    """The sharding of a tensor on a grid: the value of a `shard.sharding`.

    Attributes:
        grid: the name of the grid.
        split_axes: the axes of the grid along which each dimension is split; trailing unsplit
            dimensions may be omitted.
        halo_sizes: for each split dimension, the numbers of elements of the preceding and of the
            following shard that a shard holds in addition; all in one list.
        sharded_dims_offsets: for each split dimension, the offsets of its shards and the end of
            the last one; all in one list. Empty for shards of equal size.
    """

    grid: str
    split_axes: tuple[Axes, ...]
    halo_sizes: tuple[int, ...] = ()
    sharded_dims_offsets: tuple[int, ...] = ()

    @property
    def split_dims(self) -> tuple[int, ...]:
        """The dimensions that are split."""
        return tuple(dim for dim, axes in enumerate(self.split_axes) if axes)

    @property
    def is_static(self) -> bool:
        """Whether no halo size or offset is an operand."""
        return DYNAMIC not in (*self.halo_sizes, *self.sharded_dims_offsets)

    def axes(self, dim: int) -> Axes:
        """The axes that a dimension is split along."""
        return self.split_axes[dim] if dim < len(self.split_axes) else ()

    def offsets(self, grid: Grid) -> dict[int, tuple[int, ...]]:
        """The offsets of each split dimension; empty if none are given.

        In a grid of 2, `[[0], []]` with offsets [0, 24, 32] has those for dimension 0.
        """
        found: dict[int, tuple[int, ...]] = {}
        if self.sharded_dims_offsets:
            start = 0
            for dim in self.split_dims:
                end = start + grid.axes_size(self.split_axes[dim]) + 1
                found[dim] = self.sharded_dims_offsets[start:end]
                start = end
        return found

    def halos(self) -> dict[int, tuple[int, int]]:
        """The halo sizes, before and after, of each split dimension; empty if none are given."""
        pairs = zip(self.halo_sizes[::2], self.halo_sizes[1::2], strict=True)
        return dict(zip(self.split_dims, pairs, strict=True)) if self.halo_sizes else {}

    def local_shape(
        self, shape: Sequence[int], grid: Grid, coordinates: Sequence[int]
    ) -> tuple[int, ...]:
        """Return the shape of the shard of a tensor that a device holds.

        1. With offsets, they determine the size of each shard.
        2. Otherwise shards differ by at most one, the last ones being larger: 7 elements on 3
           devices are shards of 2, 2 and 3.
        3. Halos are added.
        """
        offsets, halos = self.offsets(grid), self.halos()
        sizes: list[int] = []
        for dim, size in enumerate(shape):
            axes = self.axes(dim)
            if not axes:
                sizes.append(size)
                continue
            shard = grid.index_in_group(coordinates, axes)
            if dim in offsets:
                local = offsets[dim][shard + 1] - offsets[dim][shard]
            else:
                num_shards = grid.axes_size(axes)
                local = size // num_shards + (shard >= num_shards - size % num_shards)
            sizes.append(local + sum(halos.get(dim, ())))
        return tuple(sizes)

    def __str__(self) -> str:
        parts = [f"@{self.grid} split_axes = {_nested(self.split_axes)}"]
        if self.halo_sizes:
            parts.append(f"halo_sizes = {_listed(self.halo_sizes)}")
        if self.sharded_dims_offsets:
            parts.append(f"sharded_dims_offsets = {_listed(self.sharded_dims_offsets)}")
        return " ".join(parts)


def _listed(numbers: Iterable[int]) -> str:
    return f"[{', '.join('?' if number == DYNAMIC else str(number) for number in numbers)}]"


def _nested(lists: Iterable[Iterable[int]]) -> str:
    return f"[{', '.join(map(_listed, lists))}]"
