# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Walks that collect operations by name before any is changed, and the order of the text."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import named_operations_in, operations_of, terminator_of
from pyshardy.irtools.analyses import (
    is_computed,
    module_analysis,
    names_are_told,
    note_analysis,
    verifies_analyses,
)

_MODULE, _FUNCTION, _RETURN = "builtin.module", "func.func", "func.return"
_IN_MODULES = frozenset({_FUNCTION, "sdy.mesh"})
"""Operations that can only be directly in modules, as they are symbols."""


def operations_named(
    names: Iterable[str],
    root: ir.Module | ir.Operation | ir.OpView,
    order: ir.WalkOrder = ir.WalkOrder.PRE_ORDER,
) -> list[ir.Operation]:
    """Return the operations of these names in `root`, without itself, in the order of the text.

    In post-order an operation comes after those in its regions, otherwise before them. Unreachable
    blocks are skipped.

    The cost depends only on the operations found. A walk of the bindings calls back for every
    operation, which takes a microsecond each. The driver of rewrite patterns compares names in C++,
    so patterns that never match record the operations that they are called with. Nothing is walked
    if none of the names may occur (`names_that_may_occur`), or only functions and meshes, or only
    the `func.return` of a function.
    """
    known = names_that_may_occur(root)
    sought = list(names)
    if known is not None:
        absent = [name for name in sought if name not in known]
        if absent and verifies_analyses():
            _check_absent(absent, root.operation)
        sought = [name for name in sought if name in known]
    if not sought:
        return []
    if known is not None and _MODULE not in known and _IN_MODULES.issuperset(sought):
        return _operations_of(root.operation, sought)
    if sought == [_RETURN] and root.operation.name == _FUNCTION:
        blocks = root.operation.regions[0].blocks
        if len(blocks) == 1 and (terminator := terminator_of(blocks[0])).name == _RETURN:
            return [terminator]
    found = operations_of(sought, root.operation)
    return found if order is ir.WalkOrder.POST_ORDER else _outer_first(found)


def _operations_of(root: ir.Operation, names: Collection[str]) -> list[ir.Operation]:
    """Return the operations of these names directly in a module; none for other operations."""
    if root.name != _MODULE:
        return []
    operations = [view.operation for view in root.regions[0].blocks[0].operations]
    return [operation for operation in operations if operation.name in names]


def _check_absent(names: Collection[str], root: ir.Operation) -> None:
    """Check that a pass doesn't look for operations that it has inserted itself."""
    found = {operation.name: None for operation in operations_of(names, root)}
    if found:
        message = (
            f"the pass looks for {', '.join(found)} that it has inserted, but are not known: call "
            "'tell_inserted' before, or let its function return 'Changes | None'"
        )
        raise PassError(error(message, location_of(root.location)))


def has_ancestor(operation: ir.Operation, name: str) -> bool:
    """Whether an operation is in a region of an operation of some name, directly or not."""
    parent = operation.parent
    while parent is not None and parent.operation.name != name:
        parent = parent.operation.parent
    return parent is not None


def _outer_first(post_order: list[ir.Operation]) -> list[ir.Operation]:
    """Reorder operations in post-order so that operations precede the contents of their regions."""
    ordered: list[ir.Operation] = []
    for operation in post_order:
        place = len(ordered)
        if len(operation.regions):
            while place and _is_inside(ordered[place - 1], operation):
                place -= 1
        ordered.insert(place, operation)
    return ordered


def in_block(operation: ir.Operation, block: ir.Block) -> ir.Operation:
    """Return the operation of a block that is, or contains, an operation."""
    found = operation
    while found.block != block:
        parent = found.parent
        assert parent is not None, "the block is around the operation"
        found = parent.operation
    return found


def _is_inside(operation: ir.Operation, ancestor: ir.Operation) -> bool:
    parent = operation.parent
    while parent is not None and parent.operation != ancestor:
        parent = parent.operation.parent
    return parent is not None


# --- The order of the text -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """An operation nested in `root`: the operations around it, outermost first, and itself."""

    path: tuple[ir.Operation, ...]

    @classmethod
    def of(cls, operation: ir.Operation, root: ir.Operation) -> Place:
        """Return the place of an operation nested in `root`."""
        path = [operation]
        while (parent := path[-1].parent) is not None and parent.operation != root:
            path.append(parent.operation)
        return cls(tuple(reversed(path)))


def _compare(first: Place, second: Place) -> int:
    for one, other in zip(first.path, second.path, strict=False):
        if one != other:
            return -1 if _is_before(one, other) else 1
    return len(first.path) - len(second.path)


def _is_before(one: ir.Operation, other: ir.Operation) -> bool:
    """Whether the first of two operations with the same parent is written before the other."""
    block, other_block = one.block, other.block
    if block == other_block:
        return one.is_before_in_block(other)
    parent = one.parent
    assert parent is not None, "an operation without a parent is alone in its block"
    blocks = [block for region in parent.operation.regions for block in region.blocks]
    return blocks.index(block) < blocks.index(other_block)


textual_order = functools.cmp_to_key(_compare)
"""The key by which places are sorted in the order of the text, operations before their regions."""


# --- The names of operations, by which passes find that they have nothing to do ------------------


def names_that_may_occur(
    root: ir.Module | ir.Operation | ir.OpView,
) -> frozenset[str] | None:
    """Return names among which are those of all operations in `root`, while a pass runs.

    Operations that the pass inserts itself are left out.

    Args:
        root: a module, or an operation directly in one.

    Returns:
        None if the names are unknown: outside pipelines, in a pass that may not tell what it
        inserts, and for other operations than these.
    """
    if not names_are_told():
        return None
    module = _module_of(root)
    return None if module is None else _operation_names(module)


def may_occur_at_start(names: Collection[str], root: ir.Module | ir.Operation | ir.OpView) -> bool:
    """Whether operations of some names may be in `root`, at the start of a pass.

    Also for passes that don't tell what they insert. True if no earlier pass has asked for the
    names, since a look for a few is faster.

    Args:
        names: the names.
        root: a module, or an operation directly in one.
    """
    return len(names_at_start(names, root)) > 0


def names_at_start(
    names: Collection[str], root: ir.Module | ir.Operation | ir.OpView
) -> Collection[str]:
    """Return the names that may occur in the sense of `may_occur_at_start`."""
    module = _module_of(root)
    if module is None or not is_computed("operation-names", module):
        return names
    return _operation_names(module).intersection(names)


def _module_of(root: ir.Module | ir.Operation | ir.OpView) -> ir.Operation | None:
    """Return the outermost module, if `root` is it or directly in it."""
    operation = root.operation
    if not operation.attached:
        return None
    parent = operation.parent
    module = operation if parent is None else parent.operation
    is_outermost = module.name == "builtin.module" and module.parent is None
    return module if is_outermost else None


def tell_inserted(root: ir.Module | ir.Operation | ir.OpView, *names: str) -> None:
    """Tell of operations that a pass has inserted, before it looks for them itself."""
    module = _module_of(root)
    if module is not None and is_computed("operation-names", module):
        note_analysis("operation-names", module, _operation_names(module).union(names))


def _has_names(known: frozenset[str], current: frozenset[str]) -> bool:
    return current <= known


@module_analysis("operation-names", holds=_has_names)
def _operation_names(module: ir.Operation) -> frozenset[str]:
    """Return the names of all operations inside a module, while a pass has not inserted any.

    Passes that erase operations preserve this analysis, so some may no longer occur.
    """
    return frozenset(name for _, name in named_operations_in(module)[1:])


def note_operation_names(module: ir.Operation, names: Iterable[str]) -> None:
    """Keep the names of all operations inside a module, which the caller has read anyway."""
    if is_computed("operation-names", module):
        return
    note_analysis("operation-names", module, frozenset(names))
