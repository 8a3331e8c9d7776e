# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of meshes and shardings to JAX and back."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import Mesh
from pyshardy.frontends.jax.mesh_type import MeshOfJax
from pyshardy.frontends.jax.refined_mesh import RefinedMesh

if TYPE_CHECKING:
    import jax
    from jax.sharding import AbstractMesh, PartitionSpec


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
    """Return the mesh of a JAX mesh, with the devices numbered in its order."""
    return Mesh.of(dict(zip(mesh.axis_names, mesh.axis_sizes, strict=True)))


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


def device_mesh(mesh: Mesh, devices: Sequence[Any]) -> jax.sharding.Mesh:
    """Return a JAX mesh over devices in mesh order."""
    import jax  # noqa: PLC0415

    array = np.empty(len(devices), object)
    array[:] = devices  # NumPy would treat a device as a sequence.
    shape = [axis.size for axis in mesh.axes]
    kinds = (jax.sharding.AxisType.Auto,) * len(shape)
    names = [axis.name for axis in mesh.axes]
    return jax.sharding.Mesh(array.reshape(shape), names, axis_types=kinds)


def partition_spec(axes_of_dims: Sequence[tuple[str, ...]]) -> PartitionSpec:
    """Return the `PartitionSpec` of the axes of each dimension."""
    from jax.sharding import PartitionSpec  # noqa: PLC0415

    return PartitionSpec(*(axes[0] if len(axes) == 1 else axes or None for axes in axes_of_dims))


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
