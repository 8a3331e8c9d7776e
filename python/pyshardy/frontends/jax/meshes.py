# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of meshes and shardings to JAX and back; a mesh of full axes for sub-axes."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import AxisRef, Mesh, MeshAxis, TensorSharding, mesh_of
from mlir_sdy.model.devices import sizes_and_widths
from mlir_sdy.suggest import did_you_mean

if TYPE_CHECKING:
    import jax
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec


def abstract_mesh(mesh: Mesh) -> AbstractMesh:
    """Return an abstract mesh, for lowering without devices.

    Its axes are of kind Auto, as those of `device_mesh`; JAX's default changed in version 0.11.
    """
    from jax.sharding import AbstractMesh, AxisType  # noqa: PLC0415

    return AbstractMesh(
        tuple(axis.size for axis in mesh.axes),
        tuple(axis.name for axis in mesh.axes),
        axis_types=(AxisType.Auto,) * len(mesh.axes),
    )


def mesh_of_model(mesh: MeshOfJax) -> Mesh:
    """Return the mesh of a JAX mesh, with the devices numbered in its order.

    Raises:
        UsageError: it is not a mesh.
    """
    import jax  # noqa: PLC0415

    if not isinstance(mesh, jax.sharding.Mesh | jax.sharding.AbstractMesh):
        message = (
            f"expected an sdy.Mesh or a mesh of JAX, got: {mesh!r}; "
            "a mesh is sdy.Mesh.of({'data': 2, 'model': 4})"
        )
        raise UsageError(error(message))
    return Mesh.of(dict(zip(mesh.axis_names, mesh.axis_sizes, strict=True)))


def named_sharding(mesh: Any, spec: PartitionSpec) -> NamedSharding:
    """Return the sharding of a `PartitionSpec` on a JAX mesh.

    Raises:
        UsageError: an axis is not in the mesh, or occurs twice, or a dimension is unconstrained.
    """
    from jax.sharding import NamedSharding, PartitionSpec  # noqa: PLC0415

    entries = [entry if isinstance(entry, tuple) else (entry,) for entry in spec]
    axes = [axis for entry in entries for axis in entry]
    if PartitionSpec.UNCONSTRAINED in axes:
        message = f"JAX takes no open dimensions here: use sdy.sharding({spec}) instead"
        raise UsageError(error(message))
    axes = [axis for axis in axes if axis is not None]
    for axis in axes:
        if axis not in mesh.axis_names:
            near = did_you_mean(str(axis), map(str, mesh.axis_names))
            names = ", ".join(map(repr, mesh.axis_names)) or "none"
            message = (
                f"{spec} has the unknown axis {axis!r}; the axes of the mesh are: {names}{near}"
            )
            raise UsageError(error(message))
        if axes.count(axis) > 1:
            raise UsageError(error(f"{spec} has the axis {axis!r} twice"))
    return NamedSharding(mesh, spec)


def has_automatic_axes(mesh: Any) -> bool:
    """Whether the compiler chooses shardings along all axes of a JAX mesh."""
    from jax.sharding import AxisType  # noqa: PLC0415

    return all(kind == AxisType.Auto for kind in mesh.axis_types)


def automatic_mesh(mesh: Any) -> Any:
    """Return a JAX mesh with all axes of kind Auto; the mesh itself if they are."""
    import jax  # noqa: PLC0415

    if has_automatic_axes(mesh):
        return mesh
    if isinstance(mesh, jax.sharding.AbstractMesh):
        return abstract_mesh(mesh_of_model(mesh))
    return device_mesh(mesh_of_model(mesh), list(mesh.devices.flat))


def in_force(mesh: Any) -> AbstractContextManager[object]:
    """Return a context in which a JAX mesh is that of each `PartitionSpec` of a function."""
    import jax  # noqa: PLC0415

    if isinstance(mesh, jax.sharding.AbstractMesh):
        return jax.sharding.use_abstract_mesh(mesh)
    return jax.set_mesh(mesh)


def mesh_in_force() -> Any:
    """Return the mesh of `jax.set_mesh`; None if there is none, or while JAX is tracing."""
    import jax  # noqa: PLC0415

    try:
        mesh = jax.sharding.get_mesh()
    except ValueError:
        return None
    return None if mesh.empty else mesh


def cut_abstract_mesh(grid: RefinedMesh, mesh: AbstractMesh) -> AbstractMesh:
    """Return the abstract JAX mesh of a refined mesh, with the original axis kinds."""
    from jax.sharding import AbstractMesh  # noqa: PLC0415

    kinds = dict(zip(mesh.axis_names, mesh.axis_types, strict=True))
    return AbstractMesh(
        tuple(axis.size for axis in grid.mesh.axes),
        tuple(axis.name for axis in grid.mesh.axes),
        axis_types=tuple(kinds[name] for name in grid.origins),
    )


def cut_mesh(grid: RefinedMesh, mesh: jax.sharding.Mesh) -> jax.sharding.Mesh:
    """Return the JAX mesh of a refined mesh, with the original devices and axis kinds."""
    import jax  # noqa: PLC0415

    kinds = dict(zip(mesh.axis_names, mesh.axis_types, strict=True))
    return jax.sharding.Mesh(
        mesh.devices.reshape([axis.size for axis in grid.mesh.axes]),
        [axis.name for axis in grid.mesh.axes],
        axis_types=tuple(kinds[name] for name in grid.origins),
    )


def explicit_mesh(mesh: jax.sharding.Mesh) -> jax.sharding.Mesh:
    """Return the mesh with all axes of kind Explicit."""
    import jax  # noqa: PLC0415

    kinds = (jax.sharding.AxisType.Explicit,) * len(mesh.axis_names)
    return jax.sharding.Mesh(mesh.devices, mesh.axis_names, axis_types=kinds)


def device_mesh(mesh: Mesh, devices: Sequence[Any]) -> jax.sharding.Mesh:
    """Return a JAX mesh over devices in mesh order."""
    import jax  # noqa: PLC0415

    array = np.empty(len(devices), object)
    array[:] = devices  # NumPy would treat a device as a sequence.
    shape = [axis.size for axis in mesh.axes]
    kinds = (jax.sharding.AxisType.Auto,) * len(shape)
    names = [axis.name for axis in mesh.axes]
    return jax.sharding.Mesh(array.reshape(shape), names, axis_types=kinds)


def check_axis_names(mesh: Mesh) -> None:
    """Check that XLA can read the names of the axes; it ends the process at others.

    Raises:
        UsageError: a name is empty, or has a backslash or other characters than those of ASCII.
    """
    for axis in mesh.axes:
        if not axis.name or "\\" in axis.name or not axis.name.isascii():
            message = (
                f"XLA cannot read the name of the mesh axis {axis.name!r}: rename the axis, with "
                "characters of ASCII other than the backslash, or use 'run', which needs no names"
            )
            raise UsageError(error(message))


def partition_spec(
    axes_of_dims: Sequence[tuple[str, ...]], unreduced: Collection[str] = ()
) -> PartitionSpec:
    """Return the `PartitionSpec` of the axes of each dimension, and of unreduced axes."""
    from jax.sharding import PartitionSpec  # noqa: PLC0415

    dims = [axes[0] if len(axes) == 1 else axes or None for axes in axes_of_dims]
    return (
        PartitionSpec(*dims, unreduced=frozenset(unreduced)) if unreduced else PartitionSpec(*dims)
    )


def available_devices(count: int) -> list[Any]:
    """Return the first devices of JAX.

    Raises:
        UsageError: there are too few.
    """
    import jax  # noqa: PLC0415

    devices = jax.devices()
    if len(devices) < count:
        message = (
            f"the program is for {count} devices, but JAX has {len(devices)}; for virtual CPU "
            f"devices, set XLA_FLAGS=--xla_force_host_platform_device_count={count} before JAX is "
            "first used"
        )
        raise UsageError(error(message))
    return devices[:count]


def sharding_for_jax(
    sharding: TensorSharding | None,
    rank: int,
    meshes: Mapping[str, Mesh],
    mesh: Any,
) -> NamedSharding:
    """Return a sharding in JAX's form, without sub-axes, which JAX can't express.

    Args:
        sharding: the sharding; None for a replicated value.
        rank: the number of dimensions.
        meshes: the meshes that the sharding may refer to.
        mesh: the JAX mesh of the result. A sharding on other axes counts as replicated.
    """
    from jax.sharding import NamedSharding  # noqa: PLC0415

    axes: list[tuple[str, ...]] = [()] * rank
    own = None if sharding is None else mesh_of(sharding, meshes)
    if sharding is not None and own is not None and own.axes == mesh_of_model(mesh).axes:
        for dim, of_dim in enumerate(sharding.dim_shardings):
            full: list[str] = []
            for axis in of_dim.axes:
                if axis.sub_axis_info is not None:
                    break
                full.append(axis.name)
            axes[dim] = tuple(full)
    return NamedSharding(mesh, partition_spec(axes))


class MeshOfJax(Protocol):
    """A `jax.sharding.Mesh` or `jax.sharding.AbstractMesh`."""

    @property
    def axis_names(self) -> tuple[Any, ...]:
        """The names of the axes."""
        ...

    @property
    def axis_sizes(self) -> tuple[int, ...]:
        """Their sizes."""
        ...


# --- Meshes with parts of axes --------------------------------------------------------------------


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
