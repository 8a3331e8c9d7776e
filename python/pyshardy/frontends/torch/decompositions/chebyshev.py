# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chebyshev series of functions that PyTorch computes.

A series interpolates PyTorch's own function in 64 bits, at the nodes of Chebyshev, when the first
program that needs it is traced. It ends where its terms are smaller than the numbers' precision.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportMissingTypeStubs=false

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

_NODES = 48


@dataclass(frozen=True)
class Series:
    """A function on an interval, as a Chebyshev series.

        ratio = Series(lambda x: torch.special.i1e(x) / x, 0.0, 8.0)
        ratio(x)  # for x in the interval; other arguments are moved to its nearest end

    Attributes:
        function: the function, which must be analytic on the interval.
        low: the lower end of the interval; the function isn't called there.
        high: the upper end.
    """

    function: Callable[[Tensor], Tensor]
    low: float
    high: float

    def __call__(self, x: Tensor) -> Tensor:
        """Return the values of the series, by the recurrence of Clenshaw."""
        middle, radius = (self.low + self.high) / 2, (self.high - self.low) / 2
        t = (torch.clamp(x, self.low, self.high) - middle) / radius
        first, *others = _coefficients(self, torch.finfo(x.dtype).eps)
        one, two = torch.zeros_like(t), torch.zeros_like(t)
        for coefficient in reversed(others):
            one, two = 2 * t * one - two + coefficient, one
        return t * one - two + first


@functools.cache
def _coefficients(series: Series, precision: float) -> tuple[float, ...]:
    """Return the coefficients down to a precision, relative to the largest one."""
    with _disable_current_modes():  # which trace the program
        numbers = torch.arange(_NODES, dtype=torch.float64)
        angles = torch.pi * (numbers + 0.5) / _NODES
        middle, radius = (series.low + series.high) / 2, (series.high - series.low) / 2
        values = series.function(middle + radius * torch.cos(angles))
        found = (torch.cos(numbers.unsqueeze(1) * angles) @ values * (2 / _NODES)).tolist()
    found[0] /= 2
    smallest = 4 * max(precision, 1e-15) * max(map(abs, found))
    count = max(index for index, each in enumerate(found) if abs(each) > smallest) + 1
    return tuple(found[: max(count, 2)])


def evaluated(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return a function of numbers with at least 32 bits, in the type of others."""
    dtype = x.dtype if x.is_floating_point() else torch.get_default_dtype()
    wide = torch.promote_types(dtype, torch.float32)
    return function(x.to(wide)).to(dtype)


def oscillation(of_cosine: Tensor, of_sine: Tensor, x: Tensor, phase: float) -> Any:
    """Return the values of two Bessel functions at large x, of the first and second kind.

    They are `sqrt(2 / (pi x)) (P cos(x - phase) - Q sin(x - phase))`, and `P sin + Q cos`.

    Args:
        of_cosine: P.
        of_sine: Q.
        x: the arguments.
        phase: the phase, a quarter of pi for the order 0, and three quarters for 1.
    """
    sine, cosine = torch.sin(x), torch.cos(x)
    shift = math.sin(phase), math.cos(phase)
    turned = cosine * shift[1] + sine * shift[0], sine * shift[1] - cosine * shift[0]
    scale = torch.sqrt(2 / (torch.pi * x))
    return (
        scale * (of_cosine * turned[0] - of_sine * turned[1]),
        scale * (of_cosine * turned[1] + of_sine * turned[0]),
    )
