# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrite patterns and their drivers."""

import enum
from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

class GreedyRewriteStrictness(enum.Enum):
    ANY_OP = ...
    EXISTING_AND_NEW_OPS = ...
    EXISTING_OPS = ...

class GreedySimplifyRegionLevel(enum.Enum):
    DISABLED = ...
    NORMAL = ...
    AGGRESSIVE = ...

class GreedyRewriteConfig:
    enable_constant_cse: bool
    enable_folding: bool
    max_iterations: int
    max_num_rewrites: int
    region_simplification_level: GreedySimplifyRegionLevel
    strictness: GreedyRewriteStrictness
    use_top_down_traversal: bool

class PatternRewriter:
    @property
    def ip(self) -> ir.InsertionPoint: ...
    def erase_op(self, op: ir.Operation | ir.OpView) -> None: ...
    def replace_op(
        self,
        op: ir.Operation | ir.OpView,
        new_op: ir.Operation | ir.OpView | Sequence[ir.Value],
    ) -> None: ...

class FrozenRewritePatternSet: ...

class RewritePatternSet:
    def __init__(self, context: ir.Context | None = None) -> None: ...
    def add(
        self,
        root: str | type[ir.OpView],
        fn: Callable[[Any, PatternRewriter], Any],
        benefit: int = 1,
    ) -> None: ...
    def freeze(self) -> FrozenRewritePatternSet: ...

class PDLResultList: ...

class PDLModule:
    def __init__(self, module: ir.Module) -> None: ...
    # Gets the operations, values, types and attributes that the pattern names.
    def register_rewrite_function(
        self, name: str, fn: Callable[[PatternRewriter, PDLResultList, list[Any]], Any]
    ) -> None: ...
    def freeze(self) -> FrozenRewritePatternSet: ...

def apply_patterns_and_fold_greedily(
    op: ir.Module | ir.Operation | ir.OpView,
    set: FrozenRewritePatternSet,
    config: GreedyRewriteConfig | None = None,
) -> None: ...
def walk_and_apply_patterns(op: ir.Operation | ir.OpView, set: FrozenRewritePatternSet) -> None: ...
