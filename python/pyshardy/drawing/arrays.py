# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layouts of arrays of JAX, read without loading JAX."""

from __future__ import annotations

from typing import Any, Protocol

from mlir_sdy.model import AxisRef, Mesh, ModelError, TensorSharding


class ArrayOfJax(Protocol):
    """An array of JAX."""

    @property
    def shape(self) -> tuple[int, ...]: ...  # noqa: D102
    @property
    def sharding(self) -> Any: ...  # noqa: D102


def layout_of_array(array: ArrayOfJax) -> tuple[TensorSharding, tuple[int, ...], Mesh]:
    """Return the sharding of an array, its shape, and the mesh, with the numbers of its devices.

    Raises:
        ModelError: the sharding isn't by axes of a mesh, but on several devices.
    """
    sharding, rank = array.sharding, len(array.shape)
    if len(sharding.device_set) == 1:
        (device,) = sharding.device_set
        mesh = Mesh.of({}, [device.id])
        return TensorSharding.fully_closed(rank, mesh), array.shape, mesh
    if not hasattr(sharding, "spec"):
        message = f"only arrays with a NamedSharding can be drawn, got: {type(sharding).__name__}"
        raise ModelError(f"{message}; jax.device_put(x, NamedSharding(mesh, spec)) gives one")
    ids = [device.id for device in sharding.mesh.devices.flat]
    is_all = sorted(ids) == list(range(len(ids)))
    mesh = Mesh.of(sharding.mesh.shape, ids if is_all else ())
    axes = [_axes_of(entry) for entry in sharding.spec]
    axes += [()] * (rank - len(axes))
    unreduced = tuple(map(AxisRef, sorted(getattr(sharding.spec, "unreduced", ()))))
    return TensorSharding.from_axes(mesh, axes, unreduced), array.shape, mesh


def _axes_of(entry: str | tuple[str, ...] | None) -> tuple[AxisRef, ...]:
    """Return the axes in an entry of a `PartitionSpec`."""
    if entry is None:
        return ()
    return tuple(map(AxisRef, (entry,) if isinstance(entry, str) else entry))
