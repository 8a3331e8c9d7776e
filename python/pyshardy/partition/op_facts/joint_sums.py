# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of several results of operations that contract dimensions: `%s = %x . %w + %y . %v`.

Partial results of the products need not be completed before the sum:
`sdy-reassociate-reductions` adds them up, and completes the sum once.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from mlir_sdy.fold.pattern import has_one_use
from mlir_sdy.host import ir
from mlir_sdy.values import get_sharding
from pyshardy.partition.op_facts.linear_operations import linear_operands

_ADDING = frozenset({"stablehlo.add", "stablehlo.subtract"})

_MOST_ADDENDS = 32
"""The limit on the number of addends that are looked at."""


def added_to(value: ir.Value, is_addend: Callable[[ir.Operation], bool]) -> list[ir.Operation]:
    """Return the other operations whose results a sum adds to a value.

    1. The only use of each result is, through operations that are linear in it alone, the sum: a
       tree of additions and subtractions in one block.
    2. No value on the way is sharded along other axes than the value: a reshard would come first.
    3. The sum is the largest one with addends from `is_addend` operations only.

    Example: the products of `%y` and of `%z` for `%x . %u` in
    `tanh(%x . %u + (transpose(%y . %v) - %z . %w))`.

    Args:
        value: the value.
        is_addend: whether the results of an operation are such addends.
    """
    axes = _axis_names(value)
    found: list[ir.Operation] = []
    while (use := _linear_use(value, axes)) is not None:
        user, index = use
        if user.name in _ADDING:
            others = _addends(user.operands[1 - index], user.block, axes, is_addend)
            if others is None or len(found) + len(others) > _MOST_ADDENDS:
                break
            found += others
        value = user.results[0]
    return found


def is_added(value: ir.Value) -> bool:
    """Whether the only use of a value is, through linear operations, an addend of a sum."""
    if _sole_linear_use(value) is None:
        return False  # most values: their axes need not be read
    axes = _axis_names(value)
    while (use := _linear_use(value, axes)) is not None:
        if use[0].name in _ADDING:
            return True
        value = use[0].results[0]
    return False


def _linear_use(value: ir.Value, axes: set[str]) -> tuple[ir.Operation, int] | None:
    """Return the user of a value and the index of its operand, if it can stay partial for it."""
    use = _sole_linear_use(value)
    return use if use is not None and _axis_names(use[0].results[0]) <= axes else None


def _sole_linear_use(value: ir.Value) -> tuple[ir.Operation, int] | None:
    """Return the user of a value and the index of its operand, if it is linear in it alone."""
    if not has_one_use(value):
        return None
    (use,) = value.uses
    user, index = use.owner.operation, use.operand_number
    is_linear = user.name in _ADDING or linear_operands(user) == (index,)
    return (user, index) if is_linear and user.block == value.owner.operation.block else None


def _addends(
    value: ir.Value, block: ir.Block, axes: set[str], is_addend: Callable[[ir.Operation], bool]
) -> list[ir.Operation] | None:
    """Return the operations whose results add up to a value; None if there are others."""
    if isinstance(value, ir.BlockArgument) or not has_one_use(value):
        return None
    operation = value.owner.operation
    if operation.block != block or not _axis_names(value) <= axes:
        return None
    if is_addend(operation):
        return [operation]
    if operation.name in _ADDING:
        parts = [_addends(each, block, axes, is_addend) for each in operation.operands]
        complete = [part for part in parts if part is not None]
        return [*chain(*complete)] if len(complete) == len(parts) else None
    operands = linear_operands(operation)
    if len(operands) != 1:
        return None
    return _addends(operation.operands[operands[0]], block, axes, is_addend)


def _axis_names(value: ir.Value) -> set[str]:
    sharding = get_sharding(value)
    if sharding is None:
        return set()
    return {ref.name for dim in sharding.dim_shardings for ref in dim.axes}
