# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that select elements by their order or number, and cumulative operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten.topk")
def topk(
    self: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,
) -> tuple[Tensor, Tensor]:
    """Return the first elements in an order, sorted in any case."""
    values, indices = torch.sort(self, stable=True, dim=dim, descending=largest)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)


@decomposition("aten.kthvalue")
def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the element at a position of the ascending order."""
    values, indices = torch.sort(self, stable=True, dim=dim)
    return _reduced(values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1), dim, keepdim)


@decomposition("aten.median.dim")
def median(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the lower of the elements in the middle; NaN if an element is NaN."""
    values, indices = torch.sort(self, stable=True, dim=dim)
    position = torch.full_like(indices.narrow(dim, 0, 1), (self.shape[dim] - 1) // 2)
    if self.is_floating_point():
        numbers = torch.sum(~torch.isnan(self), dim, keepdim=True)
        position = torch.where(numbers < self.shape[dim], numbers, position)
    return _taken(values, indices, position, dim, keepdim)


@decomposition("aten.nanmedian.dim")
def nanmedian(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the lower of the elements in the middle, without those that are NaN."""
    if not self.is_floating_point():
        return median(self, dim, keepdim)
    values, indices = torch.sort(self, stable=True, dim=dim)
    numbers = torch.sum(~torch.isnan(self), dim, keepdim=True)
    position = torch.clamp(torch.div(numbers - 1, 2, rounding_mode="floor"), min=0)
    return _taken(values, indices, position, dim, keepdim)


@decomposition("aten.median.default")
def median_of_all(self: Tensor) -> Tensor:
    """Return the median of all elements."""
    return median(self.reshape(-1), 0)[0]


@decomposition("aten.nanmedian.default")
def nanmedian_of_all(self: Tensor) -> Tensor:
    """Return the median of all elements that aren't NaN."""
    return nanmedian(self.reshape(-1), 0)[0]


@decomposition("aten.mode")
def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest one of the most frequent elements, and its last position."""
    values, indices = torch.sort(self, stable=True, dim=dim)
    along, last = values.movedim(dim, -1), indices.movedim(dim, -1)
    equal = along.unsqueeze(-1) == along.unsqueeze(-2)
    first = torch.argmax(equal.sum(-1), -1, keepdim=True)
    # The last one of the equal elements, which are neighbors.
    position = first + torch.gather(equal.sum(-1), -1, first) - 1
    value, at = torch.gather(along, -1, position), torch.gather(last, -1, position)
    return _reduced(value.movedim(-1, dim), at.movedim(-1, dim), dim, keepdim)


@decomposition("aten.max.dim")
def max_along(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the largest elements along a dimension, and their first positions."""
    return torch.amax(self, dim, keepdim), torch.argmax(self, dim, keepdim)


@decomposition("aten.min.dim")
def min_along(self: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Return the smallest elements along a dimension, and their first positions."""
    return torch.amin(self, dim, keepdim), torch.argmin(self, dim, keepdim)


@decomposition("aten.argmax")
def argmax(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the first position of the largest element; NaN is the largest."""
    return _first(self, torch.amax, dim, keepdim)


@decomposition("aten.argmin")
def argmin(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Return the first position of the smallest element; NaN is the smallest."""
    return _first(self, torch.amin, dim, keepdim)


def _first(value: Tensor, extreme: Any, dim: int | None, keepdim: bool) -> Tensor:
    """Return the first position of an extreme element."""
    if dim is None:
        result = _first(value.reshape(-1), extreme, 0, False)
        return result.reshape([1] * value.dim()) if keepdim else result
    dim %= value.dim()
    is_found = value == extreme(value, dim, True)
    if value.is_floating_point():
        is_found = is_found | torch.isnan(value)
    size = value.shape[dim]
    shape = [-1 if each == dim else 1 for each in range(value.dim())]
    positions = torch.arange(size, device=value.device).reshape(shape)
    # Without a match, which NaN can't cause, the last position is right as well.
    return torch.amin(torch.where(is_found, positions, size - 1), dim, keepdim)


def _taken(
    values: Tensor, indices: Tensor, position: Tensor, dim: int, keepdim: bool
) -> tuple[Tensor, Tensor]:
    """Return the elements at positions along a dimension, of two tensors."""
    value, at = torch.gather(values, dim, position), torch.gather(indices, dim, position)
    return _reduced(value, at, dim, keepdim)


def _reduced(values: Tensor, indices: Tensor, dim: int, keepdim: bool) -> tuple[Tensor, Tensor]:
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))


@decomposition("aten.searchsorted.Tensor")
def searchsorted(
    sorted_sequence: Tensor,
    self: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Return the positions to insert elements at: the numbers of those before them."""
    if sorter is not None:
        sorted_sequence = torch.gather(sorted_sequence, -1, sorter)
    is_list = sorted_sequence.dim() == 1
    sequence = sorted_sequence if is_list else sorted_sequence.unsqueeze(-2)
    element = self.unsqueeze(-1)
    is_right = right or side == "right"
    before = sequence <= element if is_right else sequence < element
    before = before | torch.isnan(element)
    return torch.sum(before, -1, dtype=torch.int32 if out_int32 else torch.int64)


@decomposition("aten.searchsorted.Scalar")
def searchsorted_scalar(sorted_sequence: Tensor, self: float, **options: Any) -> Tensor:
    """Return the position to insert a number at."""
    number = torch.full((), self, dtype=sorted_sequence.dtype, device=sorted_sequence.device)
    return searchsorted(sorted_sequence, number, **options)


@decomposition("aten.bucketize.Tensor")
def bucketize(
    self: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    """Return the number of the boundaries before each element."""
    return searchsorted(boundaries, self, out_int32=out_int32, right=right)


@decomposition("aten.bucketize.Scalar")
def bucketize_scalar(self: float, boundaries: Tensor, **options: Any) -> Tensor:
    """Return the number of the boundaries before a number."""
    return searchsorted_scalar(boundaries, self, **options)


@decomposition("aten.histc")
def histc(self: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """Count the elements in bins of equal width."""
    value = self.reshape(-1)
    if not value.numel():
        return value.new_zeros(bins)
    if min == max:
        low, high = torch.amin(value), torch.amax(value)
        is_flat = low == high
        low, high = torch.where(is_flat, low - 1, low), torch.where(is_flat, high + 1, high)
    else:
        low, high = (torch.full((), each, dtype=value.dtype) for each in (min, max))
    inside = (value >= low) & (value <= high)
    position = torch.floor((value - low) * bins / (high - low))
    position = torch.clamp(position, max=bins - 1)  # the last bin includes its end
    numbers = torch.arange(bins, dtype=value.dtype, device=value.device)
    counted = (position.unsqueeze(0) == numbers.unsqueeze(1)) & inside.unsqueeze(0)
    return torch.sum(counted, 1).to(self.dtype)


@decomposition("aten.cumsum")
def cumsum(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the cumulative sums, the parts of complex numbers apart."""
    value = self if dtype is None else self.to(dtype)
    if dtype in (torch.uint8, torch.int8):  # which the importer can't sum
        return torch.cumsum(value, dim).to(dtype)
    if not value.is_complex():
        return torch.cumsum(self, dim, dtype=dtype)
    return torch.complex(torch.cumsum(value.real, dim), torch.cumsum(value.imag, dim))


@decomposition("aten.cumprod")
def cumprod(self: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Return the cumulative products."""
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
    """Return the cumulative maxima, and their last positions; NaN is the largest."""
    return _extremes(self, dim, torch.ge)


@decomposition("aten.cummin")
def cummin(self: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Return the cumulative minima, and their last positions; NaN is the smallest."""
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
    """Return the cumulative results of an associative function.

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
