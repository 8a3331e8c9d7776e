# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The slice of a sharded tensor that each device holds."""

from __future__ import annotations

from mlir_sdy.model.devices import shard_indices
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.sharding import Shape, TensorSharding


def device_slices(
    sharding: TensorSharding, mesh: Mesh, shape: Shape
) -> dict[int, tuple[slice, ...]]:
    """Return for each device id the slice of the global tensor that the device holds.

    1. A dimension of size D split into n shards has shards of size ceil(D / n), of which the
       last ones are short or empty if n doesn't divide D.
    2. A device holds the shard at its shard index along the axes of the dimension.
    3. Without dimensions in the sharding (as on a maximal mesh) each device holds the full tensor.

    On `<["x"=4]>`, `[{"x"}]` splits 6 elements to `0:2`, `2:4`, `4:6` and `6:6`.

    Args:
        sharding: the sharding of the tensor.
        mesh: the mesh that the sharding refers to.
        shape: the global shape, with static sizes only.
    """
    if not sharding.dim_shardings:
        whole = tuple(slice(0, size) for size in shape)
        return dict.fromkeys(mesh.devices, whole)
    local_shape = sharding.local_shape(shape, mesh)
    slices_by_dim = [
        [
            slice(min(index * local, size), min((index + 1) * local, size))
            for index in shard_indices(mesh, dim.axes)
        ]
        for dim, size, local in zip(sharding.dim_shardings, shape, local_shape, strict=True)
    ]
    return dict(zip(mesh.devices, zip(*slices_by_dim, strict=True), strict=True))
