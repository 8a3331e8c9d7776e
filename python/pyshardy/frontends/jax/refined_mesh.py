# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One mesh of whole axes for shardings along parts of axes, and on several meshes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding
from mlir_sdy.model.devices import sizes_and_widths


class NoGridError(ValueError):
    """There is no such mesh; the text says why."""


@dataclass(frozen=True, slots=True)
class RefinedMesh:
    """A mesh whose whole axes can say what parts of axes, and other meshes, say.

    JAX names whole axes of one mesh only. The axes of a grid are those of a mesh, cut where a
    sharding begins or ends within them:

    1. An axis or part of size s, a step along which is w positions wide, reaches from w to w * s.
    2. An axis of the mesh is cut at all ends that lie inside its own.
    3. Its ends and the cuts between must divide each other in turn; otherwise there is no grid.
    4. A piece is named as the part of the axis that it is; an axis without cuts keeps its name.

    On `<["x"=8, "y"=2]>`, whose axes reach from 2 to 16 and from 1 to 2, `"x":(2)2` reaches from 4
    to 8. So x is cut into `x:(1)2`, `x:(2)2` and `x:(4)2`, and y stays.

    Attributes:
        mesh: the mesh with cut axes, in the order of the devices of the original one.
        widths: how many positions a step along each of its axes is wide.
        origins: the axes of the original mesh that its axes are, or are pieces of.
    """

    mesh: Mesh
    widths: tuple[int, ...]
    origins: tuple[str, ...]

    @classmethod
    def of(cls, mesh: Mesh, shardings: Iterable[tuple[TensorSharding | None, Mesh]]) -> RefinedMesh:
        """The coarsest grid of `mesh` for shardings, each with the mesh that it counts by.

        Raises:
            NoGridError: a sharding counts devices in another order, or no cuts will do.
        """
        ends: set[int] = set()
        for sharding, counting in shardings:
            if sharding is None or sharding.has_no_axes:
                continue
            if counting.devices != mesh.devices:
                raise NoGridError(
                    f"the sharding {sharding} has the device order of {counting}, but others that "
                    f"of {mesh}"
                )
            for size, width in sizes_and_widths(counting, _axes_in(sharding)):
                ends |= {width, width * size}
        axes: list[MeshAxis] = []
        widths: list[int] = []
        origins: list[str] = []
        whole = [AxisRef(axis.name) for axis in mesh.axes]
        for ref, (size, width) in zip(whole, sizes_and_widths(mesh, whole), strict=True):
            inside = sorted((end for end in ends if width < end < width * size), reverse=True)
            cuts = [width * size, *inside, width]
            for upper, lower in itertools.pairwise(cuts):
                if upper % lower:
                    raise NoGridError(f"the axis {ref} of {mesh} cannot be split at {inside}")
                part = AxisRef.sub(ref.name, width * size // upper, upper // lower)
                axes.append(MeshAxis(_name(part) if inside else ref.name, upper // lower))
                widths.append(lower)
                origins.append(ref.name)
        return cls(Mesh(tuple(axes), mesh.device_ids), tuple(widths), tuple(origins))

    def axes_of(self, sharding: TensorSharding, counting: Mesh) -> tuple[tuple[str, ...], ...]:
        """The axes of the grid along which each dimension of a tensor is sharded."""
        return tuple(
            tuple(name for ref in dim.axes for name in self._names(ref, counting))
            for dim in sharding.dim_shardings
        )

    def _names(self, ref: AxisRef, counting: Mesh) -> list[str]:
        ((size, width),) = sizes_and_widths(counting, [ref])
        return [
            axis.name
            for axis, lower in zip(self.mesh.axes, self.widths, strict=True)
            if (width <= lower and lower * axis.size <= width * size and axis.size > 1)
            or (size == axis.size == 1 and axis.name == ref.name)
        ]


def _axes_in(sharding: TensorSharding) -> list[AxisRef]:
    return [ref for dim in sharding.dim_shardings for ref in dim.axes]


def _name(part: AxisRef) -> str:
    return f"{part.name}:{part.sub_axis_info}"
