# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for collectives.

Each has the sharding of its result as an attribute. `verify_collective` checks the common rules,
with the other rules for single operations. `verify_collective_axes` checks the rules that need all
meshes: it derives the sharding of the result from the operand's sharding and the axes. Programs
repeat few combinations of these many times, so valid combinations are cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mlir_sdy.attributes import value_of
from mlir_sdy.diagnostics import Part
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    ModelError,
    ReductionOp,
    TensorSharding,
    are_equivalent,
    mesh_of,
)
from mlir_sdy.model.collectives import (
    add_unreduced_axes,
    all_to_all_axes,
    check_unreduced_transition,
    dims_text,
    gather_axes,
    slice_axes,
)
from mlir_sdy.model.text import braced
from mlir_sdy.values import get_sharding
from mlir_sdy.verify.axes import AxisUse
from mlir_sdy.verify.sharding import ManualAxes, check_sharding
from mlir_sdy.verify.violation import ConstraintViolation, inside

_RESULT = Part("attribute", "out_sharding")


@dataclass(frozen=True, slots=True)
class CheckedCollective:
    """The properties of a collective that its rules check.

    Attributes:
        name: the name of the operation.
        source: the sharding of the operand; an open one without axes if it has none.
        result: `out_sharding`.
        source_mesh: the mesh of the operand.
        mesh: the mesh of the result.
        axes: the value of the attribute with the axes, in any form; None without one.
        reduction: the kind of reduction, if it reduces.
    """

    name: str
    source: TensorSharding
    result: TensorSharding
    source_mesh: Mesh
    mesh: Mesh
    axes: Any
    reduction: ReductionOp


@dataclass(frozen=True, slots=True)
class _Kind:
    """The rules for one kind of collective.

    Attributes:
        check: derives and compares; gets a `CheckedCollective`, raises `ConstraintViolation` or
            `ModelError`.
        axes: the name of the attribute that holds the axes; empty without one.
        source_required: whether the operand must have a sharding.
        one_mesh: whether operand and result must have the same mesh.
    """

    check: Callable[[CheckedCollective], None]
    axes: str = ""
    source_required: bool = True
    one_mesh: bool = True


# --- Common rules of collectives --------------------------------------------------------------


def verify_collective(
    operation: ir.Operation,
    source: TensorSharding | None,
    meshes: Mapping[str, Mesh],
    manual_axes: ManualAxes,
) -> None:
    """Check that the shardings of operand and result of a collective are consistent.

    1. The operand has a sharding, unless the operation does not require one.
    2. `out_sharding` fits the type of the result.
    3. Operand and result have equal meshes, unless the operation is between meshes. Different names
       of equal meshes are allowed.
    4. Both shardings have the same rank.

    Args:
        operation: the collective.
        source: the sharding of its operand.
        meshes: the meshes of the module.
        manual_axes: the manual axes around.

    Raises:
        Violation: the first rule that is broken.
    """
    kind = COLLECTIVES[operation.name]
    if source is None and kind.source_required:
        raise ConstraintViolation(
            "expects an operand that has a sharding", parts=[Part("operand", 0)]
        )
    result = value_of(operation.attributes["out_sharding"])
    with inside(_RESULT):
        check_sharding(result, operation.results[0].type, meshes, manual_axes)
    if source is None:
        return
    if kind.one_mesh:
        source_mesh, mesh = mesh_of(source, meshes), mesh_of(result, meshes)
        if source_mesh != mesh:
            raise ConstraintViolation(
                f"result mesh does not match operand mesh: the result is on {mesh}",
                (_place_of(operation.operands[0]), f"the operand is on {source_mesh}"),
                parts=[_RESULT],
            )
    if source.rank != result.rank:
        raise ConstraintViolation(
            f"result sharding rank does not match operand sharding rank: {result.rank} vs "
            f"{source.rank}",
            parts=[_RESULT],
        )


def _place_of(value: ir.Value) -> ir.Location:
    """Return the operation that defines a value, or that has it as a block argument."""
    owner = value.owner
    return owner.owner.location if isinstance(owner, ir.Block) else owner.location


# --- Rules of each kind -----------------------------------------------------------------------


def verify_collective_axes(operation: ir.Operation, meshes: Mapping[str, Mesh]) -> None:
    """Check that the sharding of a collective's result follows from its operand and its axes.

    Raises:
        Violation: it does not, or the axes are invalid.
    """
    attributes = operation.attributes
    kind = COLLECTIVES[operation.name]
    result = value_of(attributes["out_sharding"])
    source = get_sharding(operation.operands[0])
    if source is None:
        source = TensorSharding.fully_open(result.rank, result.mesh_or_ref)
    source_mesh, mesh = mesh_of(source, meshes), mesh_of(result, meshes)
    assert source_mesh is not None, "the sharding of the operand was verified"
    assert mesh is not None, "that of the result was verified"
    reduction = attributes.get("reduction_op")
    _check(
        CheckedCollective(
            operation.name,
            source,
            result,
            source_mesh,
            mesh,
            value_of(attributes[kind.axes]) if kind.axes else None,
            ReductionOp.SUM if reduction is None else ReductionOp(reduction.value),
        )
    )


@lru_cache(maxsize=4096)
def _check(collective: CheckedCollective) -> None:
    """Check a collective; `lru_cache` caches valid ones, which raise no exception."""
    try:
        COLLECTIVES[collective.name].check(collective)
    except ModelError as error:
        raise ConstraintViolation(str(error)).on_mesh(collective.result.mesh_or_ref) from None
    except ConstraintViolation as violation:
        raise violation.on_mesh(collective.result.mesh_or_ref) from None


def _check_all_gather(collective: CheckedCollective) -> None:
    _check_dims(collective, gather_axes)


def _check_all_slice(collective: CheckedCollective) -> None:
    _check_dims(collective, slice_axes)


def _check_all_to_all(collective: CheckedCollective) -> None:
    """Check an all-to-all.

    1. There is a move.
    2. The axes of all moves together are valid; each dimension exists, and is the source or the
       target of one move only; moves are in the order of their sources.
    3. The result follows from the moves.
    """
    params, rank = collective.axes, collective.result.rank
    if not params.value:
        raise ConstraintViolation("expects at least one move of axes, as in '{\"x\"}: 0->1'")
    use = AxisUse(collective.mesh)
    seen: set[int] = set()
    previous = -1
    for index, param in enumerate(params):
        _check_parts(param.axes)
        with inside(Part("attribute", "params"), Part("element", index)):
            use.check_list(param.axes, f"the move from {param.src_dim} to {param.tgt_dim}")
        for what, dim in (("source", param.src_dim), ("target", param.tgt_dim)):
            if not 0 <= dim < rank:
                raise ConstraintViolation(f"{what} dimension {dim} is out of range [0, {rank})")
        for what, dim in (("source", param.src_dim), ("target", param.tgt_dim)):
            if dim in seen:
                raise ConstraintViolation(
                    f"overlapping moves: dimension {dim}, a {what}, is used before"
                )
            seen.add(dim)
        if param.src_dim <= previous:
            raise ConstraintViolation(
                f"source dimensions must be in ascending order: {param.src_dim} comes after "
                f"{previous}"
            )
        previous = param.src_dim
    _compare_dims(all_to_all_axes(collective.source.dim_axes, params, collective.mesh), collective)


def _check_collective_permute(collective: CheckedCollective) -> None:
    """Check a collective permute.

    1. The meshes have the same axes; if they are not one mesh by name, their devices differ.
    2. Each dimension has the same number of shards as before.
    """
    source, result = collective.source, collective.result
    mesh, source_mesh = collective.mesh, collective.source_mesh
    if source_mesh.axes != mesh.axes:
        raise ConstraintViolation(
            f"result mesh must have the axes of the operand mesh: {mesh} vs {source_mesh}"
        )
    if source.mesh_or_ref != result.mesh_or_ref and source_mesh.device_ids == mesh.device_ids:
        raise ConstraintViolation(
            f"result mesh must have other device ids than the operand mesh, or be the same: {mesh}"
        )
    for dim, (before, after) in enumerate(zip(source.dim_axes, result.dim_axes, strict=True)):
        if before != after:
            sizes = mesh.axes_size(before), mesh.axes_size(after)
            if sizes[0] != sizes[1]:
                raise ConstraintViolation(
                    f"sharded size of dimension {dim} must stay {sizes[0]}, as of "
                    f"{braced(before)}, got {sizes[1]}, as of {braced(after)}"
                )


def _check_all_reduce(collective: CheckedCollective) -> None:
    """Check an all-reduce.

    1. Operand and result have equal shardings except for unreduced axes.
    2. The axes are ordered and valid.
    3. None of them splits or replicates the operand, nor is unreduced in the result.
    4. Unreduced axes of the kind of reduction may be removed, but none introduced.
    """
    source, result, axes = collective.source, collective.result, collective.axes.value
    if not are_equivalent(source, result, ignore_unreduced=True):
        raise ConstraintViolation(
            "operand and result must be sharded alike, unreduced axes aside: expected "
            f"{source}, got {result}"
        )
    with inside(Part("attribute", "reduction_axes")):
        AxisUse(collective.mesh).check_sorted_list(axes, "reduction")
    for dim_axes in source.dim_axes:
        _check_disjoint(axes, dim_axes, "reduction axis {} overlaps the operand's sharding axis {}")
    _check_disjoint(
        axes, source.replicated_axes, "reduction axis {} overlaps the operand's replicated axis {}"
    )
    _check_disjoint(
        axes, result.unreduced_axes, "reduction axis {} overlaps the result's unreduced axis {}"
    )
    _check_reduced(collective)


def _check_reduce_scatter(collective: CheckedCollective) -> None:
    _check_reduced(collective)
    _check_dims(collective, slice_axes)


def _check_sharded_to_unreduced(collective: CheckedCollective) -> None:
    """Check that axes that split dimensions become unreduced axes."""
    _check_kind_is_kept(collective)
    _check_dims(collective, gather_axes)
    _compare_unreduced([axis for axes in collective.axes for axis in axes], collective)


def _check_replicated_to_unreduced(collective: CheckedCollective) -> None:
    """Check that unused axes become unreduced axes.

    1. The result has the kind of reduction of the operand if that has unreduced axes, and its
       dimension shardings, with priorities and openness.
    2. There are axes; they are ordered and valid.
    3. None of them splits the operand, or is unreduced there.
    4. The result's unreduced axes are those of the operand and these.
    """
    source, result, axes = collective.source, collective.result, collective.axes.value
    _check_kind_is_kept(collective)
    if source.dim_shardings != result.dim_shardings:
        expected = result.with_dims(source.dim_shardings)
        raise ConstraintViolation(
            "operand and result must have the same sharding of dimensions: expected "
            f"{expected}, got {result}"
        )
    if not axes:
        raise ConstraintViolation("expects at least one axis")
    with inside(Part("attribute", "axes")):
        AxisUse(collective.mesh).check_sorted_list(axes, "r2u")
    for dim_axes in source.dim_axes:
        _check_disjoint(axes, dim_axes, "axis {} overlaps the operand's sharding axis {}")
    _check_disjoint(axes, source.unreduced_axes, "axis {} overlaps the operand's unreduced axis {}")
    _compare_unreduced(axes, collective)


COLLECTIVES: dict[str, _Kind] = {
    "sdy.all_gather": _Kind(_check_all_gather, "gathering_axes"),
    "sdy.all_reduce": _Kind(_check_all_reduce, "reduction_axes", source_required=False),
    "sdy.all_slice": _Kind(_check_all_slice, "slicing_axes", source_required=False),
    "sdy.all_to_all": _Kind(_check_all_to_all, "params"),
    "sdy.collective_permute": _Kind(_check_collective_permute, one_mesh=False),
    "sdy.reduce_scatter": _Kind(
        _check_reduce_scatter, "reduce_scatter_axes", source_required=False
    ),
    "sdy.replicated_to_unreduced": _Kind(_check_replicated_to_unreduced, "axes"),
    "sdy.sharded_to_unreduced": _Kind(_check_sharded_to_unreduced, "axes"),
}
"""The rules for each collective, by its full name."""


# --- Helpers ------------------------------------------------------------------------------------


def _check_dims(
    collective: CheckedCollective, derive: Callable[[AxisTuple, AxisTuple, Mesh], AxisTuple]
) -> None:
    """Check that the axes for each dimension are valid and give the axes of the result."""
    mesh, lists = collective.mesh, [axes.value for axes in collective.axes]
    use = AxisUse(mesh)
    for dim, axes in enumerate(lists):
        _check_parts(axes)
        with inside(Part("attribute", COLLECTIVES[collective.name].axes), Part("element", dim)):
            use.check_list(axes, f"the axes for dimension {dim}")
    rank = collective.result.rank
    if len(lists) != rank:
        raise ConstraintViolation(
            f"expects a list of axes for each of {rank} dimensions, got {len(lists)}"
        )
    expected: list[AxisTuple] = []
    for dim, (before, axes) in enumerate(zip(collective.source.dim_axes, lists, strict=True)):
        try:
            expected.append(derive(before, axes, mesh))
        except ModelError as error:
            raise ConstraintViolation(f"dimension {dim}: {error}") from None
    _compare_dims(expected, collective)


def _compare_dims(expected: Sequence[AxisTuple], collective: CheckedCollective) -> None:
    given = collective.result.dim_axes
    for dim, (wanted, got) in enumerate(zip(expected, given, strict=True)):
        if wanted != got:
            raise ConstraintViolation(
                f"result sharding doesn't match expected sharding {dims_text(expected)}: "
                f"dimension {dim} should have {braced(wanted)}, got {braced(got)} in "
                f"{collective.result}",
                parts=[_RESULT, Part("dimension", dim)],
            )


def _compare_unreduced(added: Sequence[AxisRef], collective: CheckedCollective) -> None:
    expected = add_unreduced_axes(collective.source.unreduced_axes, added, collective.mesh)
    if expected != collective.result.unreduced_axes:
        raise ConstraintViolation(
            f"result sharding doesn't match expected unreduced axes {braced(expected)}, got "
            f"{braced(collective.result.unreduced_axes)} in {collective.result}",
            parts=[_RESULT],
        )


def _check_parts(axes: Iterable[AxisRef]) -> None:
    """Check that sizes of sub-axes are positive; the result shows whether they fit their axis."""
    for axis in axes:
        info = axis.sub_axis_info
        if info is not None and (info.pre_size < 1 or info.size < 1):
            raise ConstraintViolation(f"sub-axis pre-size and size must be at least 1: {axis}")


def _check_disjoint(axes: Sequence[AxisRef], others: Sequence[AxisRef], message: str) -> None:
    for axis in axes:
        for other in others:
            if axis.overlaps(other):
                raise ConstraintViolation(message.format(axis, other))


def _check_kind_is_kept(collective: CheckedCollective) -> None:
    source, result = collective.source, collective.result
    if source.unreduced_axes and source.reduction_kind is not result.reduction_kind:
        raise ConstraintViolation(
            f"axes that stay unreduced must keep their kind: '{source.reduction_kind.keyword}' "
            f"became '{result.reduction_kind.keyword}'"
        )


def _check_reduced(collective: CheckedCollective) -> None:
    check_unreduced_transition(
        collective.source,
        collective.result,
        collective.mesh,
        introduced_as=None,
        removed_as=collective.reduction,
    )
