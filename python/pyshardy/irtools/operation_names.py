# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The names of the operations in a module, by which passes find that they have nothing to do."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.traversal import named_operations_in
from pyshardy.irtools.analyses import inserted_by_current_pass, module_analysis


def names_that_may_occur(root: ir.Module | ir.Operation | ir.OpView) -> frozenset[str] | None:
    """Return names among which are those of all operations in `root`.

    Args:
        root: a module, or an operation directly in one.

    Returns:
        None if the names are unknown: outside pipelines, in a pass that doesn't declare what it
        inserts, and for other operations than these.
    """
    operation = root.operation
    if inserted_by_current_pass() is None or not operation.attached:
        return None
    parent = operation.parent
    module = operation if parent is None else parent.operation
    if module.name != "builtin.module" or module.parent is not None:
        return None
    return operation_names(module)


def _has_names(known: frozenset[str], current: frozenset[str]) -> bool:
    return current <= known


@module_analysis("operation-names", holds=_has_names)
def operation_names(module: ir.Operation) -> frozenset[str]:
    """Return the names of all operations inside a module, and of those that the pass may insert.

    Passes that erase operations preserve this analysis, so some may no longer occur.
    """
    inserted = inserted_by_current_pass() or frozenset[str]()
    return inserted.union([name for _, name in named_operations_in(module)[1:]])
