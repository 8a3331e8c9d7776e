# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Consecutive reshards."""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.fold.pattern import RESHARD, Pattern
from mlir_sdy.host import ir, rewrite
from mlir_sdy.uses import has_one_use, producer_of_class


def merge_reshards(reshard: sdy.ReshardOp, rewriter: rewrite.PatternRewriter) -> bool | ir.OpView:
    """`reshard(reshard(x, s1), s2)` becomes `reshard(x, s2)`.

    Only if the inner one has no other use. Otherwise it is kept, and resharding from `s1` is
    usually cheaper.
    """
    inner = producer_of_class(reshard.input, sdy.ReshardOp)
    if inner is None or not has_one_use(inner.result):
        return False
    with rewriter.ip, reshard.location:
        merged = sdy.ReshardOp(inner.input, reshard.sharding)
    rewriter.replace_op(reshard, merged)
    rewriter.erase_op(inner)
    return merged


PATTERNS = (Pattern(sdy.ReshardOp, merge_reshards, RESHARD),)
