# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Iteration over all operations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import Any

from mlir_sdy.host import ir, rewrite
from mlir_sdy.ods.tables import OPERATIONS

SCALAR_BODIES = frozenset(
    f"stablehlo.{name}"
    for name in """
        all_reduce map reduce reduce_scatter reduce_window scatter select_and_scatter sort
    """.split()  # noqa: SIM905
)
"""Operations whose bodies compute with scalars only: nothing in them is sharded."""

_WITH_REGIONS = SCALAR_BODIES | {
    f"stablehlo.{name}" for name in ("async_start", "case", "composite", "if", "while")
}
"""The operations of StableHLO that have regions."""


def global_type(value_type: Any) -> Any:
    """Return the type of the whole tensor of a value on a mesh, and other types as they are."""
    return getattr(value_type, "global_type", value_type)


_NUM_FIRST = 200
"""The number of operations that are looked at before a search in C++."""

_WITHOUT_REGIONS = frozenset({"func.call", "func.return"}) | {
    name for name, declaration in OPERATIONS.items() if not declaration.regions
}
"""Operations of other dialects that have none."""


class _MayHaveRegions(dict[str, bool]):
    """Whether operations may have regions, by their names."""

    def __missing__(self, name: str) -> bool:
        is_known = name.startswith("stablehlo.") or name in _WITHOUT_REGIONS
        may = self[name] = name in _WITH_REGIONS or not is_known
        return may


may_have_regions = _MayHaveRegions().__getitem__
"""Whether operations of a name may have regions."""


def names_among(names: Collection[str], root: ir.Operation) -> frozenset[str]:
    """Return the names, of the given names, that operations in `root` have.

    C++ compares the names, and calls back for the operations that have one of them only. Names of
    many operations are found before, among the first ones.
    """
    first = {view.operation.name for view in islice(operations_in(root), _NUM_FIRST)}
    found = first.intersection(names)
    missing = [name for name in names if name not in found]
    if missing:
        found |= {each.name for each in operations_of(missing, root)}
    return frozenset(found)


def operations_of(names: Iterable[str], root: ir.Operation) -> list[ir.Operation]:
    """Return the operations of these names in `root`, without itself, inner ones first.

    C++ compares the names, and calls back for the operations that have one of them.
    """
    found: list[ir.Operation] = []

    def note(operation: ir.Operation | ir.OpView, _: rewrite.PatternRewriter) -> bool:
        found.append(operation.operation)
        return True  # No match.

    patterns = rewrite.RewritePatternSet(root.context)
    for name in names:
        patterns.add(name, note)
    rewrite.walk_and_apply_patterns(root, patterns.freeze())
    return found


def terminator_of(block: ir.Block) -> ir.Operation:
    """Return the terminator of a block; the bindings count all operations to find the last one.

    Raises:
        ValueError: the block has none.
    """
    terminator = ir.InsertionPoint.at_block_terminator(block).ref_operation
    assert terminator is not None, "the point is before an operation"
    return terminator.operation


def operations_in(
    root: ir.Operation | ir.OpView,
    *,
    leaving_out: Collection[str] = (),
    inner_first: bool = False,
) -> Iterator[ir.Operation | ir.OpView]:
    """Yield `root` and all operations in its regions, in the order of the text.

    Attributes may be changed during the iteration, but no operation may be erased. Unlike a walk of
    the bindings, which calls back, a loop can be left, and exceptions are not converted.

    Args:
        root: the operation to begin with.
        leaving_out: the names of operations whose regions are skipped.
        inner_first: whether an operation comes after those in its regions instead of before them.
    """
    if not inner_first:
        yield root
    for region in root.regions:
        for block in region.blocks:
            for view in block.operations:
                if len(view.regions) and view.operation.name not in leaving_out:
                    yield from operations_in(view, leaving_out=leaving_out, inner_first=inner_first)
                else:
                    yield view
    if inner_first:
        yield root


def named_operations_in(
    root: ir.Operation | ir.OpView | ir.Module,
    *,
    leaving_out: Collection[str] = (),
    inner_first: bool = False,
) -> list[tuple[ir.Operation, str]]:
    """Return the operations of `operations_in` with their names.

    Reading the regions of each operation would dominate the cost; operations of StableHLO that
    can't have any are recognized by their names, which most callers need anyway.
    """
    operation = root.operation
    found: list[tuple[ir.Operation, str]] = []
    if not inner_first:
        found.append((operation, operation.name))
    _add_operations_in(operation, leaving_out, inner_first, found)
    if inner_first:
        found.append((operation, operation.name))
    return found


def _add_operations_in(
    operation: ir.Operation,
    leaving_out: Collection[str],
    inner_first: bool,
    found: list[tuple[ir.Operation, str]],
) -> None:
    add, may_nest = found.append, may_have_regions
    for region in operation.regions:
        for block in region.blocks:
            for view in block.operations:
                inner = view.operation
                name = inner.name
                if not may_nest(name):
                    add((inner, name))
                    continue
                if not inner_first:
                    add((inner, name))
                if name not in leaving_out:
                    _add_operations_in(inner, leaving_out, inner_first, found)
                if inner_first:
                    add((inner, name))
