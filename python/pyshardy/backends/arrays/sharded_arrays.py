# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Global arrays whose shards stay on the devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from mlir_sdy.model import Mesh, ReductionOp, TensorSharding
from pyshardy.backends.arrays.distribution import addend_numbers, gather, parts_of
from pyshardy.backends.registry import SpmdProgram
from pyshardy.display import Displayed
from pyshardy.local_program.tensor_spec import Array, TensorSpec

Column = Sequence[Array]
"""The array of each process for one value, possibly fetched from its device on access."""


@runtime_checkable
class ColumnExecutable(Protocol):
    """An executable that takes and returns columns, which may stay on the devices."""

    def run_columns(self, columns: Sequence[Column]) -> list[Column]:
        """Run the program on all processes; for each argument and each result a column."""
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
    """

    name: str
    spec: TensorSpec
    sharding: TensorSharding | None
    mesh: Mesh
    local_spec: TensorSpec
    parts: Column

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
        return self.spec.shape

    def summary(self) -> str:
        """Return the name, the global type and the sharding in one line."""
        return f"{self.name}: {self.spec}, {self.sharding or 'replicated'}"

    def gather(self) -> Array:
        """The global array.

        Raises:
            ExecutionError: devices that should hold equal shards hold different values.
        """
        return gather(self.parts, self.sharding, self.mesh, self.spec, self.name)

    def is_laid_out_as(
        self, spec: TensorSpec, sharding: TensorSharding | None, mesh: Mesh, local_spec: TensorSpec
    ) -> bool:
        """Whether the array has this type, and its shards those of this sharding and mesh."""
        if (self.spec, self.local_spec) != (spec, local_spec):
            return False
        own, other = (
            (parts_of(spec.shape, *layout), addend_numbers(*layout), _reduction_of(layout[0]))
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
