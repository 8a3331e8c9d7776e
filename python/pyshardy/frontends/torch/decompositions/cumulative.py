# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cumulative operations."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.cumsum")
def cumsum(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Add the elements up to each one, the parts of complex numbers apart."""
    value = self if dtype is None else self.to(dtype)
    if not value.is_complex():
        return torch.cumsum(self, dim, dtype=dtype)
    return torch.complex(torch.cumsum(value.real, dim), torch.cumsum(value.imag, dim))


@decomposition("aten.cumprod")
def cumprod(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Multiply the elements up to each one."""
    value = _converted(self, dtype)
    return _scan(lambda a, b: (a[0] * b[0],), (value,), (torch.ones_like,), dim)[0]


@decomposition("aten.logcumsumexp")
def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    """Return the logarithms of the cumulative sums of exponentials."""

    def combine(a: Any, b: Any) -> Any:
        return (torch.logaddexp(a[0], b[0]),)

    def lowest(like: Tensor) -> Tensor:
        return torch.full_like(like, -float("inf"))

    return _scan(combine, (self,), (lowest,), dim)[0]


@decomposition("aten.cummax")
def cummax(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the largest element up to each one, and its last position; NaN is the largest."""
    return _extremes(self, dim, torch.ge)


@decomposition("aten.cummin")
def cummin(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the smallest element up to each one, and its last position; NaN is the smallest."""
    return _extremes(self, dim, torch.le)


def _extremes(
    value: Tensor, dim: int, precedes: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    dim %= value.dim()
    shape = [-1 if each == dim else 1 for each in range(value.dim())]
    positions = torch.arange(value.shape[dim], device=value.device).reshape(shape)

    def combine(earlier: Any, later: Any) -> Any:
        # Positions of -1 are in front of the first element.
        taken = precedes(later[0], earlier[0]) | (earlier[1] < 0)
        if value.is_floating_point():
            taken = taken | torch.isnan(later[0])
        return tuple(torch.where(taken, b, a) for a, b in zip(earlier, later, strict=True))

    def none(like: Tensor) -> Tensor:
        return torch.full_like(like, -1)

    values = value, positions.expand(value.shape)
    return _scan(combine, values, (torch.zeros_like, none), dim)


def _converted(value: Tensor, dtype: Any) -> Tensor:
    if dtype is None and not (value.is_floating_point() or value.is_complex()):
        dtype = torch.int64
    return value if dtype is None else value.to(dtype)


def _scan(
    combine: Callable[[Any, Any], Any],
    values: tuple[Tensor, ...],
    identities: tuple[Callable[[Tensor], Tensor], ...],
    dim: int,
) -> Any:
    """Return the results of an associative function on all elements up to each one.

    In each of the logarithmic number of steps, each element is combined with the one before it at
    a distance that doubles.
    """
    if values[0].numel() == 0:
        return tuple(value.clone() for value in values)
    dim %= values[0].dim()
    size, distance = values[0].shape[dim], 1
    while distance < size:
        earlier = tuple(
            torch.cat(
                (identity(value.narrow(dim, 0, distance)), value.narrow(dim, 0, size - distance)),
                dim,
            )
            for value, identity in zip(values, identities, strict=True)
        )
        values = combine(earlier, values)
        distance *= 2
    return values
