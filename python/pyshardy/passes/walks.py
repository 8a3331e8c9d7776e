# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding operations before any of them is changed."""

from __future__ import annotations

from collections.abc import Iterable

from mlir_sdy.host import ir, rewrite


def operations_named(
    names: Iterable[str],
    root: ir.Module | ir.Operation | ir.OpView,
    order: ir.WalkOrder = ir.WalkOrder.PRE_ORDER,
) -> list[ir.Operation]:
    """The operations of these names in `root`, without itself, in the order of the text.

    In post-order an operation comes after those in its regions, otherwise before them. Blocks that
    are never reached are left out.

    The cost is that of the operations found. A walk of the bindings calls back for each operation
    there is, which takes a microsecond; the driver of rewrite patterns looks at names in C++, so
    here patterns that never match take note of what they are offered.
    """
    found: list[ir.Operation] = []

    def note(operation: ir.Operation | ir.OpView, _: rewrite.PatternRewriter) -> bool:
        found.append(operation.operation)
        return True  # No match.

    patterns = rewrite.RewritePatternSet(root.context)
    for name in names:
        patterns.add(name, note)
    rewrite.walk_and_apply_patterns(root.operation, patterns.freeze())
    return found if order is ir.WalkOrder.POST_ORDER else _outer_first(found)


def _outer_first(post_order: list[ir.Operation]) -> list[ir.Operation]:
    """Operations in post-order, put before those that are in their regions."""
    ordered: list[ir.Operation] = []
    for operation in post_order:
        place = len(ordered)
        if len(operation.regions):
            while place and _is_inside(ordered[place - 1], operation):
                place -= 1
        ordered.insert(place, operation)
    return ordered


def _is_inside(operation: ir.Operation, ancestor: ir.Operation) -> bool:
    parent = operation.parent
    while parent is not None and parent.operation != ancestor:
        parent = parent.operation.parent
    return parent is not None
