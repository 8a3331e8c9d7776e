# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regularized incomplete gamma functions, P(a, x) and Q(a, x) = 1 - P(a, x).

| arguments           | computed                                                       |
|---------------------|----------------------------------------------------------------|
| a > 100             | P or Q by Gaussian quadrature of the integrand around its peak |
| others, x < a + 1   | P by its power series                                          |
| others              | Q by its continued fraction, evaluated by Lentz's algorithm    |

All are computed in 64 bits, since they contain differences of large logarithms, with a fixed number
of steps, so that devices need not agree when a loop ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition

_LARGE, _STEPS, _NODES, _TINY = 100.0, 160, 32, 1e-300


@decomposition("aten.igamma", "aten.special_gammainc")
def igamma(self: Tensor, other: Tensor) -> Tensor:
    """Return the lower function P(a, x) for a `self` and x `other`."""
    return _regularized(self, other, is_upper=False)


@decomposition("aten.igammac", "aten.special_gammaincc")
def igammac(self: Tensor, other: Tensor) -> Tensor:
    """Return the upper function Q(a, x) for a `self` and x `other`."""
    return _regularized(self, other, is_upper=True)


def _regularized(a: Tensor, x: Tensor, *, is_upper: bool) -> Tensor:
    dtype = torch.result_type(a, x)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    a, x = torch.broadcast_tensors(a.double(), x.double())
    regular_a, regular_x = (
        torch.where((each > 0) & torch.isfinite(each), each, 1) for each in (a, x)
    )
    value, value_is_upper = _regular(regular_a, regular_x)
    result = torch.where(value_is_upper == is_upper, value, 1 - value)
    # At the ends, P is 0 or 1.
    is_one = ((a == 0) & (x > 0)) | (torch.isinf(x) & torch.isfinite(a))
    is_zero = (a > 0) & (x == 0) | (torch.isinf(a) & torch.isfinite(x))
    one, zero = (0.0, 1.0) if is_upper else (1.0, 0.0)
    result = torch.where(is_one, one, torch.where(is_zero, zero, result))
    undefined = (a < 0) | (x < 0) | torch.isnan(a) | torch.isnan(x)
    undefined = undefined | ((a == 0) & (x == 0)) | (torch.isinf(a) & torch.isinf(x))
    return torch.where(undefined, torch.nan, result).to(dtype)


def _regular(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return P or Q for finite positive arguments, and whether it is Q."""
    is_large, is_below = a > _LARGE, x < a + 1
    small = torch.clamp(a, max=_LARGE)
    below, above = torch.minimum(x, small + 1), torch.maximum(x, small + 1)
    lower, upper = _series_and_fraction(small, below, above)
    near = torch.where(is_below, lower, upper)
    far = _quadrature(torch.clamp(a, min=_LARGE), x)
    return torch.where(is_large, far, near), torch.where(is_large, x > a - 1, ~is_below)


def _series_and_fraction(a: Tensor, below: Tensor, above: Tensor) -> tuple[Tensor, Tensor]:
    """Return P of arguments below a + 1, and Q of those above."""
    from torch._higher_order_ops.while_loop import while_loop_op  # noqa: PLC0415

    first = above + 1 - a

    def is_repeated(step: Tensor, *_: Tensor) -> Tensor:
        return step <= _STEPS

    def repeated(step: Tensor, *values: Tensor) -> Any:
        term, total, b, c, d, fraction, a, below = values
        term = term * below / (a + step)
        numerator = -step * (step - a)
        b = b + 2
        d = 1 / _apart_from_zero(numerator * d + b)
        c = _apart_from_zero(b + numerator / c)
        return (step + 1, term, total + term, b, c, d, fraction * d * c, a.clone(), below.clone())

    initial: Any = (
        torch.ones((), dtype=torch.float64),
        torch.ones_like(a),
        torch.ones_like(a),
        first,
        torch.full_like(a, 1 / _TINY),
        1 / first,
        1 / first,
        a.clone(),
        below.clone(),
    )
    result = while_loop_op(is_repeated, repeated, initial, ())
    total, fraction = result[2], result[6]
    lower = torch.exp(a * torch.log(below) - below - torch.lgamma(a + 1)) * total
    upper = torch.exp(a * torch.log(above) - above - torch.lgamma(a)) * fraction
    return lower, upper


def _apart_from_zero(value: Tensor) -> Tensor:
    return torch.where(torch.abs(value) < _TINY, _TINY, value)


def _quadrature(a: Tensor, x: Tensor) -> Tensor:
    """Return P of arguments up to a - 1, and Q of others.

    The integrand falls below the precision at 12 standard deviations from its peak.
    """
    peak = a - 1
    deviation = torch.sqrt(peak)
    high = torch.maximum(peak + 11.5 * deviation, x + 6 * deviation)
    low = torch.clamp(torch.minimum(peak - 7.5 * deviation, x - 5 * deviation), min=0)
    end = torch.where(x > peak, high, low)
    total = torch.zeros_like(a)
    for node, weight in zip(*np.polynomial.legendre.leggauss(_NODES), strict=True):
        t = x + (end - x) * (float(node) + 1) / 2
        exponent = peak - t + peak * (torch.log(t) - torch.log(peak))
        total = total + float(weight) / 2 * torch.exp(exponent)
    scale = torch.exp(peak * (torch.log(peak) - 1) - torch.lgamma(a))
    return total * torch.abs(end - x) * scale
