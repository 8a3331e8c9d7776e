# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common divisors and multiples of integers."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition

_STEPS_PER_BIT = 1.4405
"""Steps of Euclid's algorithm for each bit: the most for consecutive Fibonacci numbers."""


@decomposition("aten.gcd")
def gcd(self: Tensor, other: Tensor) -> Tensor:
    """Return the greatest common divisors.

    The number of steps is that of the largest integers of the type, so that the loop is elementwise
    and devices need not agree when it ends.
    """
    from torch._higher_order_ops.while_loop import while_loop_op  # noqa: PLC0415

    dtype = torch.result_type(self, other)
    steps = int(_STEPS_PER_BIT * torch.iinfo(dtype).bits) + 2
    sides = torch.broadcast_tensors(torch.abs(self.to(dtype)), torch.abs(other.to(dtype)))

    def is_repeated(step: Tensor, *_: Tensor) -> Tensor:
        return step < steps

    def repeated(step: Tensor, last: Tensor, rest: Tensor) -> Any:
        is_done = rest == 0
        remainder = torch.fmod(last, torch.where(is_done, 1, rest))
        return (
            step + 1,
            torch.where(is_done, last, rest),
            torch.where(is_done, rest, remainder),
        )

    first = torch.zeros((), dtype=torch.int64)
    _, divisor, _ = while_loop_op(is_repeated, repeated, (first, *(s.clone() for s in sides)), ())
    return divisor


@decomposition("aten.lcm")
def lcm(self: Tensor, other: Tensor) -> Tensor:
    """Return the least common multiples."""
    divisor = torch.gcd(self, other)
    quotient = torch.div(self, torch.where(divisor == 0, 1, divisor), rounding_mode="trunc")
    return torch.abs(quotient * other)
