# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collectives that have no effect, invert the preceding one, or can be merged with it.

MLIR assumes that collectives have side effects, so unused ones are kept, except for an unused
all-to-all.
"""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of, value_of
from mlir_sdy.fold.pattern import COLLECTIVE, Pattern, has_one_use, is_used, producer
from mlir_sdy.host import ir, rewrite
from mlir_sdy.model import are_equivalent, common_mesh, mesh_of, sort_and_merge
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import get_sharding

_AXES = {
    "sdy.all_gather": "gathering_axes",
    "sdy.all_reduce": "reduction_axes",
    "sdy.all_slice": "slicing_axes",
    "sdy.reduce_scatter": "reduce_scatter_axes",
}


def drop_without_axes(collective: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """A collective along no axes is its operand."""
    axes = value_of(collective.attributes[_AXES[collective.name]])
    if collective.name == "sdy.all_reduce":
        if len(axes):
            return False
    elif any(len(of_dim) for of_dim in axes):
        return False
    rewriter.replace_op(collective, [collective.operands[0]])
    return True


def slice_of_gather(all_slice: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_slice(all_gather(x, A), A)` is `x`, if both are on one mesh."""
    gather = producer(all_slice.operands[0], "sdy.all_gather")
    if gather is None or (
        gather.attributes["gathering_axes"] != all_slice.attributes["slicing_axes"]
    ):
        return False
    shardings = [value_of(each.attributes["out_sharding"]) for each in (gather, all_slice)]
    if len({sharding.mesh_or_ref for sharding in shardings}) > 1:
        module = enclosing_module(all_slice)
        if module is None or common_mesh(shardings, meshes_of(module)) is None:
            return False
    rewriter.replace_op(all_slice, [gather.operands[0]])
    return True


def reduce_of_replicated(all_reduce: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_reduce(replicated_to_unreduced(x, A), A)` is `x`."""
    inner = producer(all_reduce.operands[0], "sdy.replicated_to_unreduced")
    if inner is None or inner.attributes["axes"] != all_reduce.attributes["reduction_axes"]:
        return False
    rewriter.replace_op(all_reduce, [inner.operands[0]])
    return True


def reduce_of_sharded(all_reduce: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_reduce(sharded_to_unreduced(x, L), A)` is `all_gather(x, L)` if A are the axes in L."""
    inner = producer(all_reduce.operands[0], "sdy.sharded_to_unreduced")
    module = enclosing_module(all_reduce)
    if inner is None or module is None:
        return False
    out_sharding, lists = all_reduce.attributes["out_sharding"], inner.attributes["axes"]
    mesh = mesh_of(value_of(out_sharding), meshes_of(module))
    if mesh is None:
        return False
    axes = [axis for of_dim in value_of(lists) for axis in of_dim]
    if sort_and_merge(axes, mesh) != value_of(all_reduce.attributes["reduction_axes"]).value:
        return False
    with rewriter.ip, all_reduce.location:
        gather = sdy.AllGatherOp(inner.operands[0], lists, out_sharding)
    rewriter.replace_op(all_reduce, gather)
    return True


def drop_permute_in_place(permute: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """A permutation to an equivalent sharding is its operand."""
    source = get_sharding(permute.operands[0])
    if not are_equivalent(source, value_of(permute.attributes["out_sharding"])):
        return False
    rewriter.replace_op(permute, [permute.operands[0]])
    return True


def erase_unused_all_to_all(all_to_all: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """Unused all-to-alls are erased."""
    if is_used(all_to_all.results[0]):
        return False
    rewriter.erase_op(all_to_all)
    return True


def merge_all_to_alls(all_to_all: ir.Operation, rewriter: rewrite.PatternRewriter) -> bool:
    """`all_to_all(all_to_all(x, P), Q)` is merged to one with the moves of both.

    Only if the inner one has no other use, and no dimension occurs twice among all moves.
    """
    inner = producer(all_to_all.operands[0], "sdy.all_to_all")
    if inner is None or not has_one_use(inner.results[0]):
        return False
    first, second = (value_of(each.attributes["params"]) for each in (inner, all_to_all))
    if first.overlaps(second):
        return False
    params = attribute_of(first.combine(second), all_to_all.context)
    with rewriter.ip, all_to_all.location:
        merged = sdy.AllToAllOp(inner.operands[0], params, all_to_all.attributes["out_sharding"])
    rewriter.replace_op(all_to_all, merged)
    return True


PATTERNS = (
    *(Pattern(name, drop_without_axes, COLLECTIVE) for name in _AXES),
    Pattern("sdy.all_slice", slice_of_gather, COLLECTIVE),
    Pattern("sdy.all_reduce", reduce_of_replicated, COLLECTIVE),
    Pattern("sdy.all_reduce", reduce_of_sharded, COLLECTIVE),
    Pattern("sdy.collective_permute", drop_permute_in_place, COLLECTIVE),
    Pattern("sdy.all_to_all", erase_unused_all_to_all, COLLECTIVE),
    Pattern("sdy.all_to_all", merge_all_to_alls, COLLECTIVE),
)
