# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Completions of partial results that are resharded afterwards, and their cost.

Partial results along some axes are completed

1. by an all-reduce, and resharded; or
2. by a reduce-scatter along these axes, from which the reshard goes on.

If the reshard begins with a slice along all of these axes, the all-reduce and the slice are one
reduce-scatter. Otherwise each way to scatter the axes along dimensions that they divide is a
candidate.

Example: on a mesh `<["x"=4, "y"=2]>`, a `tensor<8x8xf32>`, partial along `x` and `y`, is wanted as
`[{"x"}, {}]`. An all-reduce of 256 bytes sends 448, and the slice nothing. A reduce-scatter to
`[{"x", "y"}, {}]` sends 224, and the gather along `y` 32.

On a mesh `<["x"=4, "y"=2]>`,

    %1 = sdy.all_reduce {"x", "y"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>

becomes

    %1 = sdy.reduce_scatter [{"x", "y"}, {}] %0 out_sharding=<@mesh, [{"x", "y"}, {}]>
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>

An all-reduce whose result is sliced along all reduced axes is left to the patterns of
`canonicalize`, which make it a reduce-scatter.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisRefList,
    AxisTuple,
    ListOfAxisRefLists,
    Mesh,
    ReductionOp,
    Shape,
    TensorSharding,
    add_or_merge,
    lists_overlap,
    mesh_of,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.cost.hardware import Hardware
from pyshardy.irtools.tensor_types import is_even
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.partial.completion import reduction_kind
from pyshardy.partition.resharding.cost import (
    Reshard,
    elements_padded_for,
    reshard_collectives,
)
from pyshardy.partition.types.steps import AllGather, AllSlice, AxesPerDim

_MOST_CANDIDATES = 256


@dataclass(frozen=True, slots=True)
class CompletionPlan:
    """A way to complete partial results and to reshard them.

    Attributes:
        scattered: the axes of each dimension after the reduce-scatter; None for an all-reduce.
        first: the collective that completes the results.
        rest: those of the reshard.
    """

    scattered: AxesPerDim | None
    first: PlannedCollective
    rest: tuple[PlannedCollective, ...]

    @property
    def collectives(self) -> tuple[PlannedCollective, ...]:
        """All collectives."""
        return (self.first, *self.rest)

    @property
    def sent(self) -> float:
        """The bytes that a device sends."""
        return sum(each.sent for each in self.collectives)


@lru_cache(maxsize=16384)
def completions(reshard: Reshard, reduced: AxisTuple) -> tuple[CompletionPlan, ...]:
    """Return the ways to complete partial results and to reshard them, the simplest first.

    Args:
        reshard: the reshard of the result, from the axes in which it is computed.
        reduced: the axes along which the result is partial.
    """
    first = next(iter(reshard.plan()), None)
    if isinstance(first, AllSlice) and set(reduced) <= {ref for refs in first.axes for ref in refs}:
        return (_scattering(reshard, reduced, first.result),)
    whole = CompletionPlan(
        None, completing_collective(reshard, reduced, "all_reduce"), reshard_collectives(reshard)
    )
    if reshard.source == reshard.target:
        return (whole,)
    ways = scatterings(reshard.shape, _start(reshard, reduced), reduced, reshard.mesh)
    return (whole, *(_scattering(reshard, reduced, axes) for axes in ways))


def completion_cost(
    reshard: Reshard, reduced: AxisTuple, hardware: Hardware, addends: float = 1
) -> float:
    """Return the seconds in which partial results are completed and resharded.

    Args:
        reshard: the reshard of the result, from the axes in which it is computed.
        reduced: the axes along which results are partial; none if they are complete.
        hardware: the devices and links.
        addends: the number of such results that are added up, with one all-reduce for all of them
            afterwards, unless they are resharded otherwise than by gathers, or with one
            reduce-scatter, unless they are resharded after it. The cost is that for one of them;
            nothing for one of infinitely many.
    """
    if not reduced:
        return _seconds(reshard_collectives(reshard), hardware)
    costs: list[float] = []
    for each in completions(reshard, reduced):
        cost = _seconds((each.first,), hardware)
        is_gathered = all(isinstance(one, AllGather) for one in reshard.plan())
        if is_gathered if each.scattered is None else not each.rest:
            cost /= addends
        costs.append(cost + _seconds(each.rest, hardware))
    return min(costs)


def completion_collectives(reshard: Reshard, reduced: AxisTuple) -> tuple[PlannedCollective, ...]:
    """Return the collectives that complete partial results and reshard them with the fewest bytes.

    Args:
        reshard: the reshard of the result, from the axes in which it is computed.
        reduced: the axes along which results are partial.
    """
    best = min(completions(reshard, reduced), key=lambda each: (each.sent, len(each.rest)))
    return best.collectives


def best_scattering(
    reshards: Sequence[Reshard], reduced: AxisTuple, hardware: Hardware
) -> AxesPerDim | None:
    """Return the axes after a reduce-scatter that replaces an all-reduce, if that takes less time.

    Args:
        reshards: the reshards of its result, all from the axes in which it is computed.
        reduced: the axes along which the operand is partial.
        hardware: the devices and links.
    """
    one = reshards[0]
    if len(reshards) == 1:
        ways = completions(one, reduced)
        if ways[0].scattered is not None:  # the slice and the all-reduce are merged anyway
            return None
        lowest = _seconds(ways[0].collectives, hardware)
        found = [each.scattered for each in ways[1:]]
    else:
        whole = completing_collective(one, reduced, "all_reduce")
        lowest = _seconds((whole,), hardware) + _total(reshards, one.source, hardware)
        found = list(scatterings(one.shape, one.source, reduced, one.mesh))
    first = _seconds((completing_collective(one, reduced, "reduce_scatter"),), hardware)
    best: AxesPerDim | None = None
    for axes in found:
        assert axes is not None, "only the first way is an all-reduce"
        cost = first + _total(reshards, axes, hardware)
        if cost < lowest:
            best, lowest = axes, cost
    return best


def scatterings(
    shape: Shape, start: AxesPerDim, reduced: AxisTuple, mesh: Mesh
) -> Iterator[AxesPerDim]:
    """Yield the axes of a tensor after reduce-scatters along all reduced axes.

    Args:
        shape: the global shape.
        start: the axes before; the reduced ones that it has are scattered already.
        reduced: the reduced axes.
        mesh: the mesh.
    """
    missing = [axis for axis in reduced if not any(lists_overlap((axis,), own) for own in start)]
    if len(shape) ** len(missing) > _MOST_CANDIDATES:
        return
    for places in itertools.product(range(len(shape)), repeat=len(missing)):
        axes = [*start]
        for axis, dim in zip(missing, places, strict=True):
            axes[dim] = (*axes[dim], axis)
        if is_even(shape, axes, mesh):
            yield tuple(axes)


def completing_collective(
    reshard: Reshard, reduced: AxisTuple, kind: str, after: AxesPerDim | None = None
) -> PlannedCollective:
    """Return the collective that completes partial results: an all-reduce or a reduce-scatter.

    Args:
        reshard: the reshard of the result, from the axes in which it is computed.
        reduced: the axes along which the result is partial.
        kind: the name of the collective.
        after: the axes after a reduce-scatter, before which dimensions that they don't divide are
            padded.
    """
    shape, source, mesh = reshard.shape, reshard.source, reshard.mesh
    put_in = reshard.nbytes * elements_padded_for(shape, source, after or source, mesh)
    return PlannedCollective.along(kind, reduced, put_in, mesh)


def _scattering(reshard: Reshard, reduced: AxisTuple, axes: AxesPerDim) -> CompletionPlan:
    rest = reshard_collectives(replace(reshard, source=axes))
    first = completing_collective(reshard, reduced, "reduce_scatter", axes)
    return CompletionPlan(axes, first, rest)


def _start(reshard: Reshard, reduced: AxisTuple) -> AxesPerDim:
    """Return the target if it extends the source by reduced axes only, else the source."""
    known = {*reduced}
    for before, after in zip(reshard.source, reshard.target, strict=True):
        if after[: len(before)] != before or not known.issuperset(after[len(before) :]):
            return reshard.source
    return reshard.target


def _total(reshards: Sequence[Reshard], source: AxesPerDim, hardware: Hardware) -> float:
    """Return the seconds of all reshards from other axes."""
    return math.fsum(
        _seconds(reshard_collectives(replace(each, source=source)), hardware) for each in reshards
    )


def _seconds(collectives: Sequence[PlannedCollective], hardware: Hardware) -> float:
    return sum(each.traffic(hardware).seconds for each in collectives if each.sent)


# --- All-reduces that become reduce-scatters ------------------------------------------------------


_ALL_REDUCE, _RESHARD = "sdy.all_reduce", "sdy.reshard"


def scatter_all_reduces(
    function: ir.Operation,
    meshes: Mapping[str, Mesh],
    cache: AttributeCache,
    hardware: Hardware,
    is_plain: Callable[[ir.Operation], bool],
) -> None:
    """Replace the all-reduces of a function, if that takes less time with the reshards after them.

    Args:
        function: the function.
        meshes: the meshes of the module by name.
        cache: makes attributes.
        hardware: the devices and links.
        is_plain: whether a reshard only moves axes of a static tensor on one mesh.
    """
    for operation in operations_named({_ALL_REDUCE}, function):
        reshards = [use.owner.operation for use in operation.results[0].uses]
        if not reshards or not all(
            each.name == _RESHARD and each.block == operation.block and is_plain(each)
            for each in reshards
        ):
            continue
        reduce = view_as(sdy.AllReduceOp, operation)
        reduced = value_of(reduce.out_sharding)
        mesh = mesh_of(reduced, meshes)
        before = get_sharding(reduce.tensor)
        if mesh is None or before is None or before.dim_axes != reduced.dim_axes:
            continue
        moves = [_reshard_of(each, reduced, mesh) for each in reshards]
        axes = best_scattering(moves, value_of(reduce.reduction_axes).value, hardware)
        if axes is not None:
            _scatter(reduce, reduced, axes, reshards, mesh, cache)


def _reshard_of(reshard: ir.Operation, source: TensorSharding, mesh: Mesh) -> Reshard:
    target = get_sharding(reshard.results[0])
    assert target is not None, "a reshard has a sharding"
    return Reshard.of(reshard.operands[0], source.dim_axes, target.dim_axes, mesh)


def _scatter(
    reduce: sdy.AllReduceOp,
    reduced: TensorSharding,
    axes: AxesPerDim,
    reshards: Sequence[ir.Operation],
    mesh: Mesh,
    cache: AttributeCache,
) -> None:
    """Replace an all-reduce by a reduce-scatter to other axes."""
    scattered = tuple(
        AxisRefList(after[len(before) :])
        for before, after in zip(reduced.dim_axes, axes, strict=True)
    )
    merged: list[AxisTuple] = []
    for own in axes:
        dim: AxisTuple = ()
        for axis in own:
            dim = add_or_merge(dim, axis, mesh)
        merged.append(dim)
    sharding = TensorSharding.from_axes(reduced.mesh_or_ref, merged)
    operation = reduce.operation
    kind = reduction_kind(operation)
    result = sdy.reduce_scatter(
        reduce.tensor,
        cache[ListOfAxisRefLists(scattered)],
        cache[sharding],
        reduction_op=None if kind is ReductionOp.SUM else kind,
        loc=operation.location,
        ip=ir.InsertionPoint(operation),
    )
    replace_by(operation, result)
    for each in reshards:
        target = get_sharding(each.results[0])
        if target is not None and target.dim_axes == sharding.dim_axes:
            replace_by(each, result)
