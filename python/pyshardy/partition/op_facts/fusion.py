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

FUSING_OPERATIONS = FUSED_OPERATIONS | {"stablehlo.reduce", "stablehlo.select"}
"""The operations that others are fused into."""


def is_fused_into_user(result: ir.Value) -> bool:
    """Whether the result of one of `FUSED_OPERATIONS` has a single use, which it is fused into."""
    uses = [use.owner.operation for use in islice(result.uses, 2)]
    if len(uses) != 1:
        return False
    (user,) = uses
    return user.name in FUSING_OPERATIONS and user.block == result.owner.operation.block
