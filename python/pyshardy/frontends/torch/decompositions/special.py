# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Special functions of one number, of `torch.special`.

Each is a Chebyshev series in the argument where it is small, and in its reciprocal times the
asymptotic form where it is large. A series interpolates PyTorch's own function in 64 bits, at the
nodes of Chebyshev, when the first program that needs it is traced. It ends where its terms are
smaller than the numbers' precision.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from pyshardy.frontends.torch.registry import decomposition

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
        result = (torch.cos(numbers.unsqueeze(1) * angles) @ values * (2 / _NODES)).tolist()
    result[0] /= 2
    smallest = 4 * max(precision, 1e-15) * max(map(abs, result))
    count = max(index for index, each in enumerate(result) if abs(each) > smallest) + 1
    return tuple(result[: max(count, 2)])


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


Function = Callable[["Tensor"], "Tensor"]


def _function(*names: str) -> Callable[[Function], Function]:
    """Return a decorator that registers a function of floating-point numbers."""

    def add(function: Function) -> Function:
        @decomposition(*names)
        def converted(self: Tensor) -> Tensor:  # pyright: ignore[reportUnusedFunction]
            return evaluated(function, self)

        return function

    return add


def _eager(name: str) -> Function:
    """Return a function of `torch.special`."""

    def function(x: Tensor) -> Tensor:
        return getattr(torch.special, name)(x)

    return function


def _of_reciprocal(function: Function) -> Function:
    """Return `function(x) sqrt(x)` as a function of `1 / x`."""
    return lambda u: function(1 / u) / u.sqrt()


# --- Modified Bessel functions of the first kind --------------------------------------------------

_LARGE = 8.0
_I0E = Series(_eager("i0e"), 0, _LARGE), Series(_of_reciprocal(_eager("i0e")), 0, 1 / _LARGE)
_I1E = (
    Series(lambda x: _eager("i1e")(x) / x, 0, _LARGE),
    Series(_of_reciprocal(_eager("i1e")), 0, 1 / _LARGE),
)


@_function("aten.special_i0e")
def i0e(x: Tensor) -> Tensor:
    """Return the Bessel function I0 times exp(-abs(x))."""
    size = torch.abs(x)
    large = torch.clamp(size, min=_LARGE)
    return torch.where(size < _LARGE, _I0E[0](size), _I0E[1](1 / large) * torch.rsqrt(large))


@_function("aten.special_i1e")
def i1e(x: Tensor) -> Tensor:
    """Return the Bessel function I1 times exp(-abs(x))."""
    size = torch.abs(x)
    large = torch.clamp(size, min=_LARGE)
    outside = torch.sign(x) * _I1E[1](1 / large) * torch.rsqrt(large)
    return torch.where(size < _LARGE, x * _I1E[0](size), outside)


@_function("aten.i0", "aten.special_i0", "aten.special_modified_bessel_i0")
def i0(x: Tensor) -> Tensor:
    """Return the Bessel function I0."""
    return torch.exp(torch.abs(x)) * i0e(x)


@_function("aten.special_i1", "aten.special_modified_bessel_i1")
def i1(x: Tensor) -> Tensor:
    """Return the Bessel function I1."""
    return torch.exp(torch.abs(x)) * i1e(x)


# --- Modified Bessel functions of the second kind -------------------------------------------------

_MIDDLE = 2.0


def _regular_k0(square: Tensor) -> Tensor:
    """Return `K0(x) + log(x / 2) I0(x)`, a function of the square of x."""
    x = square.sqrt()
    return torch.special.modified_bessel_k0(x) + torch.log(x / 2) * torch.special.i0(x)


def _regular_k1(square: Tensor) -> Tensor:
    """Return `x (K1(x) - log(x / 2) I1(x))`, a function of the square of x."""
    x = square.sqrt()
    return x * (torch.special.modified_bessel_k1(x) - torch.log(x / 2) * torch.special.i1(x))


_K0 = (
    Series(_regular_k0, 0, _MIDDLE**2),
    Series(_of_reciprocal(_eager("scaled_modified_bessel_k0")), 0, 1 / _MIDDLE),
)
_K1 = (
    Series(_regular_k1, 0, _MIDDLE**2),
    Series(_of_reciprocal(_eager("scaled_modified_bessel_k1")), 0, 1 / _MIDDLE),
)


@_function("aten.special_scaled_modified_bessel_k0")
def scaled_k0(x: Tensor) -> Tensor:
    """Return the Bessel function K0 times exp(x)."""
    small, large = torch.clamp(x, max=_MIDDLE), torch.clamp(x, min=_MIDDLE)
    near = torch.exp(small) * (_K0[0](small * small) - torch.log(small / 2) * i0(small))
    result = torch.where(x < _MIDDLE, near, _K0[1](1 / large) * torch.rsqrt(large))
    return torch.where(x == 0, torch.inf, result)


@_function("aten.special_scaled_modified_bessel_k1")
def scaled_k1(x: Tensor) -> Tensor:
    """Return the Bessel function K1 times exp(x)."""
    small, large = torch.clamp(x, max=_MIDDLE), torch.clamp(x, min=_MIDDLE)
    near = _K1[0](small * small) / small + torch.log(small / 2) * i1(small)
    result = torch.where(
        x < _MIDDLE, torch.exp(small) * near, _K1[1](1 / large) * torch.rsqrt(large)
    )
    return torch.where(x == 0, torch.inf, result)


@_function("aten.special_modified_bessel_k0")
def k0(x: Tensor) -> Tensor:
    """Return the Bessel function K0."""
    return torch.exp(-x) * scaled_k0(x)


@_function("aten.special_modified_bessel_k1")
def k1(x: Tensor) -> Tensor:
    """Return the Bessel function K1."""
    return torch.exp(-x) * scaled_k1(x)


# --- Bessel functions -----------------------------------------------------------------------------

_OSCILLATING = 5.0
_PHASES = math.pi / 4, 3 * math.pi / 4


def _amplitudes(order: int) -> tuple[Series, Series]:
    """Return P, and Q times x, of `oscillation` as functions of `1 / x**2`."""

    def parts(u: Tensor) -> tuple[Tensor, Tensor, Any, Any]:
        x = torch.rsqrt(u)
        scale = torch.sqrt(torch.pi * x / 2)
        first, second = (_eager(f"bessel_{kind}{order}")(x) * scale for kind in "jy")
        return x, x - _PHASES[order], first, second

    def of_cosine(u: Tensor) -> Tensor:
        _, turned, first, second = parts(u)
        return first * turned.cos() + second * turned.sin()

    def of_sine(u: Tensor) -> Tensor:
        x, turned, first, second = parts(u)
        return x * (second * turned.cos() - first * turned.sin())

    end = 1 / _OSCILLATING**2
    return Series(of_cosine, 0, end), Series(of_sine, 0, end)


def _regular_y0(square: Tensor) -> Tensor:
    """Return `Y0(x) - 2 / pi log(x) J0(x)`, a function of the square of x."""
    x = square.sqrt()
    return _eager("bessel_y0")(x) - 2 / math.pi * x.log() * _eager("bessel_j0")(x)


def _regular_y1(square: Tensor) -> Tensor:
    """Return `(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x`, a function of the square of x."""
    x = square.sqrt()
    singular = 2 / math.pi * (x.log() * _eager("bessel_j1")(x) - 1 / x)
    return (_eager("bessel_y1")(x) - singular) / x


_SQUARE = _OSCILLATING**2
_J0 = Series(lambda square: _eager("bessel_j0")(square.sqrt()), 0, _SQUARE)
_J1 = Series(lambda square: _eager("bessel_j1")(square.sqrt()) / square.sqrt(), 0, _SQUARE)
_Y0, _Y1 = Series(_regular_y0, 0, _SQUARE), Series(_regular_y1, 0, _SQUARE)
_AMPLITUDES = _amplitudes(0), _amplitudes(1)


def _large(order: int, size: Tensor) -> Any:
    large = torch.clamp(size, min=_OSCILLATING)
    of_cosine, of_sine = (each(1 / (large * large)) for each in _AMPLITUDES[order])
    return oscillation(of_cosine, of_sine / large, large, _PHASES[order])


@_function("aten.special_bessel_j0")
def j0(x: Tensor) -> Tensor:
    """Return the Bessel function J0."""
    size = torch.abs(x)
    return torch.where(size < _OSCILLATING, _J0(x * x), _large(0, size)[0])


@_function("aten.special_bessel_j1")
def j1(x: Tensor) -> Tensor:
    """Return the Bessel function J1."""
    size = torch.abs(x)
    return torch.where(size < _OSCILLATING, x * _J1(x * x), torch.sign(x) * _large(1, size)[0])


@_function("aten.special_bessel_y0")
def y0(x: Tensor) -> Tensor:
    """Return the Bessel function Y0."""
    near = _Y0(x * x) + 2 / torch.pi * torch.log(x) * _J0(x * x)
    result = torch.where(x < _OSCILLATING, near, _large(0, x)[1])
    return torch.where(x == 0, -torch.inf, result)


@_function("aten.special_bessel_y1")
def y1(x: Tensor) -> Tensor:
    """Return the Bessel function Y1."""
    near = x * _Y1(x * x) + 2 / torch.pi * (torch.log(x) * x * _J1(x * x) - 1 / x)
    result = torch.where(x < _OSCILLATING, near, _large(1, x)[1])
    return torch.where(x == 0, -torch.inf, result)


_SPHERICAL = Series(lambda square: _eager("spherical_bessel_j0")(square.sqrt()), 0, 1)


@_function("aten.special_spherical_bessel_j0")
def spherical_j0(x: Tensor) -> Tensor:
    """Return the spherical Bessel function, sin(x) / x."""
    size = torch.abs(x)
    result = torch.where(size < 1, _SPHERICAL(x * x), torch.sin(x) / torch.clamp(size, min=1))
    result = torch.where(x <= -1, -result, result)
    return torch.where(torch.isinf(x), 0, result)


# --- The normal distribution ----------------------------------------------------------------------

_ERFCX = Series(lambda t: _eager("erfcx")(2 / t - 2) * (4 / t - 3), 0, 1)
_TAIL, _FAR = math.exp(-2), 6.0
_NEAR_TAIL = Series(lambda y: _eager("ndtri")((-y * y / 2).exp()) / y, 2, _FAR)
_FAR_TAIL = Series(lambda u: _eager("ndtri")((-1 / (2 * u * u)).exp()) * u, 1 / 38, 1 / _FAR)


@_function("aten.special_erfcx")
def erfcx(x: Tensor) -> Tensor:
    """Return the complementary error function times exp(x * x)."""
    size = torch.abs(x)
    result = _ERFCX(2 / (size + 2)) / (2 * size + 1)
    return torch.where(x < 0, 2 * torch.exp(x * x) - result, result)


@_function("aten.special_ndtri")
def ndtri(x: Tensor) -> Tensor:
    """Return the arguments for which the normal distribution function has given values."""
    tail = torch.minimum(x, 1 - x)
    y = torch.sqrt(-2 * torch.log(torch.clamp(tail, max=_TAIL)))
    outside = y * torch.where(y < _FAR, _NEAR_TAIL(y), _FAR_TAIL(1 / y))
    outside = torch.where(x > 0.5, -outside, outside)
    inside = math.sqrt(2) * torch.erfinv(2 * x - 1)
    return torch.where(tail < _TAIL, outside, inside)


Step = Callable[[int, Any, Any, Any], Any]
"""Returns the polynomial of degree k + 1, from k, x, and those of degrees k and k - 1."""


def _chebyshev(_: int, x: Any, last: Any, before: Any) -> Any:
    return 2 * x * last - before


def _register(name: str, first: Callable[[Any], Any], step: Step, *, shifted: bool = False) -> None:
    """Register a family of polynomials, whose degree 0 is 1.

    Args:
        name: the name in `torch.special`.
        first: the polynomial of degree 1.
        step: the recurrence.
        shifted: whether the interval is 0 to 1, instead of -1 to 1.
    """

    @decomposition(f"aten.special_{name}.n_scalar")
    def polynomial(x: Tensor, n: int) -> Tensor:  # pyright: ignore[reportUnusedFunction]
        def of(x: Tensor) -> Tensor:
            x = 2 * x - 1 if shifted else x
            before, last = torch.zeros_like(x), torch.ones_like(x)
            for degree in range(int(n)):
                after = first(x) if degree == 0 else step(degree, x, last, before)
                before, last = last, after
            return torch.zeros_like(x) if n < 0 else last

        return evaluated(of, x)


_FIRST_OF_CHEBYSHEV: dict[str, Callable[[Any], Any]] = {
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}
for _kind, _first in _FIRST_OF_CHEBYSHEV.items():
    _register(f"chebyshev_polynomial_{_kind}", _first, _chebyshev)
    _register(f"shifted_chebyshev_polynomial_{_kind}", _first, _chebyshev, shifted=True)

_register(
    "hermite_polynomial_h",
    lambda x: 2 * x,
    lambda k, x, last, before: 2 * x * last - 2 * k * before,
)
_register("hermite_polynomial_he", lambda x: x, lambda k, x, last, before: x * last - k * before)
_register(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda k, x, last, before: ((2 * k + 1 - x) * last - k * before) / (k + 1),
)
_register(
    "legendre_polynomial_p",
    lambda x: x,
    lambda k, x, last, before: ((2 * k + 1) * x * last - k * before) / (k + 1),
)
