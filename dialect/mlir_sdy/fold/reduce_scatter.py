# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All-reduces whose results are only sliced become reduce-scatters."""

from __future__ import annotations

from dataclasses import replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.fold.collectives import are_on_one_mesh
from mlir_sdy.fold.pattern import COLLECTIVE, Pattern
from mlir_sdy.host import rewrite
from mlir_sdy.model import (
    AxisRef,
    AxisRefList,
    AxisTuple,
    ListOfAxisRefLists,
    Mesh,
    TensorSharding,
    mesh_of,
)
from mlir_sdy.model.collectives import slice_axes
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.uses import producer_of_class
from mlir_sdy.values import get_sharding


def slice_of_reduce(all_slice: sdy.AllSliceOp, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_slice(all_reduce(x, R), S)` becomes a reduce-scatter of `x`, and a slice of the rest.

    1. Every user of the all-reduce is a slice along the same axes in the same block, on its mesh;
       the matched one is the first. All are replaced.
    2. Each dimension is scattered along the longest prefix of its slicing axes that are also
       reduction axes, compared as written. All reduction axes must be used.
    3. The remaining slicing axes, if there are any, become a slice.
    """
    reduce = producer_of_class(all_slice.tensor, sdy.AllReduceOp)
    module = enclosing_module(all_slice.operation)
    if reduce is None or module is None:
        return False
    slices = _slices_alike(reduce, all_slice)
    split = _split(
        [axes.value for axes in value_of(all_slice.slicing_axes)],
        value_of(reduce.reduction_axes).value,
    )
    if slices is None or split is None:
        return False
    mesh = mesh_of(value_of(reduce.out_sharding), meshes_of(module))
    if mesh is None:
        return False
    scattered, rest = split
    cache = AttributeCache(all_slice.context)
    with rewriter.ip, all_slice.location:
        result = sdy.reduce_scatter(
            reduce.tensor,
            cache[_lists(scattered)],
            cache[_scattered_sharding(reduce, all_slice, scattered, mesh)],
            reduction_op=reduce.operation.attributes.get("reduction_op"),
        )
        if any(rest):
            result = sdy.all_slice(result, cache[_lists(rest)], all_slice.out_sharding)
    for each in slices:
        rewriter.replace_op(each.operation, [result])
    rewriter.erase_op(reduce.operation)
    return True


def _slices_alike(reduce: sdy.AllReduceOp, first: sdy.AllSliceOp) -> list[sdy.AllSliceOp] | None:
    """Return the users of `reduce` if all are slices equal to `first`, the first in the block."""
    users: list[sdy.AllSliceOp] = []
    for use in reduce.result.uses:
        user = use.owner
        if not isinstance(user, sdy.AllSliceOp) or user.operation.block != first.operation.block:
            return None
        if user.slicing_axes != first.slicing_axes or not are_on_one_mesh(reduce, user):
            return None
        if user.operation.is_before_in_block(first.operation):
            return None
        users.append(user)
    return users


def _split(
    slicing: list[AxisTuple], reduction: AxisTuple
) -> tuple[list[AxisTuple], list[AxisTuple]] | None:
    """Return the slicing axes to scatter along and the rest; None if a reduction axis is unused."""
    remaining: set[AxisRef] = set(reduction)
    scattered: list[AxisTuple] = []
    rest: list[AxisTuple] = []
    for axes in slicing:
        count = 0
        while count < len(axes) and axes[count] in remaining:
            remaining.remove(axes[count])
            count += 1
        scattered.append(axes[:count])
        rest.append(axes[count:])
    return None if remaining else (scattered, rest)


def _scattered_sharding(
    reduce: sdy.AllReduceOp, all_slice: sdy.AllSliceOp, scattered: list[AxisTuple], mesh: Mesh
) -> TensorSharding:
    source = get_sharding(reduce.tensor)
    given = ((),) * len(scattered) if source is None else source.dim_axes
    dims = [slice_axes(axes, new, mesh) for axes, new in zip(given, scattered, strict=True)]
    reduced = value_of(reduce.out_sharding)
    sliced = value_of(all_slice.out_sharding)
    return replace(
        TensorSharding.from_axes(reduced.mesh_or_ref, dims, sliced.unreduced_axes),
        replicated_axes=sliced.replicated_axes,
        reduction_kind=sliced.reduction_kind,
    )


def _lists(axes_per_dim: list[AxisTuple]) -> ListOfAxisRefLists:
    return ListOfAxisRefLists(tuple(map(AxisRefList, axes_per_dim)))


PATTERNS = (Pattern(sdy.AllSliceOp, slice_of_reduce, COLLECTIVE, inserts=("sdy.reduce_scatter",)),)
