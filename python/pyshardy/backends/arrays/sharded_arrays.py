# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of global arrays to shards and back, and arrays that stay sharded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mlir_sdy.diagnostics import error
from mlir_sdy.model import Mesh, ReductionOp, Shape, TensorSharding, device_slices, shard_indices
from pyshardy.backends.arrays.comparison import compare
from pyshardy.backends.registry import SpmdProgram
from pyshardy.display import Displayed
from pyshardy.local_program.errors import ExecutionError
from pyshardy.local_program.tensor_spec import Array, TensorSpec

Column = Sequence[Array]
"""The array of each process for one value, possibly fetched from its device on access."""

Part = tuple[tuple[int, int], ...]
"""The range of indices in each dimension."""


@dataclass(frozen=True, eq=False)
class OwnPart(Sequence[Array]):
    """The shards of a value of which a process has one, or none.

    Attributes:
        size: the number of shards.
        device: the number of the process among those that have one; None if it isn't one of them.
        array: its shard.
    """

    size: int
    device: int | None = None
    array: Array | None = None

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: Any) -> Any:
        """Return the shard of this process.

        Raises:
            ExecutionError: another process has it.
        """
        if index != self.device or self.array is None:
            message = f"the shard of device {index} is in another process: 'run' returns whole"
            raise ExecutionError(error(f"{message} arrays"))
        return self.array


@runtime_checkable
class ColumnExecutable(Protocol):
    """An executable that takes and returns columns, which may stay on the devices."""

    def run_columns(self, columns: Sequence[Column]) -> list[Column]:
        """Run the program on all processes, with a column for each argument and result."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShardedArray(Displayed):
    """A global array, laid out over the devices of a mesh.

    NumPy's functions take it as the global array, which they get by `gather`.

    Attributes:
        name: the name of the value in the program that computed it.
        spec: the global type.
        sharding: how it is laid out; None for a copy on each device.
        mesh: the devices.
        local_spec: the type on each device.
        parts: the shard of each device, indexed by device id.
        content: the shape without padding, of which dimensions of `spec` have some at their ends;
            None for no padding.
    """

    name: str
    spec: TensorSpec
    sharding: TensorSharding | None
    mesh: Mesh
    local_spec: TensorSpec
    parts: Column
    content: Shape | None = None

    @property
    def shape(self) -> Shape:
        """The global shape, without padding."""
        return self.spec.shape if self.content is None else self.content

    def summary(self) -> str:
        """Return the name, the global type and the sharding in one line."""
        return f"{self.name}: {self.spec}, {self.sharding or 'replicated'}"

    def gather(self) -> Array:
        """The global array.

        Raises:
            ExecutionError: devices that should hold equal shards hold different values.
        """
        array = gather(self.parts, self.sharding, self.mesh, self.spec, self.name)
        return array if self.content is None else array[tuple(map(slice, self.content))]

    def is_laid_out_as(
        self, spec: TensorSpec, sharding: TensorSharding | None, mesh: Mesh, local_spec: TensorSpec
    ) -> bool:
        """Whether the array has this type, and its shards those of this sharding and mesh."""
        if (self.spec, self.local_spec) != (spec, local_spec):
            return False
        own, other = (
            (parts_of(spec.shape, *layout), _addend_numbers(*layout), _reduction_of(layout[0]))
            for layout in ((self.sharding, self.mesh), (sharding, mesh))
        )
        return own == other

    def __array__(
        self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None
    ) -> Array:
        del copy  # It is a new array in any case.
        return np.asarray(self.gather(), dtype=dtype)


def _reduction_of(sharding: TensorSharding | None) -> ReductionOp:
    return ReductionOp.SUM if sharding is None else sharding.reduction_kind


def run_columns(executable: SpmdProgram, columns: Sequence[Column], size: int) -> list[Column]:
    """Run an executable on columns, also if it lacks `run_columns`.

    Args:
        executable: the program.
        columns: for each argument a column.
        size: the number of processes.
    """
    if isinstance(executable, ColumnExecutable):
        return executable.run_columns(columns)
    rows = [[column[process] for column in columns] for process in range(size)]
    return [list(column) for column in zip(*executable.run(rows), strict=True)]


# --- Global arrays and shards --------------------------------------------------------------------


def scatter(
    array: Array, sharding: TensorSharding | None, mesh: Mesh, local_shape: Sequence[int]
) -> list[Array]:
    """Return the shard of each device, indexed by device id.

    Devices with equal shards share one array. A shard that is smaller than `local_shape`, at the
    end of a dimension that isn't divisible, is padded with zeros. Along the axes of an unreduced
    sum the first device has the shard, and others have zeros; for maxima and minima each has it.

    Args:
        array: the global array.
        sharding: how it is laid out; None for a copy on each device.
        mesh: the devices.
        local_shape: the shape of the tensor on each device.
    """
    arrays: dict[Part, Array] = {}
    for part in parts_of(array.shape, sharding, mesh):
        if part not in arrays:
            shard = array[_index(part)]
            padding = [(0, size - has) for size, has in zip(local_shape, shard.shape, strict=True)]
            arrays[part] = np.pad(shard, padding) if any(map(any, padding)) else shard
    shards = [arrays[part] for part in parts_of(array.shape, sharding, mesh)]
    if sharding is None or sharding.reduction_kind is not ReductionOp.SUM:
        return shards
    zeros = {id(shard): _zeros_like(shard) for shard in arrays.values()}
    addends = _addend_numbers(sharding, mesh)
    return [
        zeros[id(shard)] if addend else shard for shard, addend in zip(shards, addends, strict=True)
    ]


def _zeros_like(array: Array) -> Array:
    """Return zeros that change no number that they are added to, not even -0.0."""
    zero = -0.0 if array.dtype.kind in "fc" else 0
    return np.full_like(array, zero)


def gather(
    held: Sequence[Array], sharding: TensorSharding | None, mesh: Mesh, spec: TensorSpec, name: str
) -> Array:
    """Return the global array of some shards, with elements of the declared type.

    Along unreduced axes the shards are combined.

    Args:
        held: the shard of each device, indexed by device id.
        sharding: how the tensor is laid out; None for a copy on each device.
        mesh: the devices.
        spec: the global type.
        name: what a diagnostic calls the tensor.

    Raises:
        ExecutionError: devices that should hold equal shards hold different values.
    """
    array = np.empty(spec.shape, spec.dtype)
    combine = _COMBINED_BY[sharding.reduction_kind if sharding is not None else ReductionOp.SUM]
    first: dict[tuple[Part, int], int] = {}
    known: set[Part] = set()
    parts, addends = parts_of(spec.shape, sharding, mesh), _addend_numbers(sharding, mesh)
    for device, (part, addend) in enumerate(zip(parts, addends, strict=True)):
        cut = tuple(slice(0, stop - start) for start, stop in part)
        same = first.setdefault((part, addend), device)
        if same == device:
            value = held[device][cut]
            array[_index(part)] = combine(array[_index(part)], value) if part in known else value
            known.add(part)
        elif held[device] is not held[same]:
            difference = compare(held[device][cut], held[same][cut], spec)
            if not difference.is_small:
                where = ", ".join(f"{start}:{stop}" for start, stop in part)
                message = (
                    f"{name}: devices {same} and {device} should both hold [{where}], "
                    f"but their values differ by up to {difference.absolute:.3g}"
                )
                raise ExecutionError(error(message))
    return array.astype(spec.result_dtype, copy=False)


_COMBINED_BY: dict[ReductionOp, np.ufunc] = {
    ReductionOp.SUM: np.add,
    ReductionOp.MAX: np.maximum,
    ReductionOp.MIN: np.minimum,
}


def _addend_numbers(sharding: TensorSharding | None, mesh: Mesh) -> list[int]:
    """Return for each device the number of the partial value that it holds, by device id.

    It is 0 for a sharding without unreduced axes.
    """
    if sharding is None or not sharding.unreduced_axes:
        return [0] * mesh.total_size
    numbers = dict(zip(mesh.devices, shard_indices(mesh, sharding.unreduced_axes), strict=True))
    return [numbers[device] for device in range(mesh.total_size)]


def parts_of(shape: tuple[int, ...], sharding: TensorSharding | None, mesh: Mesh) -> list[Part]:
    """Return the index ranges of each device's shard, indexed by device id."""
    if sharding is None:
        return [tuple((0, size) for size in shape)] * mesh.total_size
    slices = device_slices(sharding, mesh, shape)
    return [
        tuple((shard.start, shard.stop) for shard in slices[device])
        for device in range(mesh.total_size)
    ]


class PartNumbers:
    """Numbers for the index ranges of all devices, which are computed once for each sharding.

    Shardings that give each device the same ranges have the same number.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[Part, ...], int] = {}
        self._known: dict[Hashable, int] = {}

    def of(self, shape: tuple[int, ...], sharding: TensorSharding | None, mesh: Mesh) -> int:
        """Return the number of `parts_of` these."""
        number = self._known.get((shape, sharding, mesh))
        if number is None:
            parts = tuple(parts_of(shape, sharding, mesh))
            number = self._numbers.setdefault(parts, len(self._numbers))
            self._known[shape, sharding, mesh] = number
        return number


def _index(part: Part) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in part)
