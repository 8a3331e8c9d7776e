# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results that take no memory, since compilers compute them as a part of their users."""

from __future__ import annotations

from itertools import islice

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


def is_fused(result: ir.Value, name: str) -> bool:
    """Whether the result of an operation takes no memory, since its users compute it.

    Args:
        result: the result.
        name: the name of its operation.
    """
    if name not in FUSED_OPERATIONS:
        return False
    uses = result.uses if name in RECOMPUTED_OPERATIONS else islice(result.uses, 2)
    users = {use.owner.operation for use in uses}
    if not users or (len(users) > 1 and name not in RECOMPUTED_OPERATIONS):
        return False
    block = result.owner.operation.block
    return all(user.name in FUSING_OPERATIONS and user.block == block for user in users)


def is_used_once(value: ir.Value) -> bool:
    """Whether a value has a single use."""
    return sum(1 for _ in islice(value.uses, 2)) == 1
