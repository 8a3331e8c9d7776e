# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for a sharding of a value of a given type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.diagnostics import Part
from mlir_sdy.host import ir
from mlir_sdy.model import DimensionSharding, Mesh, TensorSharding, mesh_of
from mlir_sdy.suggest import did_you_mean
from mlir_sdy.traversal import global_type
from mlir_sdy.verify.axes import AxisUse
from mlir_sdy.verify.violation import BINDING, ConstraintViolation, bound_axis, inside

ManualAxes = Mapping[str, ir.Location]
"""The manual axes around an operation, each with the computation that binds it."""


def check_sharding(
    sharding: TensorSharding,
    value_type: ir.Type | None,
    meshes: Mapping[str, Mesh],
    manual_axes: ManualAxes,
) -> None:
    """Check a sharding against the type of its value, or against no value at all (None).

    1. The mesh exists.
    2. On a maximal mesh, or without a value, it has rank 0 and no axes; no other rules apply.
    3. The same holds for values that are not tensors, such as tokens. A tuple counts as its only
       element.
    4. A tensor is ranked, and has the rank of the sharding.
    5. For each dimension: the priority is not negative, there is one only with axes or if the
       dimension is open, and the axes are valid (`AxisUse.check_list`).
    6. Replicated, then unreduced axes are ordered and valid.
    7. Sub-axes fit (`AxisUse.check_sub_axes`).
    8. No axis is a manual axis of a computation around.

    Raises:
        Violation: the first rule that is broken.
    """
    mesh = mesh_of(sharding, meshes)
    if mesh is None:
        name = str(sharding.mesh_or_ref)
        advice = did_you_mean(name, meshes, prefix="@") or "; declare it with 'sdy.mesh'"
        raise ConstraintViolation(
            f"unknown mesh: @{name}{advice}", parts=[Part("text", f"@{name}")]
        )
    if mesh.is_maximal:
        _check_bare(sharding, "a single-device sharding")
        return
    if value_type is None and sharding.is_fully_replicated:
        _check_bare(sharding, "a single-device sharding")
        return
    shaped = _shaped(value_type)
    if shaped is None:
        given = f" type: '{value_type}', sharding: #sdy.sharding{sharding}"
        _check_bare(sharding, "non-shaped tensors", given)
        return
    if not shaped.has_rank:
        raise ConstraintViolation(f"only ranked tensors can have a sharding. type: '{value_type}'")
    if sharding.rank != shaped.rank:
        raise ConstraintViolation(
            f"sharding doesn't match tensor rank: {sharding.rank} != {shaped.rank}, the rank of "
            f"{value_type}"
        )
    try:
        _check_axes(sharding, AxisUse(mesh))
    except ConstraintViolation as violation:
        raise violation.on_mesh(sharding.mesh_or_ref) from None
    for axis in sharding.all_axes():
        if axis.name in manual_axes:
            raise ConstraintViolation(
                bound_axis(axis.name),
                (manual_axes[axis.name], BINDING),
                parts=[Part("text", f'"{axis.name}"')],
            )


def _check_axes(sharding: TensorSharding, use: AxisUse) -> None:
    """Check rules 5 to 7 of `check_sharding`."""
    for dim, dim_sharding in enumerate(sharding.dim_shardings):
        with inside(Part("dimension", dim)):
            _check_priority(dim, dim_sharding)
            use.check_list(dim_sharding.axes, f"dimension {dim}")
    use.check_sorted_list(sharding.replicated_axes, "replicated")
    use.check_sorted_list(sharding.unreduced_axes, "unreduced")
    use.check_sub_axes()


def _check_priority(dim: int, dim_sharding: DimensionSharding) -> None:
    priority = dim_sharding.priority
    if priority is None:
        return
    if priority < 0:
        raise ConstraintViolation(f"dim {dim} has a negative priority: {priority}")
    if dim_sharding.is_closed and not dim_sharding.axes:
        raise ConstraintViolation(
            f"dim {dim} is empty and closed but has a priority, {priority}: nothing can "
            "propagate there; remove the priority or open the dimension"
        )


def check_shardings(
    shardings: Sequence[TensorSharding],
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
    manual_axes: ManualAxes,
    what: str,
    *,
    separator: str = " - ",
) -> None:
    """Check one sharding per value; `what` ("result", say) begins the message.

    An operation without values may carry one sharding, on a maximal mesh or without axes.

    Raises:
        Violation: the numbers differ, or the first sharding that breaks a rule.
    """
    if not types and len(shardings) == 1:
        mesh = mesh_of(shardings[0], meshes)
        if shardings[0].is_fully_replicated or (mesh is not None and mesh.is_maximal):
            try:
                check_sharding(shardings[0], None, meshes, manual_axes)
            except ConstraintViolation as violation:
                raise violation.prefixed(f"{what} 0{separator}") from None
            return
    if len(shardings) != len(types):
        raise ConstraintViolation(
            f"{what} shardings don't match number of values: {len(shardings)} shardings vs "
            f"{len(types)} values"
        )
    for index, (sharding, value_type) in enumerate(zip(shardings, types, strict=True)):
        try:
            check_sharding(sharding, value_type, meshes, manual_axes)
        except ConstraintViolation as violation:
            number = f" {index}" if len(types) > 1 else ""
            inside = violation.inside(Part("element", index))
            raise inside.prefixed(f"{what}{number}{separator}") from None


def _check_bare(sharding: TensorSharding, what: str, given: str = "") -> None:
    if sharding.rank or sharding.replicated_axes or sharding.unreduced_axes:
        raise ConstraintViolation(
            f"{what} can only have a sharding with rank 0 and no replicated or unreduced axes."
            + given
        )


def _shaped(value_type: ir.Type | None) -> ir.ShapedType | None:
    if isinstance(value_type, ir.TupleType):
        if value_type.num_types != 1:
            raise ConstraintViolation(
                f"ops can only have a sharding for a tuple of size 1: '{value_type}'"
            )
        value_type = value_type.get_type(0)
    shaped = global_type(value_type)
    return shaped if isinstance(shaped, ir.ShapedType) else None
