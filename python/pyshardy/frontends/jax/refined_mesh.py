# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A mesh of full axes for shardings along sub-axes and on several meshes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding
from mlir_sdy.model.devices import sizes_and_widths


class RefinementError(ValueError):
    """There is no such mesh; the message states the reason."""


@dataclass(frozen=True, slots=True)
class RefinedMesh:
    """A mesh whose full axes can express sub-axes, and axes of other meshes of the same devices.

    JAX supports full axes of one mesh only. The axes of a refined mesh are those of the original
    mesh, split at the boundaries of the sub-axes in use:

    1. An axis or sub-axis of size s and stride w (in positions) extends from w to w * s.
    2. An axis of the mesh is split at all boundaries inside its extent.
    3. The sorted boundaries must each divide the next one; otherwise there is no refined mesh.
    4. A part is named like its sub-axis; an axis that isn't split keeps its name.

    On `<["x"=8, "y"=2]>`, whose axes extend from 2 to 16 and from 1 to 2, `"x":(2)2` extends from 4
    to 8. So x is split into `x:(1)2`, `x:(2)2` and `x:(4)2`, and y is unchanged.

    Attributes:
        mesh: the refined mesh, with the device order of the original one.
        widths: the stride of each of its axes, in positions.
        origins: for each of its axes the axis of the original mesh that it belongs to.
    """

    mesh: Mesh
    widths: tuple[int, ...]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, mesh: Mesh, shardings: Iterable[tuple[TensorSharding | None, Mesh]]) -> RefinedMesh:
        """Return the coarsest refinement of `mesh` for shardings, each with its mesh.

        Raises:
            RefinementError: a mesh has another device order, or boundaries don't divide each other.
        """
        ends: set[int] = set()
        for sharding, counting in shardings:
            if sharding is None or sharding.has_no_axes:
                continue
            if counting.devices != mesh.devices:
                raise RefinementError(
                    f"the sharding {sharding} has the device order of {counting}, but others that "
                    f"of {mesh}"
                )
            for size, width in sizes_and_widths(counting, _axes_in(sharding)):
                ends |= {width, width * size}
        axes: list[MeshAxis] = []
        widths: list[int] = []
        origins: list[str] = []
        full = [AxisRef(axis.name) for axis in mesh.axes]
        for ref, (size, width) in zip(full, sizes_and_widths(mesh, full), strict=True):
            inside = sorted((end for end in ends if width < end < width * size), reverse=True)
            cuts = [width * size, *inside, width]
            for upper, lower in itertools.pairwise(cuts):
                if upper % lower:
                    raise RefinementError(f"the axis {ref} of {mesh} cannot be split at {inside}")
                part = AxisRef.sub(ref.name, width * size // upper, upper // lower)
                axes.append(MeshAxis(_name(part) if inside else ref.name, upper // lower))
                widths.append(lower)
                origins.append(ref.name)
        return cls(Mesh(tuple(axes), mesh.device_ids), tuple(widths), tuple(origins))

    def axes_of(self, sharding: TensorSharding, counting: Mesh) -> tuple[tuple[str, ...], ...]:
        """Return the axes of the refined mesh along which each dimension of a tensor is sharded."""
        return tuple(self.names_of(dim.axes, counting) for dim in sharding.dim_shardings)

    def names_of(self, axes: Iterable[AxisRef], counting: Mesh) -> tuple[str, ...]:
        """Return the axes of the refined mesh that make up axes of another mesh."""
        return tuple(name for ref in axes for name in self._names(ref, counting))

    def _names(self, ref: AxisRef, counting: Mesh) -> list[str]:
        ((size, width),) = sizes_and_widths(counting, [ref])
        return [
            axis.name
            for axis, lower in zip(self.mesh.axes, self.widths, strict=True)
            if (width <= lower and lower * axis.size <= width * size and axis.size > 1)
            or (size == axis.size == 1 and axis.name == ref.name)
        ]


def refined_mesh(
    mesh: Mesh, shardings: Iterable[tuple[TensorSharding | None, Mesh]]
) -> RefinedMesh:
    """Return the coarsest refinement of a mesh for arguments and results, each with its mesh.

    Raises:
        UsageError: there is none; see `RefinedMesh.of`.
    """
    try:
        return RefinedMesh.of(mesh, shardings)
    except RefinementError as refusal:
        message = f"no JAX mesh fits the shardings of all arguments and results: {refusal}"
        raise UsageError(error(message)) from None


def _axes_in(sharding: TensorSharding) -> list[AxisRef]:
    return [
        *(ref for dim in sharding.dim_shardings for ref in dim.axes),
        *sharding.unreduced_axes,
    ]


def _name(part: AxisRef) -> str:
    return f"{part.name}:{part.sub_axis_info}"
