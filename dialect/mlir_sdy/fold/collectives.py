# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives that have no effect, invert the preceding one, or can be merged with it.

MLIR assumes that collectives have side effects, so unused ones are kept, except for an unused
all-to-all.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.fold.pattern import COLLECTIVE, Pattern
from mlir_sdy.host import rewrite
from mlir_sdy.model import AxisRefList, are_equivalent, common_mesh, mesh_of, sort_and_merge
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.uses import has_one_use, is_used, producer_of_class
from mlir_sdy.values import get_sharding

_AlongAxes = sdy.AllGatherOp | sdy.AllReduceOp | sdy.AllSliceOp | sdy.ReduceScatterOp


def drop_without_axes(collective: _AlongAxes, rewriter: rewrite.PatternRewriter) -> bool:
    """A collective along no axes is its operand."""
    if any(len(axes) for axes in _axis_lists(collective)):
        return False
    rewriter.replace_op(collective.operation, [collective.tensor])
    return True


def _axis_lists(collective: _AlongAxes) -> Sequence[AxisRefList]:
    match collective:
        case sdy.AllGatherOp():
            return value_of(collective.gathering_axes).value
        case sdy.AllReduceOp():
            return (value_of(collective.reduction_axes),)
        case sdy.AllSliceOp():
            return value_of(collective.slicing_axes).value
        case sdy.ReduceScatterOp():
            return value_of(collective.reduce_scatter_axes).value


def slice_of_gather(all_slice: sdy.AllSliceOp, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_slice(all_gather(x, A), A)` is `x`, if both are on one mesh."""
    gather = producer_of_class(all_slice.tensor, sdy.AllGatherOp)
    if gather is None or gather.gathering_axes != all_slice.slicing_axes:
        return False
    if not are_on_one_mesh(gather, all_slice):
        return False
    rewriter.replace_op(all_slice.operation, [gather.tensor])
    return True


def are_on_one_mesh(first: _AlongAxes, second: _AlongAxes) -> bool:
    """Whether two collectives are on equal meshes: a replicated value may change the mesh."""
    shardings = [value_of(each.out_sharding) for each in (first, second)]
    if len({sharding.mesh_or_ref for sharding in shardings}) == 1:
        return True
    module = enclosing_module(second.operation)
    return module is not None and common_mesh(shardings, meshes_of(module)) is not None


def reduce_of_replicated(all_reduce: sdy.AllReduceOp, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_reduce(replicated_to_unreduced(x, A), A)` is `x`."""
    inner = producer_of_class(all_reduce.tensor, sdy.ReplicatedToUnreducedOp)
    if inner is None or inner.axes != all_reduce.reduction_axes:
        return False
    rewriter.replace_op(all_reduce.operation, [inner.tensor])
    return True


def reduce_of_sharded(all_reduce: sdy.AllReduceOp, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_reduce(sharded_to_unreduced(x, L), A)` is `all_gather(x, L)` if A are the axes in L."""
    inner = producer_of_class(all_reduce.tensor, sdy.ShardedToUnreducedOp)
    module = enclosing_module(all_reduce.operation)
    if inner is None or module is None:
        return False
    out_sharding, lists = all_reduce.out_sharding, inner.axes
    mesh = mesh_of(value_of(out_sharding), meshes_of(module))
    if mesh is None:
        return False
    axes = [axis for of_dim in value_of(lists) for axis in of_dim]
    if sort_and_merge(axes, mesh) != value_of(all_reduce.reduction_axes).value:
        return False
    with rewriter.ip, all_reduce.location:
        gather = sdy.AllGatherOp(inner.tensor, lists, out_sharding)
    rewriter.replace_op(all_reduce.operation, gather)
    return True


def drop_permute_in_place(
    permute: sdy.CollectivePermuteOp, rewriter: rewrite.PatternRewriter
) -> bool:
    """A permutation to an equivalent sharding is its operand."""
    if not are_equivalent(get_sharding(permute.tensor), value_of(permute.out_sharding)):
        return False
    rewriter.replace_op(permute.operation, [permute.tensor])
    return True


def erase_unused_all_to_all(all_to_all: sdy.AllToAllOp, rewriter: rewrite.PatternRewriter) -> bool:
    """Unused all-to-alls are erased."""
    if is_used(all_to_all.result):
        return False
    rewriter.erase_op(all_to_all.operation)
    return True


def merge_all_to_alls(all_to_all: sdy.AllToAllOp, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_to_all(all_to_all(x, P), Q)` is merged to one with the moves of both.

    Only if the inner one has no other use, and no dimension occurs twice among all moves.
    """
    inner = producer_of_class(all_to_all.tensor, sdy.AllToAllOp)
    if inner is None or not has_one_use(inner.result):
        return False
    first, second = (value_of(each.params) for each in (inner, all_to_all))
    if first.overlaps(second):
        return False
    params = attribute_of(first.combine(second), all_to_all.context)
    with rewriter.ip, all_to_all.location:
        merged = sdy.AllToAllOp(inner.tensor, params, all_to_all.out_sharding)
    rewriter.replace_op(all_to_all.operation, merged)
    return True


PATTERNS = (
    Pattern(sdy.AllGatherOp, drop_without_axes, COLLECTIVE),
    Pattern(sdy.AllReduceOp, drop_without_axes, COLLECTIVE),
    Pattern(sdy.AllSliceOp, drop_without_axes, COLLECTIVE),
    Pattern(sdy.ReduceScatterOp, drop_without_axes, COLLECTIVE),
    Pattern(sdy.AllSliceOp, slice_of_gather, COLLECTIVE),
    Pattern(sdy.AllReduceOp, reduce_of_replicated, COLLECTIVE),
    Pattern(sdy.AllReduceOp, reduce_of_sharded, COLLECTIVE, inserts=("sdy.all_gather",)),
    Pattern(sdy.CollectivePermuteOp, drop_permute_in_place, COLLECTIVE),
    Pattern(sdy.AllToAllOp, erase_unused_all_to_all, COLLECTIVE),
    Pattern(sdy.AllToAllOp, merge_all_to_alls, COLLECTIVE),
)
