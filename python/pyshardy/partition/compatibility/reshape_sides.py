# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The two sides of a reshape, and whether their shards hold the same data."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from mlir_sdy.model import Mesh, TensorSharding, place_data_alike
from pyshardy.partition.compatibility.factor_axes import Shape
from pyshardy.partition.compatibility.reshape_groups import pads_alike, reshape_groups
from pyshardy.partition.compatibility.reshape_images import images
from pyshardy.partition.resharding.steps import AxesPerDim

_MESH = "mesh"
"""A placeholder for the name of the one mesh."""


@dataclass(frozen=True, slots=True)
class Side:
    """The operand or the result of a reshape: its shape, and the axes of each dimension."""

    shape: Shape
    axes: AxesPerDim

    @property
    def sharding(self) -> TensorSharding:
        """Return the axes as a sharding."""
        return TensorSharding.from_axes(_MESH, self.axes)

    def padded_shape(self, mesh: Mesh) -> Shape:
        """Return the shape of all shards together."""
        return self.sharding.global_shape(self.sharding.local_shape(self.shape, mesh), mesh)


@functools.lru_cache(maxsize=4096)
def are_alike(source: Side, target: Side, mesh: Mesh) -> bool:
    """Whether all shards hold the same data on both sides, and padding in the same places."""
    return place_data_alike(
        source.sharding, source.shape, target.sharding, target.shape, mesh
    ) and pads_alike(
        source.shape, source.padded_shape(mesh), target.shape, target.padded_shape(mesh)
    )


@functools.lru_cache(maxsize=4096)
def images_on(side: Side, shape: Shape, mesh: Mesh) -> tuple[Side, ...]:
    """Return the images of a side on another shape on which shards hold the same data."""
    held: list[AxesPerDim] = [()]
    for group in reshape_groups(side.shape, shape):
        options = images(side.axes, side.shape, group, shape, mesh)
        held = [(*before, *option) for before in held for option in options]
    found = [Side(shape, axes) for axes in held]
    return tuple(each for each in found if are_alike(side, each, mesh))
