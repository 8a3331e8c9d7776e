# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the operations in a module, by which passes find that they have nothing to do."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from mlir_sdy.host import ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.irtools.analyses import (
    inserted_by_current_pass,
    is_computed,
    module_analysis,
    note_analysis,
)


def names_that_may_occur(
    root: ir.Module | ir.Operation | ir.OpView,
) -> frozenset[str] | None:
    """Return names among which are those of all operations in `root`, while a pass runs.

    Args:
        root: a module, or an operation directly in one.

    Returns:
        None if the names are unknown: outside pipelines, in a pass that doesn't declare what it
        inserts, and for other operations than these.
    """
    inserted = inserted_by_current_pass()
    if inserted is None:
        return None
    module = _module_of(root)
    return None if module is None else operation_names(module) | inserted


def may_occur_at_start(names: Collection[str], root: ir.Module | ir.Operation | ir.OpView) -> bool:
    """Whether operations of some names may be in `root`, at the start of a pass.

    Also for passes that don't declare what they insert. What the pass inserts is left out.
    True if no earlier pass has asked for the names, since a look for a few is faster.

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
    return operation_names(module).intersection(names)


def _module_of(root: ir.Module | ir.Operation | ir.OpView) -> ir.Operation | None:
    """Return the outermost module, if `root` is it or directly in it."""
    operation = root.operation
    if not operation.attached:
        return None
    parent = operation.parent
    module = operation if parent is None else parent.operation
    is_outermost = module.name == "builtin.module" and module.parent is None
    return module if is_outermost else None


def _has_names(known: frozenset[str], current: frozenset[str]) -> bool:
    return current <= known


@module_analysis("operation-names", holds=_has_names)
def operation_names(module: ir.Operation) -> frozenset[str]:
    """Return the names of all operations inside a module, while a pass has not inserted any.

    Passes that erase operations preserve this analysis, so some may no longer occur.
    """
    return frozenset(name for _, name in named_operations_in(module)[1:])


def note_operation_names(module: ir.Operation, names: Iterable[str]) -> None:
    """Keep the names of all operations inside a module, which the caller has read anyway."""
    if is_computed("operation-names", module):
        return
    note_analysis("operation-names", module, frozenset(names))
