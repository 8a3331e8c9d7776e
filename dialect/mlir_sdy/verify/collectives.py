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
    AllToAllParamList,
    add_unreduced_axes,
    all_to_all_axes,
    check_unreduced_transition,
    gather_axes,
    slice_axes,
)
from mlir_sdy.model.text import braced, bracketed
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
            "collective on operand without sharding", parts=[Part("operand", 0)]
        )
    result = value_of(operation.attributes["out_sharding"])
    with inside(_RESULT):
        check_sharding(result, operation.results[0].type, meshes, manual_axes)
    if source is None:
        return
    if kind.one_mesh:
        source_mesh, mesh = mesh_of(source, meshes), mesh_of(result, meshes)
        if source_mesh is not None and source_mesh != mesh:
            raise ConstraintViolation(
                f"result mesh does not match operand mesh: the result is on {mesh}",
                _operand_mesh(operation, source_mesh),
                parts=[_RESULT],
            )
    if source.rank != result.rank:
        raise ConstraintViolation(
            f"result sharding has rank {result.rank} but operand sharding has rank {source.rank}",
            parts=[_RESULT],
        )


def _operand_mesh(operation: ir.Operation, mesh: Mesh | None) -> tuple[ir.Location, str]:
    """Return the note on the mesh of the operand, where the operand is defined."""
    owner = operation.operands[0].owner
    place = owner.owner.location if isinstance(owner, ir.Block) else owner.location
    return place, f"operand mesh: #sdy.mesh{mesh}"


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
    if operation.name == "sdy.collective_permute":
        _check_permuted_meshes(operation, source, result, source_mesh, mesh)
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


def _check_permuted_meshes(
    operation: ir.Operation,
    source: TensorSharding,
    result: TensorSharding,
    source_mesh: Mesh,
    mesh: Mesh,
) -> None:
    """Check that meshes have the same axes; of two meshes by name, the devices differ."""
    if source_mesh.axes != mesh.axes:
        problem = f"result mesh has different axes than operand mesh: {mesh}"
    elif source.mesh_or_ref != result.mesh_or_ref and source_mesh.device_ids == mesh.device_ids:
        problem = f"result mesh name is different but same device ids as operand: {mesh}"
    else:
        return
    raise ConstraintViolation(problem, _operand_mesh(operation, source_mesh), parts=[_RESULT])


def _check_all_gather(collective: CheckedCollective) -> None:
    _check_dims(collective, gather_axes, "gathering")


def _check_all_slice(collective: CheckedCollective) -> None:
    _check_dims(collective, slice_axes, "slicing")


def _check_all_to_all(collective: CheckedCollective) -> None:
    """Check an all-to-all.

    1. There is a move.
    2. The axes of all moves together are valid; each dimension exists, and is the source or the
       target of one move only; moves are in the order of their sources.
    3. The result follows from the moves.
    """
    params: AllToAllParamList = collective.axes
    rank = collective.result.rank
    if not params.value:
        raise ConstraintViolation("parameter list is empty: state a move, as in '{\"x\"}: 0->1'")
    use = AxisUse(collective.mesh)
    seen: set[int] = set()
    previous = -1
    for index, param in enumerate(params):
        _check_parts(param.axes, "all-to-all", param.src_dim)
        with inside(Part("attribute", "params"), Part("element", index)):
            use.check_list(param.axes, f"the move from {param.src_dim} to {param.tgt_dim}")
        for what, dim in (("source", param.src_dim), ("target", param.tgt_dim)):
            if not 0 <= dim < rank:
                raise ConstraintViolation(f"{what} dimension {dim} is out of range [0, {rank})")
        for what, dim in (("source", param.src_dim), ("target", param.tgt_dim)):
            if dim in seen:
                raise ConstraintViolation(
                    f"overlapping source/target dimensions in all-to-all params: {dim}, a {what}"
                )
            seen.add(dim)
        if param.src_dim <= previous:
            raise ConstraintViolation(
                f"source dimensions are not sorted in ascending order: {param.src_dim} appears "
                f"after {previous}"
            )
        previous = param.src_dim
    for param in params:
        before = collective.source.dim_axes[param.src_dim]
        _check_gathered(before, param.axes, collective.mesh, "all-to-all", param.src_dim)
    _compare_dims(all_to_all_axes(collective.source.dim_axes, params, collective.mesh), collective)


def _check_collective_permute(collective: CheckedCollective) -> None:
    """Check that each dimension has the same number of shards before and after a permute."""
    source, result, mesh = collective.source, collective.result, collective.mesh
    for dim, (before, after) in enumerate(zip(source.dim_axes, result.dim_axes, strict=True)):
        if before != after:
            sizes = mesh.axes_size(before), mesh.axes_size(after)
            if sizes[0] != sizes[1]:
                raise ConstraintViolation(
                    f"sharded size of result doesn't match operand on dimension {dim}: {sizes[1]} "
                    f"!= {sizes[0]}, of {braced(after)} and {braced(before)}"
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
            f"operand and result shardings are not equivalent, unreduced axes aside: {source} vs "
            f"{result}"
        )
    with inside(Part("attribute", "reduction_axes")):
        AxisUse(collective.mesh).check_sorted_list(axes, "reduction")
    for others in (*source.dim_axes, source.replicated_axes):
        what = "operand dimension sharding or replicated axes"
        _check_disjoint(axes, others, f"reduction axis {{}} overlaps with {what}: {{}}")
    _check_disjoint(
        axes, result.unreduced_axes, "reduction axis {} overlaps with result unreduced axes: {}"
    )
    _check_reduced(collective)


def _check_reduce_scatter(collective: CheckedCollective) -> None:
    _check_reduced(collective)
    _check_dims(collective, slice_axes, "reduce-scatter")


def _check_sharded_to_unreduced(collective: CheckedCollective) -> None:
    """Check that axes that split dimensions become unreduced axes."""
    _check_kind_is_kept(collective)
    _check_dims(collective, gather_axes, "shard-to-unreduce")
    moved = [axis for axes in collective.axes for axis in axes]
    _compare_unreduced(moved, collective, "sharded_to_unreduced_axes")


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
        raise ConstraintViolation(
            f"input and output must share the same dimension shardings: {source} vs {result}"
        )
    if not axes:
        raise ConstraintViolation("r2u axes must not be empty")
    with inside(Part("attribute", "axes")):
        AxisUse(collective.mesh).check_sorted_list(axes, "r2u")
    for dim_axes in source.dim_axes:
        message = "r2u axis {} overlaps with operand dimension sharding: {}"
        _check_disjoint(axes, dim_axes, message)
    message = "r2u axis {} overlaps with operand unreduced axes: {}"
    _check_disjoint(axes, source.unreduced_axes, message)
    _compare_unreduced(axes, collective, "r2u_axes")


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
    collective: CheckedCollective,
    derive: Callable[[AxisTuple, AxisTuple, Mesh], AxisTuple],
    what: str,
) -> None:
    """Check that the axes for each dimension are valid and give the axes of the result."""
    mesh, lists = collective.mesh, [axes.value for axes in collective.axes]
    use = AxisUse(mesh)
    for dim, axes in enumerate(lists):
        _check_parts(axes, what, dim)
        with inside(Part("attribute", COLLECTIVES[collective.name].axes), Part("element", dim)):
            use.check_list(axes, f"the axes for dimension {dim}")
    rank = collective.result.rank
    if len(lists) != rank:
        raise ConstraintViolation(
            f"result sharding has rank {rank} but collective axes has rank {len(lists)}"
        )
    expected: list[AxisTuple] = []
    for dim, (before, axes) in enumerate(zip(collective.source.dim_axes, lists, strict=True)):
        if derive is gather_axes:
            _check_gathered(before, axes, mesh, what, dim)
        expected.append(derive(before, axes, mesh))
    _compare_dims(expected, collective)


def _compare_dims(expected: Sequence[AxisTuple], collective: CheckedCollective) -> None:
    given = collective.result.dim_axes
    for dim, (wanted, got) in enumerate(zip(expected, given, strict=True)):
        if wanted != got:
            raise ConstraintViolation(
                f"result sharding doesn't match expected sharding {bracketed(wanted)} on dimension "
                f"{dim}: got {bracketed(got)} in {collective.result}",
                parts=[_RESULT, Part("dimension", dim)],
            )


def _compare_unreduced(added: Sequence[AxisRef], collective: CheckedCollective, name: str) -> None:
    expected = add_unreduced_axes(collective.source.unreduced_axes, added, collective.mesh)
    if expected != collective.result.unreduced_axes:
        raise ConstraintViolation(
            f"out_unreduced_axes should be in_unreduced_axes + {name}: {braced(expected)}, got "
            f"{braced(collective.result.unreduced_axes)} in {collective.result}",
            parts=[_RESULT],
        )


def _check_parts(axes: Iterable[AxisRef], what: str, dim: int) -> None:
    """Check that sizes of sub-axes are positive; the result shows whether they fit their axis."""
    for axis in axes:
        info = axis.sub_axis_info
        if info is not None and (info.pre_size < 1 or info.size < 1):
            raise ConstraintViolation(
                f"can't apply {what} axis {axis} to operand sharding on dimension {dim}: its "
                "pre-size and size must be at least 1"
            )


def _check_gathered(
    axes: AxisTuple, gathered: Sequence[AxisRef], mesh: Mesh, what: str, dim: int
) -> None:
    """Check that axes are a suffix of those of a dimension."""
    for taken in range(1, len(gathered) + 1):
        try:
            gather_axes(axes, gathered[-taken:], mesh)
        except ModelError as error:
            raise ConstraintViolation(
                f"can't apply {what} axis {gathered[-taken]} to operand sharding on dimension "
                f"{dim}: {error}"
            ) from None


def _check_disjoint(axes: Sequence[AxisRef], others: Sequence[AxisRef], message: str) -> None:
    for axis in axes:
        for other in others:
            if axis.overlaps(other):
                raise ConstraintViolation(message.format(axis, other))


def _check_kind_is_kept(collective: CheckedCollective) -> None:
    source, result = collective.source, collective.result
    if source.unreduced_axes and source.reduction_kind is not result.reduction_kind:
        raise ConstraintViolation(
            "cannot change reduction_op of existing unreduced axes: "
            f"'{source.reduction_kind.keyword}' became '{result.reduction_kind.keyword}'"
        )


def _check_reduced(collective: CheckedCollective) -> None:
    check_unreduced_transition(
        collective.source,
        collective.result,
        collective.mesh,
        introduced_as=None,
        removed_as=collective.reduction,
    )
