# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results that take no memory, since compilers compute them as a part of their users.

1. Elementwise operations, broadcasts, constants and iotas are fused into the only operation that
   uses them. Those that are cheap to compute are fused into each of several.
2. The users are such operations, or reductions, in the same block.

In `reduce(exp(x * 2))`, neither the product nor the exponential is in memory. In `y / sum(y)` with
`y = exp(x)`, the exponential is: it has two users, and isn't cheap.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from itertools import islice
from typing import NamedTuple

from mlir_sdy.host import ir
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

FUSED_OPERATIONS = ELEMENTWISE_OPERATIONS | {
    "stablehlo.broadcast_in_dim",
    "stablehlo.constant",
    "stablehlo.iota",
}
"""The operations that are fused into a single user."""

RECOMPUTED_OPERATIONS = frozenset(
    f"stablehlo.{name}"
    for name in """
        abs add and broadcast_in_dim ceil clamp compare complex constant convert floor imag iota
        maximum minimum multiply negate not or real reduce_precision round_nearest_afz
        round_nearest_even select shift_left shift_right_arithmetic shift_right_logical subtract xor
    """.split()  # noqa: SIM905 (a list would be taller than the screen)
)
"""The fused operations that are cheap: they are computed again in each of several users."""

FUSING_OPERATIONS = FUSED_OPERATIONS | {"stablehlo.reduce", "stablehlo.select"}
"""The operations that others are fused into."""


class Use(NamedTuple):
    """A use of a value.

    Attributes:
        user: the operation, or what stands for it.
        name: its name.
        block: its block, or what stands for it.
    """

    user: Hashable
    name: str
    block: Hashable


def is_fusable(name: str, block: Hashable, uses: Iterable[Use]) -> bool:
    """Whether an operation is fused into the users of its result.

    Args:
        name: its name.
        block: its block, or what stands for it.
        uses: the uses of its result.
    """
    if name not in FUSED_OPERATIONS:
        return False
    users = set[Hashable]()
    for use in uses:
        users.add(use.user)
        if len(users) > 1 and name not in RECOMPUTED_OPERATIONS:
            return False
        if use.block != block or use.name not in FUSING_OPERATIONS:
            return False
    return bool(users)


def fused_tensors(operation: ir.Operation) -> list[bool]:
    """Return for the operands, then for the results whether they are fused into their users."""
    return [
        isinstance(value, ir.OpResult) and is_fused(value, value.owner.operation)
        for value in (*operation.operands, *operation.results)
    ]


def is_fused(result: ir.Value, operation: ir.Operation) -> bool:
    """Whether the result of an operation is fused into its users.

    Args:
        result: the result.
        operation: the operation.
    """
    users = (use.owner.operation for use in result.uses)
    uses = (Use(each, each.name, each.block) for each in users)
    return is_fusable(operation.name, operation.block, uses)


def is_used_once(value: ir.Value) -> bool:
    """Whether a value has a single use."""
    return sum(1 for _ in islice(value.uses, 2)) == 1
