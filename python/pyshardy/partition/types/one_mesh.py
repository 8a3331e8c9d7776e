# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations whose tensors are on several meshes of the same devices.

An axis has a meaning on its own mesh only, so the tensors are moved to one mesh first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from mlir_sdy.model import Mesh, MeshAxis, TensorSharding, mesh_of
from mlir_sdy.model.mesh_change import sharding_on


def has_several_meshes(meshes: Mapping[str, Mesh]) -> bool:
    """Whether a module has different meshes with axes."""
    return len({mesh for mesh in meshes.values() if mesh.axes}) > 1


def shardings_on_one_mesh(
    shardings: Sequence[TensorSharding | None], num_operands: int, meshes: Mapping[str, Mesh]
) -> dict[int, TensorSharding]:
    """Return new shardings for the tensors of an operation that are not on its majority mesh.

    If equally many tensors are on several meshes, the first one is taken. A tensor keeps its layout
    if the axes of that mesh can express it, and is replicated otherwise. Replicated operands are
    the same on all meshes, but replicated results may have to be reduced along axes of the
    operands.

    Args:
        shardings: those of the operands, then results.
        num_operands: the number of operands.
        meshes: the meshes of the module by name.

    Returns:
        The new shardings by the position of the tensor; empty if all tensors are on one mesh, up to
        the order of devices, or meshes have different numbers of devices.
    """
    on: dict[int, Mesh] = {}
    for index, sharding in enumerate(shardings):
        mesh = None if sharding is None else mesh_of(sharding, meshes)
        if sharding is not None and not sharding.is_fully_replicated and mesh and mesh.axes:
            on[index] = mesh
    counts: Counter[tuple[MeshAxis, ...]] = Counter(mesh.axes for mesh in on.values())
    if not on or len({mesh.total_size for mesh in on.values()}) > 1:
        return {}
    ((chosen, _),) = counts.most_common(1)
    first = next(index for index, mesh in on.items() if mesh.axes == chosen)
    target = shardings[first]
    assert target is not None, "only tensors with shardings are on a mesh"
    new: dict[int, TensorSharding] = {}
    for index, mesh in on.items():
        sharding = shardings[index]
        if mesh.axes != chosen and sharding is not None:
            alike = sharding_on(sharding, mesh, on[first], target.mesh_or_ref)
            replicated = TensorSharding.fully_closed(sharding.rank, target.mesh_or_ref)
            new[index] = alike or replicated
    for index, sharding in enumerate(shardings):
        if index < num_operands or index in on or sharding is None:
            continue
        mesh = mesh_of(sharding, meshes)
        if mesh and mesh.axes and mesh != on[first]:
            new[index] = TensorSharding.fully_closed(sharding.rank, target.mesh_or_ref)
    return new


def is_change_of_mesh(
    before: TensorSharding | None, after: TensorSharding | None, meshes: Mapping[str, Mesh]
) -> bool:
    """Whether two shardings on different meshes are the same layout of the same devices."""
    if before is None or after is None or before.unreduced_axes or after.unreduced_axes:
        return False
    old, new = mesh_of(before, meshes), mesh_of(after, meshes)
    if old is None or new is None or not (old.axes and new.axes):
        return False
    alike = sharding_on(before, old, new, after.mesh_or_ref)
    return alike is not None and alike.dim_axes == after.dim_axes


def on_one_mesh(
    shardings: tuple[TensorSharding | None, ...], meshes: Mapping[str, Mesh]
) -> tuple[TensorSharding | None, ...]:
    """Return shardings on the mesh of the first of them by which devices hold the same parts.

    Shardings stay where they are if that mesh can't express one, or if one has unreduced axes.

    Args:
        shardings: those of the tensors of an operation.
        meshes: the meshes of the module by name.
    """
    on = {
        index: (sharding, mesh)
        for index, sharding in enumerate(shardings)
        if sharding is not None
        and not sharding.is_fully_replicated
        and (mesh := mesh_of(sharding, meshes))
    }
    if len({mesh for _, mesh in on.values()}) <= 1:
        return shardings
    first, target = next(iter(on.values()))
    new = list(shardings)
    for index, (sharding, mesh) in on.items():
        if mesh != target:
            new[index] = sharding_on(sharding, mesh, target, first.mesh_or_ref)
            if new[index] is None or sharding.unreduced_axes:
                return shardings
    return tuple(new)
