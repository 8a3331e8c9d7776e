# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of the operations of a function, by dependencies and further edges."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.host import ir
from mlir_sdy.traversal import terminator_of


def needs_of(operations: Sequence[ir.Operation]) -> list[set[int]]:
    """Return for each operation the numbers of the operations whose results it uses."""
    numbers = {each: number for number, each in enumerate(operations)}
    return [
        {
            numbers[owner.operation]
            for owner in (value.owner for value in operation.operands)
            if not isinstance(owner, ir.Block) and owner.operation in numbers
        }
        for operation in operations
    ]


def reached_from(needs: Sequence[set[int]]) -> list[int]:
    """Return for each operation all that it depends on, as the bits of a number."""
    reached = [0] * len(needs)
    for number, own in enumerate(needs):
        for each in own:
            reached[number] |= reached[each] | 1 << each
    return reached


def sort_operations(
    operations: Sequence[ir.Operation], needs: Sequence[set[int]], followers: list[set[int]]
) -> list[int]:
    """Move the operations of a block after those that come before them.

    As C++ Shardy does: go through the operations in their order, place each that all its
    predecessors are placed before, and begin again with those that are left.

    Args:
        operations: the operations, without the terminator.
        needs: the operations that each one depends on.
        followers: the operations that have to come after each one, besides.

    Returns:
        The operations that wait for each other; nothing is moved if there are any.
    """
    for number, own in enumerate(needs):
        for each in own:
            followers[each].add(number)
    waiting = [0] * len(operations)
    for numbers in followers:
        for each in numbers:
            waiting[each] += 1
    left = list(range(len(operations)))
    order: list[int] = []
    while left:
        placed = len(order)
        for number in left:
            if not waiting[number]:
                order.append(number)
                for each in followers[number]:
                    waiting[each] -= 1
        if len(order) == placed:
            return left
        now = set(order[placed:])
        left = [each for each in left if each not in now]
    for number in order:
        operations[number].move_before(terminator_of(operations[number].block))
    return []
