# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The layouts of values of a module."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, ModelError, TensorSharding, mesh_of
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import get_sharding


def layout_of(value: ir.Value) -> tuple[TensorSharding, tuple[int, ...], Mesh]:
    """Return the sharding of a value, its shape, and the mesh.

    A value without a sharding is replicated on the only mesh of its module.

    Raises:
        ModelError: the value isn't a tensor of static shape, or the mesh is unknown.
    """
    if not hasattr(value, "owner"):
        raise ModelError(f"expected a sharding, a value or a sharded array, got: {value!r}")
    if not isinstance(value.type, ir.RankedTensorType) or not value.type.has_static_shape:
        raise ModelError(f"only tensors of static shape can be drawn, got: {value.type}")
    owner = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner
    module = enclosing_module(owner.operation)
    meshes = {} if module is None else meshes_of(module)
    shape = tuple(value.type.shape)
    sharding = get_sharding(value)
    if sharding is None and len(meshes) == 1:
        sharding = TensorSharding.fully_closed(len(shape), *meshes)
    mesh = None if sharding is None else mesh_of(sharding, meshes)
    if sharding is None or mesh is None:
        raise ModelError("the value has no sharding, and its module has no mesh or several ones")
    return sharding, shape, mesh
