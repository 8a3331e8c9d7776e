# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of a reshard: collectives, each with the axes of all dimensions afterwards."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model import AllToAllParam, AxisTuple

AxesPerDim = tuple[AxisTuple, ...]
"""The axes of each dimension of a tensor, major to minor."""


@dataclass(frozen=True, slots=True)
class AllSlice:
    """Slice dimensions along axes; `result` are the axes of each dimension afterwards."""

    axes: AxesPerDim
    result: AxesPerDim


@dataclass(frozen=True, slots=True)
class AllGather:
    """Gather each dimension along axes."""

    axes: AxesPerDim
    result: AxesPerDim


@dataclass(frozen=True, slots=True)
class AllToAll:
    """Move axes from the end of one dimension to the end of another."""

    param: AllToAllParam
    result: AxesPerDim


@dataclass(frozen=True, slots=True)
class CollectivePermute:
    """Exchange shards between devices; the result is on the mesh of the target."""

    result: AxesPerDim


ReshardStep = AllSlice | AllGather | AllToAll | CollectivePermute
