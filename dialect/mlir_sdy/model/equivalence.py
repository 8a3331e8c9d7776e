# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Equivalence of shardings, and the common mesh of several shardings.

A sharding may be absent (None): such a value is fully replicated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.sharding import TensorSharding


def are_equivalent(
    first: TensorSharding | None, second: TensorSharding | None, *, ignore_unreduced: bool = False
) -> bool:
    """Whether two shardings distribute a tensor equally.

    1. A sharding is *plain* if it is absent, or has neither axes of dimensions nor (unless these
       are ignored) unreduced axes. If `first` is plain, the result is whether `second` is, on any
       mesh and of any rank.
    2. The meshes are the same as written: a name never equals an inlined mesh.
    3. The unreduced axes are the same (unless ignored). The kind of reduction is not compared.
    4. The axes of each dimension are the same.

    Priorities, replicated axes, and whether a dimension is open are ignored:
    `<@m, [{"x", ?}p1], replicated={"y"}>` is equivalent to `<@m, [{"x"}]>`.
    """
    if first is second:
        return True
    if _is_plain(first, ignore_unreduced):
        return _is_plain(second, ignore_unreduced)
    if first is None or second is None or first.mesh_or_ref != second.mesh_or_ref:
        return False
    if not ignore_unreduced and first.unreduced_axes != second.unreduced_axes:
        return False
    return first.dim_axes == second.dim_axes


def _is_plain(sharding: TensorSharding | None, ignore_unreduced: bool) -> bool:
    if sharding is None:
        return True
    return sharding.is_fully_replicated and (ignore_unreduced or not sharding.unreduced_axes)


def are_equivalent_if_given(
    first: TensorSharding | None, second: TensorSharding | None, *, ignore_unreduced: bool = False
) -> bool:
    """Whether shardings are equivalent, or `first` is absent and `second` shards no dimension.

    The unreduced axes of `second` are ignored in the latter case; see `are_equivalent`.
    """
    if first is None:
        return second is None or second.is_fully_replicated
    return are_equivalent(first, second, ignore_unreduced=ignore_unreduced)


def mesh_of(sharding: TensorSharding, meshes: Mapping[str, Mesh]) -> Mesh | None:
    """The mesh of a sharding: the inlined one, or the one of that name; None if there is none."""
    mesh = sharding.mesh_or_ref
    return meshes.get(mesh) if isinstance(mesh, str) else mesh


def common_mesh(
    shardings: Iterable[TensorSharding | None],
    meshes: Mapping[str, Mesh],
    *,
    ignore_device_ids: bool = False,
) -> str | Mesh | None:
    """Return the common mesh of all shardings, as the first sharding on it writes it.

    Absent shardings are skipped. The first mesh becomes the candidate; for each further one:

    1. an empty candidate is replaced by it;
    2. if it is empty, it is skipped;
    3. otherwise it must equal the candidate, or there is no common mesh. Meshes are compared by
       value, so two names of equal meshes are compatible;
    4. when device ids are ignored, a mesh without explicit ids replaces the candidate.

    Args:
        shardings: the shardings.
        meshes: the meshes by the names of their symbols.
        ignore_device_ids: whether to ignore the device ids of meshes with the same axes.

    Returns:
        The mesh or its name; None if there are no shardings, a name is unknown, or they differ.
    """
    candidate: Mesh | None = None
    written: str | Mesh | None = None
    for sharding in shardings:
        if sharding is None:
            continue
        mesh = mesh_of(sharding, meshes)
        if mesh is None:
            return None
        if candidate is None or candidate.is_empty:
            candidate, written = mesh, sharding.mesh_or_ref
        elif mesh.is_empty or mesh == candidate:
            continue
        elif not (ignore_device_ids and candidate.equals_ignoring_device_ids(mesh)):
            return None
        elif not mesh.device_ids:
            candidate, written = mesh, sharding.mesh_or_ref
    return written


def complete_shardings(
    shardings: Iterable[TensorSharding | None], ranks: Iterable[int], meshes: Mapping[str, Mesh]
) -> tuple[TensorSharding, ...] | None:
    """Complete the shardings of all arguments (or results) of a function.

    Missing ones are fully open on the mesh of the first sharding whose mesh is not maximal. If
    there is no such sharding, they stay missing.

    Args:
        shardings: the sharding of each value, or None.
        ranks: the rank of each value, 0 if it is not a tensor.
        meshes: the meshes by the names of their symbols.
    """
    given = tuple(shardings)
    for sharding in given:
        mesh = None if sharding is None else mesh_of(sharding, meshes)
        if sharding is not None and (mesh is None or not mesh.is_maximal):
            return tuple(
                TensorSharding.fully_open(rank, sharding.mesh_or_ref) if own is None else own
                for own, rank in zip(given, ranks, strict=True)
            )
    return None
