# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sorting operations in the order of the text."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from mlir_sdy.host import ir


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
