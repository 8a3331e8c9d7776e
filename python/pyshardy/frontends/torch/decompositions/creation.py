# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that make tensors: random ones, window functions, and frequencies of signals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten.scalar_tensor", "prims.scalar_tensor")
def scalar_tensor(s: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    """Return a tensor without dimensions."""
    if dtype is None:
        dtype = torch.get_default_dtype()
    return torch.full((), s, dtype=dtype)


@decomposition("aten._efficientzerotensor")
def zeros(size: Sequence[int], dtype: torch.dtype | None = None, **_: Any) -> torch.Tensor:
    """Return the zeros for a derivative that is none."""
    return torch.zeros(size, dtype=dtype)


@decomposition("aten.linspace")
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, **_: Any) -> Tensor:
    """Return numbers at equal distances, counted from the nearer end."""
    is_complex = isinstance(start, complex) or isinstance(end, complex)
    default = torch.get_default_dtype()
    kind = dtype or (default.to_complex() if is_complex else default)
    wide = kind if kind.is_floating_point or kind.is_complex else torch.float64
    first, last = (
        (each if isinstance(each, torch.Tensor) else torch.full((), each, dtype=wide))
        .to(kind)
        .to(wide)
        for each in (start, end)
    )
    distance = (last - first) / max(steps - 1, 1)
    position = torch.arange(steps)
    is_first_half = position < max(steps // 2, 1)
    from_last = last - distance * (steps - 1 - position)
    return torch.where(is_first_half, first + distance * position, from_last).to(kind)


@decomposition("aten.normal.Tensor_Tensor", "aten.normal.Tensor_float", "aten.normal.float_Tensor")
def normal(mean: Any, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Draw numbers of a normal distribution."""
    shape = torch.broadcast_shapes(*(getattr(each, "shape", ()) for each in (mean, std)))
    dtype = (mean if isinstance(mean, torch.Tensor) else std).dtype
    return mean + std * torch.randn(shape, dtype=dtype)


@decomposition("aten.normal.float_float")
def normal_of_numbers(
    mean: float, std: float, size: Sequence[int], *, dtype: Any = None, **options: Any
) -> Tensor:
    """Draw numbers of a normal distribution."""
    return mean + std * torch.randn(size, dtype=dtype or torch.get_default_dtype())


@decomposition("aten.randint_like")
def randint_like(self: Tensor, high: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """Draw integers below a bound."""
    return randint_between(self, 0, high, dtype=dtype)


@decomposition("aten.randint_like.low_dtype")
def randint_between(
    self: Tensor, low: int, high: int, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Draw integers between bounds."""
    return torch.randint(low, high, self.shape, dtype=torch.int64).to(dtype or self.dtype)


@decomposition("aten.nonzero_static")
def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return the positions of a number of elements that aren't zero."""
    flags = (self != 0).reshape(-1)
    count = flags.shape[0]
    order = torch.sort(~flags, stable=True)[1][:size]
    if size > count:
        order = torch.nn.functional.pad(order, (0, size - count))
    is_found = torch.arange(size) < torch.sum(flags)
    columns: list[Tensor] = []
    step = 1
    for length in reversed(self.shape):
        column = torch.remainder(torch.div(order, step, rounding_mode="floor"), length)
        columns.insert(0, torch.where(is_found, column, fill_value))
        step *= length
    return torch.stack(columns, 1) if columns else torch.empty((size, 0), dtype=torch.int64)


@decomposition("aten.multinomial")
def multinomial(
    self: Tensor, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Tensor:
    """Draw indices with given weights.

    Without replacement, these are the largest sums of logarithms of weights and Gumbel noise.
    """
    weights = self if self.dim() > 1 else self.unsqueeze(0)
    if replacement:
        sums = torch.cumsum(weights, 1)
        uniform = torch.rand((weights.shape[0], num_samples), dtype=self.dtype)
        chosen = torch.searchsorted(sums, uniform * sums[:, -1:], right=True)
        chosen = torch.clamp(chosen, max=weights.shape[1] - 1)
    else:
        keys = torch.log(weights) - torch.log(_exponential(weights))
        chosen = torch.topk(keys, num_samples)[1]
    return chosen if self.dim() > 1 else chosen.squeeze(0)


@decomposition("aten.exponential", "aten.exponential.default")
def exponential(self: Tensor, lambd: float = 1, *, generator: Any = None) -> Tensor:
    """Draw numbers of an exponential distribution."""
    return _exponential(self) / lambd


@decomposition("aten.cauchy")
def cauchy(self: Tensor, median: float = 0, sigma: float = 1, *, generator: Any = None) -> Tensor:
    """Draw numbers of a Cauchy distribution."""
    return median + sigma * torch.tan(torch.pi * (_uniform(self) - 0.5))


@decomposition("aten.geometric")
def geometric(self: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """Draw numbers of a geometric distribution."""
    return torch.ceil(torch.log(_uniform(self)) / math.log1p(-p)).to(self.dtype)


@decomposition("aten.log_normal")
def log_normal(self: Tensor, mean: float = 1, std: float = 2, *, generator: Any = None) -> Tensor:
    """Draw numbers whose logarithms are normally distributed."""
    return torch.exp(mean + std * torch.randn_like(self))


def _uniform(like: Tensor) -> Tensor:
    """Return uniform numbers between 0 and 1, exclusive, of the shape of a tensor."""
    tiny = torch.finfo(like.dtype).tiny if like.is_floating_point() else 1e-38
    return torch.clamp(torch.rand(like.shape), min=tiny)


def _exponential(like: Tensor) -> Tensor:
    return -torch.log(_uniform(like)).to(like.dtype)


@decomposition("aten.randperm.default")
def randperm(n: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """Draw a permutation: the order of uniform numbers."""
    return torch.argsort(torch.rand(n)).to(dtype or torch.int64)


@decomposition("aten.bartlett_window")
def bartlett_window(length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return a triangle."""
    return 1 - torch.abs(_positions(length, periodic, **options))


@decomposition("aten.hamming_window")
def hamming_window(
    length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """Return a sum of cosines."""
    return _cosines((alpha, beta), length, periodic, **options)


@decomposition("aten.blackman_window")
def blackman_window(length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return a sum of cosines."""
    return _cosines((0.42, 0.5, 0.08), length, periodic, **options)


@decomposition("aten.kaiser_window")
def kaiser_window(length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """Return quotients of Bessel functions."""
    position = _positions(length, periodic, **options)
    largest = torch.i0(torch.full_like(position, beta))
    return torch.i0(beta * torch.sqrt(1 - position * position)) / largest


def _cosines(coefficients: Sequence[float], *args: Any, **options: Any) -> Tensor:
    """Return a sum of cosines whose frequencies are multiples of the lowest."""
    angle = math.pi * _positions(*args, **options)
    first, *others = coefficients
    terms = (each * torch.cos(order * angle) for order, each in enumerate(others, 1))
    return sum(terms, torch.full_like(angle, first))


def _positions(
    length: int,
    periodic: bool,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,
    **_: Any,
) -> Tensor:
    """Return positions in a window from -1 to 1, of which a periodic one leaves out the last."""
    kind = dtype or torch.get_default_dtype()
    if length == 1:
        return torch.zeros(1, dtype=kind, device=device)
    steps = length if periodic else length - 1
    return torch.arange(length, dtype=kind, device=device) * (2 / steps) - 1


@decomposition("aten.fft_fftfreq")
def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of a Fourier transform, the negative ones last."""
    first = torch.arange((n + 1) // 2, dtype=_dtype(options))
    last = torch.arange(-(n // 2), 0, dtype=first.dtype)
    return torch.cat((first, last)) * (1 / (n * d))


@decomposition("aten.fft_rfftfreq")
def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    """Return the frequencies of a Fourier transform of real numbers."""
    return torch.arange(n // 2 + 1, dtype=_dtype(options)) * (1 / (n * d))


def _dtype(options: Mapping[str, Any]) -> torch.dtype:
    """Return the type in options of a tensor to make, or the default one."""
    return options.get("dtype") or torch.get_default_dtype()
