# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations on one dimension, and between the devices along its axes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from functools import cached_property
from types import MappingProxyType

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, replica_groups
from pyshardy.irtools.tensor_types import shape_of, with_element
from pyshardy.partition.types.local_builder import LocalBuilder


class DeviceAxis:
    """The devices along axes, and operations on a dimension of their values.

    Args:
        builder: builds at the current place.
        mesh: the devices.
        axes: the axes along which they are numbered.
    """

    def __init__(self, builder: LocalBuilder, mesh: Mesh, axes: AxisTuple):
        self.builder = builder
        self.mesh = mesh
        self.axes = axes
        self._compared: dict[Hashable, ir.Value] = {}  # sides of comparisons

    @property
    def num_shards(self) -> int:
        """Return the number of devices along the axes."""
        return self.mesh.axes_size(self.axes)

    def by_shard(self, numbers: Sequence[int]) -> ir.Value:
        """Build the number for the device's shard, an i64 scalar."""
        if len(set(numbers)) == 1:
            return self.builder.index(numbers[0])
        return self.builder.per_shard(self.mesh, self.axes, numbers.__getitem__)

    # --- Data of other devices --------------------------------------------------------------

    def send(self, value: ir.Value, pairs: Sequence[tuple[int, int]]) -> ir.Value:
        """Build a permute; a device that receives nothing gets zeros."""
        groups = replica_groups(self.mesh, self.axes)
        ends = [[group[sender], group[receiver]] for group in groups for sender, receiver in pairs]
        return self.builder.collective_permute(value, ends)

    def gather(self, value: ir.Value, dim: int) -> ir.Value:
        """Build the concatenation of the values of all devices along a dimension."""
        return self.builder.all_gather(value, dim, self.axes, self.mesh)

    # --- A dimension of a tensor ------------------------------------------------------------

    def cut(self, value: ir.Value, dim: int, begins: Sequence[int], length: int) -> ir.Value:
        """Build a slice of a dimension whose start depends on the shard."""
        size = self._size(value, dim)
        if len(set(begins)) == 1:
            if length == size:
                return value
            return self.builder.slice_dim(value, dim, begins[0], length)
        sizes = list(shape_of(value.type))
        sizes[dim] = length
        offsets = [self.by_shard((0,))] * _rank(value)
        offsets[dim] = self.by_shard(begins)
        return self.builder.slice_within_bounds(value, offsets, sizes)

    def pad(
        self, value: ir.Value, dim: int, fill: FillValue, low: int, high: int, interior: int = 0
    ) -> ir.Value:
        """Build a dimension with padding before, after and between its elements."""
        if low == high == interior == 0:
            return value

        def along(amount: int) -> list[int]:
            amounts = [0] * _rank(value)
            amounts[dim] = amount
            return amounts

        return self.builder.pad(value, fill.scalar, along(low), along(high), along(interior))

    def place(
        self, value: ir.Value, dim: int, fill: FillValue, places: Sequence[int], length: int
    ) -> ir.Value:
        """Build a buffer with the value at a position that depends on the shard."""
        size = self._size(value, dim)
        low = max(0, *places)
        high = max(0, *(length - place - size for place in places))
        if len(set(places)) == 1:
            return self.pad(value, dim, fill, places[0], length - places[0] - size)
        padded = self.pad(value, dim, fill, low, high)
        return self.cut(padded, dim, [low - place for place in places], length)

    def join(self, values: Sequence[ir.Value], dim: int) -> ir.Value:
        """Build the concatenation of values along a dimension."""
        return self.builder.concatenate(values, dim)

    def choose(
        self, parts: Sequence[range], value: ir.Value, other: ir.Value, dim: int
    ) -> ir.Value:
        """Build a selection: one value at the positions in the shard's range, else another.

        Args:
            parts: the positions, for each shard.
            value: the value at these positions.
            other: the value at all other positions.
            dim: the dimension.
        """
        size = self._size(value, dim)
        masks: list[ir.Value] = []
        if any(part.start > 0 for part in parts):
            masks.append(self._compare(value, dim, "GE", [part.start for part in parts]))
        if any(part.stop < size for part in parts):
            masks.append(self._compare(value, dim, "LT", [part.stop for part in parts]))
        if not masks:
            return value
        mask = masks[0]
        for more in masks[1:]:
            mask = self.builder.binary("and", mask, more)
        return self.builder.select(mask, value, other)

    def spread(
        self, scalar: ir.Value, like: ir.Value, sizes: Mapping[int, int] = MappingProxyType({})
    ) -> ir.Value:
        """Build a broadcast of a scalar to the type of another tensor.

        Args:
            scalar: the scalar.
            like: the tensor.
            sizes: the sizes of dimensions that differ from those of the tensor.
        """
        shape = [sizes.get(dim, size) for dim, size in enumerate(shape_of(like.type))]
        return self.builder.broadcast_in_dim(scalar, shape)

    def _compare(self, like: ir.Value, dim: int, how: str, numbers: Sequence[int]) -> ir.Value:
        """Build flags that compare the position along a dimension with the shard's number."""
        integers = with_element(like.type, ir.IntegerType.get_signless(64))
        number = self.by_shard(numbers)
        if (integers, dim) not in self._compared:
            self._compared[integers, dim] = self.builder.iota(integers, dim)
        if (integers, number) not in self._compared:
            self._compared[integers, number] = self.spread(number, like)
        sides = self._compared[integers, dim], self._compared[integers, number]
        return self.builder.compare(how, *sides)

    def _size(self, value: ir.Value, dim: int) -> int:
        return ir.RankedTensorType(value.type).shape[dim]


def _rank(value: ir.Value) -> int:
    return ir.RankedTensorType(value.type).rank


class PaddingContents(Enum):
    """The contents that positions without elements must have."""

    UNDEFINED = "undefined"
    ZERO = "zero, as far as they are needed"
    SCALAR = "the scalar, as far as they are needed"


class FillValue:
    """A scalar for positions without elements, and the contents that these must have.

    Args:
        make: builds the scalar, when it is first needed.
        rest: the required contents.
    """

    def __init__(self, make: Callable[[], ir.Value], rest: PaddingContents):
        self._make = make
        self.rest = rest

    @cached_property
    def scalar(self) -> ir.Value:
        """The scalar."""
        return self._make()
