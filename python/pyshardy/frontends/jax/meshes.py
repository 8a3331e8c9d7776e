# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Meshes and shardings as JAX has them."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.model import Mesh
from pyshardy.frontends.jax.refined_mesh import RefinedMesh

if TYPE_CHECKING:
    import jax
    from jax.sharding import AbstractMesh, PartitionSpec


def abstract_mesh(mesh: Mesh) -> AbstractMesh:
    """Return the mesh without devices; they need not be there to lower a function for it.

    Its axes are the compiler's to use, as those of `device_mesh`: what JAX makes of axes by default
    changed with version 0.11.
    """
    from jax.sharding import AbstractMesh, AxisType  # noqa: PLC0415

    return AbstractMesh(
        tuple(axis.size for axis in mesh.axes),
        tuple(axis.name for axis in mesh.axes),
        axis_types=(AxisType.Auto,) * len(mesh.axes),
    )


def mesh_of_model(mesh: jax.sharding.Mesh | AbstractMesh) -> Mesh:
    """A mesh of JAX as a plain value. Its devices are numbered in its own order."""
    return Mesh.of(dict(zip(mesh.axis_names, mesh.axis_sizes, strict=True)))


def mesh_in_force() -> Any:
    """The mesh of `jax.set_mesh`; None if there is none, or JAX is tracing and doesn't tell."""
    import jax  # noqa: PLC0415

    try:
        mesh = jax.sharding.get_mesh()
    except ValueError:
        return None
    return None if mesh.empty else mesh


def cut_mesh(grid: RefinedMesh, mesh: jax.sharding.Mesh) -> jax.sharding.Mesh:
    """The mesh of a grid over the devices of the mesh that it cuts, with axes of the same kinds."""
    import jax  # noqa: PLC0415

    kinds = dict(zip(mesh.axis_names, mesh.axis_types, strict=True))
    return jax.sharding.Mesh(
        mesh.devices.reshape([axis.size for axis in grid.mesh.axes]),
        [axis.name for axis in grid.mesh.axes],
        axis_types=tuple(kinds[name] for name in grid.origins),
    )


def device_mesh(mesh: Mesh, devices: Sequence[Any]) -> jax.sharding.Mesh:
    """The mesh over devices of JAX, which stand in its order."""
    import jax  # noqa: PLC0415

    array = np.empty(len(devices), object)
    array[:] = devices  # NumPy would look into a device for the elements of an array.
    shape = [axis.size for axis in mesh.axes]
    kinds = (jax.sharding.AxisType.Auto,) * len(shape)
    names = [axis.name for axis in mesh.axes]
    return jax.sharding.Mesh(array.reshape(shape), names, axis_types=kinds)


def partition_spec(axes_of_dims: Sequence[tuple[str, ...]]) -> PartitionSpec:
    """The axes of each dimension as JAX writes them."""
    from jax.sharding import PartitionSpec  # noqa: PLC0415

    return PartitionSpec(*(axes[0] if len(axes) == 1 else axes or None for axes in axes_of_dims))


def available_devices(count: int) -> list[Any]:
    """The first devices that JAX has.

    Raises:
        UsageError: there are not as many.
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
