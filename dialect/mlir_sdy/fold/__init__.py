# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Canonicalization of the dialect's operations, as rewrite patterns.

| module           | simplified operations                                             |
|------------------|-------------------------------------------------------------------|
| `reshards`       | reshards of reshards                                              |
| `reshard_reuse`  | reshards equal to earlier ones, also through reshapes             |
| `collectives`    | collectives without effect, and inverse pairs of collectives      |
| `reduce_scatter` | all-reduces whose results are only sliced                         |
| `computations`   | unused arguments of manual computations, and those without values |
| `pattern`        | the class of patterns                                             |

The function `canonicalize` applies them alone; the pass `canonicalize` of pipelines applies them
together with upstream's pass of that name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from mlir_sdy.fold.collectives import PATTERNS as _COLLECTIVES
from mlir_sdy.fold.computations import PATTERNS as _COMPUTATIONS
from mlir_sdy.fold.pattern import Pattern
from mlir_sdy.fold.reduce_scatter import PATTERNS as _REDUCE_SCATTER
from mlir_sdy.fold.reshard_reuse import PATTERNS as _RESHARD_REUSE
from mlir_sdy.fold.reshards import PATTERNS as _RESHARDS
from mlir_sdy.host import ir, rewrite
from mlir_sdy.symbols import meshes_unchanged

__all__ = ["PATTERNS", "Pattern", "apply_patterns", "canonicalize"]

PATTERNS: tuple[Pattern, ...] = (
    *_RESHARDS,
    *_RESHARD_REUSE,
    *_COLLECTIVES,
    *_REDUCE_SCATTER,
    *_COMPUTATIONS,
)
"""All patterns, which are tried in this order."""


def canonicalize(
    root: ir.Module | ir.Operation | ir.OpView, labels: Collection[str] | None = None
) -> bool:
    """Simplify the dialect's operations in `root` until nothing changes any more.

    Args:
        root: the operation whose regions are simplified; it is not replaced.
        labels: apply only the patterns with one of these labels (`sdy-reshard`,
            `sdy-collective`); by default all patterns, also those without a label.

    Returns:
        Whether a pattern was applied.
    """
    selected = (pattern for pattern in PATTERNS if labels is None or pattern.label in labels)
    return apply_patterns(root, selected)


def apply_patterns(
    root: ir.Module | ir.Operation | ir.OpView,
    patterns: Iterable[Pattern],
    *,
    top_down: bool = True,
) -> bool:
    """Apply patterns in `root` until none matches; returns whether one did.

    If two patterns match an operation, the result can depend on the order in which operations are
    visited: top down, or from the last to the first.
    """
    applied = False

    def callback(
        several: Sequence[Pattern],
    ) -> Callable[[ir.OpView, rewrite.PatternRewriter], bool]:
        def match_and_rewrite(view: ir.OpView, rewriter: rewrite.PatternRewriter) -> bool:
            nonlocal applied
            attempts = (pattern.rewrite(view, rewriter) for pattern in several)
            made = next(filter(None, attempts), False)
            if isinstance(made, ir.OpView):
                # The host would visit it after the others, as it isn't told of what Python inserts.
                match_and_rewrite(made, rewriter)
            applied |= bool(made)
            return not made  # for the host, False is success

        return match_and_rewrite

    # One call for each operation instead of one for each of its patterns.
    by_root: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        by_root.setdefault(pattern.root, []).append(pattern)

    config = rewrite.GreedyRewriteConfig()
    config.max_iterations = -1  # each pattern leaves fewer operations of the dialect
    config.enable_folding = False
    config.enable_constant_cse = False
    config.region_simplification_level = rewrite.GreedySimplifyRegionLevel.DISABLED
    config.use_top_down_traversal = top_down
    operation = root.operation
    with operation.context, operation.location, meshes_unchanged():
        patterns_of_host = rewrite.RewritePatternSet()
        for name, several in by_root.items():
            patterns_of_host.add(name, callback(several))
        rewrite.apply_patterns_and_fold_greedily(operation, patterns_of_host.freeze(), config)
    return applied
