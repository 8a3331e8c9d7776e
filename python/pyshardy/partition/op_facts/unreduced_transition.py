# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of unreduced axes between the operands and the results of an operation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlir_sdy.model import Mesh, ReductionOp, TensorSharding, mesh_of
from mlir_sdy.model.axis_lists import AxisTuple, lists_overlap, set_difference

Shardings = Sequence[TensorSharding]


def broken_transition(
    operands: Shardings,
    results: Shardings,
    meshes: Mapping[str, Mesh],
    *,
    introduced_as: ReductionOp | None,
    removed_as: ReductionOp | None = None,
) -> str | None:
    """Return an error about the unreduced axes of an operation; None if there is none.

    Shardings on different meshes are not checked. Otherwise the error is about the first condition
    that doesn't hold:

    1. Axes that no operand but some result has are *introduced*. The operation must be able to
       introduce axes, and each result that has some of them is unreduced by `introduced_as`.
    2. Axes that no result but some operand has are *removed*. The operation must be able to remove
       axes, and each operand that has some of them is unreduced by `removed_as`.
    3. Other axes keep their reduction.

    From `unreduced={"x"}` to `unreduced={"x":(1)2, "y"}`, on an axis `"x"` of size 4, the axis
    `"y"` is introduced and `"x":(2)2` removed.

    Args:
        operands: the shardings of the operands that have one.
        results: the shardings of the results that have one.
        meshes: the meshes by the names of their symbols.
        introduced_as: the reduction of axes that the operation introduces; None if it can't.
        removed_as: the reduction that the operation carries out; None if it carries out none.
    """
    mesh = _only_mesh((*operands, *results), meshes)
    if mesh is None:
        return None
    introduced = _missing(results, operands, mesh)
    if introduced and introduced_as is None:
        return f"cannot add new unreduced axis '{introduced[0].name}'."
    for kind in _other_kinds(results, introduced, introduced_as):
        return f"cannot introduce '{kind}' unreduced axes. Expected '{introduced_as}'."
    removed = _missing(operands, results, mesh)
    if removed and removed_as is None:
        return (
            f"dropped unreduced axis '{removed[0].name}' without a blessed operation (e.g., "
            "sdy.reshard). This is an invalid transition from unreduced to reduced."
        )
    for kind in _other_kinds(operands, removed, removed_as):
        return f"cannot reduce '{kind}' unreduced axes. Expected '{removed_as}'."
    for operand in operands:
        for kind in _other_kinds(results, operand.unreduced_axes, operand.reduction_kind):
            return (
                "cannot change the reduction operator of kept unreduced axes from "
                f"{operand.reduction_kind} to {kind}."
            )
    return None


def _only_mesh(shardings: Shardings, meshes: Mapping[str, Mesh]) -> Mesh | None:
    """Return the mesh of all shardings, by value; None if there are several, or none."""
    found = {mesh_of(sharding, meshes) for sharding in shardings}
    return found.pop() if len(found) == 1 else None


def _missing(shardings: Shardings, others: Shardings, mesh: Mesh) -> AxisTuple:
    """Return the unreduced axes of `shardings` that no sharding of `others` has."""
    axes = tuple(axis for sharding in shardings for axis in sharding.unreduced_axes)
    for other in others:
        axes = set_difference(axes, other.unreduced_axes, mesh)
    return axes


def _other_kinds(
    shardings: Shardings, axes: AxisTuple, kind: ReductionOp | None
) -> Iterable[ReductionOp]:
    """Yield other reductions than `kind` of shardings that are unreduced along some of `axes`."""
    return (
        sharding.reduction_kind
        for sharding in shardings
        if sharding.reduction_kind is not kind and lists_overlap(sharding.unreduced_axes, axes)
    )
