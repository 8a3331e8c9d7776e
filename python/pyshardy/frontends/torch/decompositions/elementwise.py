# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten._to_copy")
def to_copy(self: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    """Convert numbers, the parts of complex numbers apart."""
    if not isinstance(self, torch.Tensor):  # a number of Python, inside of torch.vmap
        return torch.full((), self, dtype=dtype)
    if dtype is None or dtype == self.dtype:
        return self.clone()
    if not dtype.is_complex:
        value = self.real if self.is_complex() else self
        return torch.ops.prims.convert_element_type.default(value, dtype)
    part = dtype.to_real()
    real, imaginary = (self.real, self.imag) if self.is_complex() else (self, None)
    real = real.to(part)
    return torch.complex(real, torch.zeros_like(real) if imaginary is None else imaginary.to(part))


@decomposition("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def remainder(self: Any, other: Any) -> Tensor:
    """Return remainders with the signs of the divisors."""
    dtype = torch.result_type(self, other)
    self, other = (_tensor(each, dtype) for each in (self, other))
    rest = torch.fmod(self, other)
    return torch.where((rest != 0) & ((rest < 0) != (other < 0)), rest + other, rest)


@decomposition("aten.floor_divide", "aten.div.Tensor_mode", "aten.div.Scalar_mode")
def divide(self: Any, other: Any, *, rounding_mode: str | None = "floor") -> Tensor:
    """Return quotients, rounded down to that of Python: by the exact rest of the division."""
    dtype = torch.result_type(self, other)
    if rounding_mode is None:
        return torch.div(self, other)
    if rounding_mode == "trunc" or not dtype.is_floating_point:
        return torch.div(self, other, rounding_mode=rounding_mode)
    self, other = (_tensor(each, dtype) for each in (self, other))
    quotient, rest = self / other, torch.fmod(self, other)
    is_next = (rest != 0) & ((rest < 0) != (other < 0))
    rounded = torch.round((self - rest) / other) - is_next.to(dtype)
    return torch.where(other == 0, quotient, torch.copysign(rounded, quotient))


@decomposition("aten.pow.Tensor_Tensor", "aten.pow.Scalar", "aten.pow.Tensor_Scalar")
def power(self: Any, exponent: Any) -> Tensor:
    """Return powers; those of integers with negative exponents are 0, but for 1 and -1."""
    dtype = torch.result_type(self, exponent)
    if not isinstance(exponent, torch.Tensor):
        root = {0.5: torch.sqrt, -0.5: torch.rsqrt}.get(exponent)
        return torch.pow(self, exponent) if root is None else root(self)
    if dtype.is_floating_point or dtype.is_complex or not dtype.is_signed:
        return torch.pow(self, exponent)
    self, exponent = (_tensor(each, dtype) for each in (self, exponent))
    is_inverse = exponent < 0
    powers = torch.pow(self, torch.where(is_inverse, torch.bitwise_and(exponent, 1), exponent))
    return torch.where(is_inverse & (torch.abs(self) != 1), 0, powers)


@decomposition("aten.abs")
def absolute(self: Tensor) -> Tensor:
    """Return the sizes of numbers, which bytes are."""
    return self.clone() if self.dtype == torch.uint8 else torch.abs(self)


@decomposition("aten.dropout")
def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Drop a random part of numbers; what remains of none can't be scaled up."""
    if train and p == 1:
        return input * torch.zeros_like(input)
    return torch.ops.aten.native_dropout.default(input, p, train)[0]


@decomposition("aten._neg_view")
def negated_view(self: Tensor) -> Tensor:
    """Return the negated numbers; PyTorch has such views of conjugate numbers."""
    return -self


@decomposition("aten.eq.Tensor")
def equal(self: Tensor, other: Tensor) -> Tensor:
    """Return whether numbers are equal; the importer takes NaN as equal to itself."""
    if not torch.result_type(self, other).is_floating_point:
        return torch.ops.aten.eq.Tensor(self, other)
    return torch.logical_not(torch.ne(self, other))


@decomposition("aten.fmax")
def fmax(self: Tensor, other: Tensor) -> Tensor:
    """Return the larger of two numbers, or the number that isn't NaN."""
    larger = torch.maximum(self, other)
    if not larger.is_floating_point():
        return larger
    return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, larger))


@decomposition("aten.fmin")
def fmin(self: Tensor, other: Tensor) -> Tensor:
    """Return the smaller of two numbers, or the number that isn't NaN."""
    smaller = torch.minimum(self, other)
    if not smaller.is_floating_point():
        return smaller
    return torch.where(torch.isnan(self), other, torch.where(torch.isnan(other), self, smaller))


@decomposition("aten.copysign.Tensor", "aten.copysign.Scalar")
def copysign(self: Tensor, other: Any) -> Tensor:
    """Return numbers with the signs of others."""
    dtype = torch.result_type(self, other)
    dtype = dtype if dtype.is_floating_point else torch.get_default_dtype()
    size = torch.abs(_tensor(self, dtype))
    return torch.where(torch.signbit(_tensor(other, dtype)), -size, size)


@decomposition("aten.clamp.default")
def clamp_by_numbers(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Return the numbers between bounds, of which one may have another type than integers."""
    bounds = [each for each in (min, max) if each is not None]
    dtype = functools.reduce(torch.promote_types, (torch.result_type(self, b) for b in bounds))
    return torch.clamp(self.to(dtype), min, max)


@decomposition("aten.clamp.Tensor")
def clamp(self: Tensor, min: Tensor | None = None, max: Tensor | None = None) -> Tensor:
    """Return the numbers between bounds that are closest to the given ones."""
    result = self if min is None else torch.maximum(self, min)
    return result if max is None else torch.minimum(result, max)


def _tensor(value: Any, dtype: Any) -> Tensor:
    return (
        value.to(dtype) if isinstance(value, torch.Tensor) else torch.full((), value, dtype=dtype)
    )


@decomposition("aten.hypot")
def hypot(self: Tensor, other: Tensor) -> Tensor:
    """Return the lengths of the hypotenuses."""
    first, second = torch.abs(self), torch.abs(other)
    low, high = torch.minimum(first, second), torch.maximum(first, second)
    ratio = low / torch.where(high == 0, 1, high)  # whose square doesn't overflow
    is_infinite = torch.isinf(self) | torch.isinf(other)
    return torch.where(is_infinite, torch.inf, high * torch.sqrt(1 + ratio * ratio))


@decomposition("aten.angle")
def angle(self: Tensor) -> Tensor:
    """Return the angles of numbers."""
    if self.is_complex():
        return torch.atan2(torch.imag(self), torch.real(self))
    value = self if self.is_floating_point() else self.to(torch.get_default_dtype())
    turned = torch.where(value < 0, torch.pi, torch.zeros_like(value))
    return torch.where(torch.isnan(value), value, turned)


@decomposition("aten.isfinite")
def isfinite(self: Tensor) -> Tensor:
    """Whether numbers are neither infinite nor NaN, as all integers."""
    if self.is_floating_point() or self.is_complex():
        return torch.isfinite(self)
    return torch.ones_like(self, dtype=torch.bool)


@decomposition("aten.isinf")
def isinf(self: Tensor) -> Tensor:
    """Whether numbers are infinite, which no integer is."""
    if self.is_floating_point() or self.is_complex():
        return torch.isinf(self)
    return torch.zeros_like(self, dtype=torch.bool)


@decomposition("aten.reciprocal")
def reciprocal(self: Tensor) -> Tensor:
    """Return the reciprocals of numbers."""
    is_integer = not (self.is_floating_point() or self.is_complex())
    return torch.reciprocal(self.to(torch.get_default_dtype()) if is_integer else self)


@decomposition("aten.polar")
def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Return the complex numbers with some sizes and angles."""
    return torch.complex(abs * torch.cos(angle), abs * torch.sin(angle))


@decomposition("aten.isclose")
def isclose(
    self: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether numbers differ by less than a tolerance."""
    close = self == other
    if equal_nan and self.is_floating_point():
        close = close | (torch.isnan(self) & torch.isnan(other))
    if not self.is_floating_point() and not self.is_complex():
        self, other = (each.to(torch.get_default_dtype()) for each in (self, other))
    difference = torch.abs(self - other)
    is_finite = torch.isfinite(difference)
    return close | (is_finite & (difference <= atol + rtol * torch.abs(other)))


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


# --- The incomplete gamma functions ---------------------------------------------------------------

# | arguments           | computed                                                       |
# |---------------------|----------------------------------------------------------------|
# | a > 100             | P or Q by Gaussian quadrature of the integrand around its peak |
# | others, x < a + 1   | P by its power series                                          |
# | others              | Q by its continued fraction, evaluated by Lentz's algorithm    |
#
# All are computed in 64 bits, since they contain differences of large logarithms, with a fixed
# number of steps, so that devices need not agree when a loop ends.


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
