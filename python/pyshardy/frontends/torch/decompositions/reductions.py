# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distances, histograms, and reductions of segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten.any")
def any_of(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element isn't zero; bytes are 1 or 0."""
    return _flags(torch.any, self, dim, keepdim)


@decomposition("aten.all")
def all_of(self: Tensor, dim: Any = None, keepdim: bool = False) -> Tensor:
    """Whether no element is zero; bytes are 1 or 0."""
    return _flags(torch.all, self, dim, keepdim)


def _flags(function: Any, value: Tensor, dim: Any, keepdim: bool) -> Tensor:
    result = value.bool()
    if dim is None:
        result = function(result)
    for each in [] if dim is None else reversed(_dims(value, dim)):
        result = function(result, each, keepdim)
    return result.to(torch.uint8) if value.dtype == torch.uint8 else result


def _dims(value: Tensor, dim: Any) -> list[int]:
    """Return dimensions in order."""
    dims = [dim] if isinstance(dim, int) else dim
    return sorted(each % max(value.dim(), 1) for each in dims)


@decomposition("aten.amax", "aten.max.default")
def amax(self: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Return the largest elements."""
    return torch.amax(_signed(self), dim, keepdim).to(self.dtype)


@decomposition("aten.amin", "aten.min.default")
def amin(self: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """Return the smallest elements."""
    return torch.amin(_signed(self), dim, keepdim).to(self.dtype)


def _signed(value: Tensor) -> Tensor:
    """Return signed integers for bytes and booleans, as whose extremes the importer begins."""
    return value.to(torch.int32) if value.dtype in (torch.bool, torch.uint8) else value


@decomposition("aten._cdist_forward")
def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """Return the distances between the vectors of two lists."""
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


@decomposition("aten._euclidean_dist")
def euclidean(x1: Tensor, x2: Tensor) -> Tensor:
    """Return the Euclidean distances between the vectors of two lists."""
    return cdist(x1, x2, 2, None)


@decomposition("aten._pdist_forward")
def pdist(self: Tensor, p: float = 2) -> Tensor:
    """Return the distances between all pairs of vectors, those of the first vector first."""
    count = self.shape[0]
    rows = [
        _norm(self.narrow(0, row, 1) - self.narrow(0, row + 1, count - row - 1), p)
        for row in range(count - 1)
    ]
    return torch.cat(rows) if rows else self.new_empty((0,))


def _norm(difference: Tensor, p: float) -> Tensor:
    """Return the norms along the last dimension."""
    size = torch.abs(difference)
    if p == 0:
        return torch.sum(size != 0, -1).to(size.dtype)
    if p == 1:
        return torch.sum(size, -1)
    if p == 2:
        return torch.sqrt(torch.sum(size * size, -1))
    if p == float("inf"):
        return torch.amax(size, -1)
    return torch.pow(torch.sum(torch.pow(size, p), -1), 1 / p)


@decomposition("aten.dist")
def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """Return the norm of a difference."""
    return _norm((self - other).reshape(-1), p)


@decomposition("aten.linalg_vector_norm")
def vector_norm(
    self: Tensor,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return the norms along dimensions."""
    value = self if dtype is None else self.to(dtype)
    if value.dim() == 0:
        return vector_norm(value.reshape(1), ord).reshape(())
    dims = _dims(value, range(value.dim()) if dim is None or dim == [] else dim)
    others = [each for each in range(value.dim()) if each not in dims]
    if ord == 2:
        size = torch.abs(value)
        return torch.sqrt(torch.sum(size * size, dims, keepdim=keepdim))
    moved = value.permute([*others, *dims]).reshape([value.shape[each] for each in others] + [-1])
    is_least = ord == -float("inf")
    result = torch.amin(torch.abs(moved), -1) if is_least else _norm(moved, ord)
    shape = [1 if each in dims else size for each, size in enumerate(value.shape)]
    return result.reshape(shape) if keepdim else result


@decomposition("aten.histogram.bin_ct")
def histogram(
    self: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the counts in bins of equal width, and the edges of the bins."""
    low, high = (torch.full((), each, dtype=self.dtype) for each in range or (0, 0))
    if range is None:
        low, high = torch.amin(self), torch.amax(self)
    margin = torch.where(low == high, 0.5, 0.0)
    low, high = low - margin, high + margin
    edges = low + (high - low) / bins * torch.arange(bins + 1)
    edges = torch.cat((edges[:-1], high.reshape(1)))
    return torch.histogram(self, edges.to(self.dtype), weight=weight, density=density)


@decomposition("aten.histogram.bins_tensor")
def histogram_of_edges(
    self: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the counts between given edges; the last bin contains its end."""
    x = self.reshape(-1, 1)
    is_last = torch.arange(bins.shape[0] - 1) == bins.shape[0] - 2
    inside = (x >= bins[:-1]) & ((x < bins[1:]) | (is_last & (x == bins[1:])))
    share = torch.ones_like(x) if weight is None else weight.reshape(-1, 1)
    counts = torch.sum(torch.where(inside, share, 0), 0)
    if density:
        counts = counts / torch.sum(counts) / (bins[1:] - bins[:-1])
    return counts.to(self.dtype), bins.clone()


_REDUCTIONS = {
    "sum": ("sum", 0.0),
    "mean": ("sum", 0.0),
    "prod": ("prod", 1.0),
    "max": ("amax", -float("inf")),
    "min": ("amin", float("inf")),
}
"""The reductions of scatters, and the values of empty segments."""


@decomposition("aten.segment_reduce")
def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    """Return the reductions of segments of the first dimension, given by lengths or offsets."""
    if indices is not None:
        raise NotImplementedError("give lengths or offsets")
    segment, sizes = _segments(data, lengths, offsets, axis)
    count = sizes.shape[0]
    name, neutral = _REDUCTIONS[reduce]
    first = torch.full(
        [count + 1, *data.shape[1:]], neutral if initial is None else initial, dtype=data.dtype
    )
    result = torch.scatter_reduce(first, 0, segment, data, name)[:count]
    if reduce != "mean":
        return result
    if initial is None:
        return result / sizes
    return torch.where(sizes > 0, result / torch.clamp(sizes, min=1), initial)


@decomposition("aten._segment_reduce_backward")
def segment_reduce_backward(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    initial: float | None = None,
) -> Tensor:
    """Return the gradient of the elements of segments."""
    segment, sizes = _segments(data, lengths, offsets, axis)

    def of_elements(value: Tensor) -> Tensor:
        padded = torch.cat((value, torch.zeros_like(value[:1])))
        return torch.gather(padded, 0, segment)

    if reduce == "sum":
        return of_elements(grad)
    if reduce == "mean":
        return of_elements(grad / torch.clamp(sizes, min=1))
    if reduce == "prod":
        return of_elements(grad * output) / data
    is_chosen = (data == of_elements(output)).to(data.dtype)
    counts = torch.zeros_like(torch.cat((output, output[:1])))
    counts = torch.scatter_add(counts, 0, segment, is_chosen)[: sizes.shape[0]]
    return is_chosen * of_elements(grad / torch.clamp(counts, min=1))


def _segments(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int
) -> tuple[Tensor, Tensor]:
    """Return the segment of each element, and the sizes of segments.

    Elements outside have a number behind all segments.
    """
    if axis != 0:
        raise NotImplementedError("only segments of the first dimension are supported")
    if offsets is not None:
        starts, ends = offsets[:-1], offsets[1:]
    elif lengths is not None:
        ends = torch.cumsum(lengths, 0)
        starts = ends - lengths
    else:
        raise NotImplementedError("give lengths or offsets")
    row = torch.arange(data.shape[0]).unsqueeze(1)
    segment = torch.sum(ends <= row, 1)
    segment = torch.where(torch.any((row >= starts) & (row < ends), 1), segment, starts.shape[0])
    outer = [-1, *[1] * (data.dim() - 1)]
    return segment.reshape(outer).expand(data.shape), (ends - starts).reshape(outer)


@decomposition("aten._cdist_backward")
def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Tensor:
    """Return the gradient of the first vectors, of which those at distance 0 get none."""
    difference = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    of_pairs = (_of_norm(difference, cdist.unsqueeze(-1), p) * grad.unsqueeze(-1)).sum(-2)
    return of_pairs.sum_to_size(x1.shape)  # the batches of both are broadcast


@decomposition("aten._pdist_backward")
def pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> Tensor:
    """Return the gradient of vectors from those of the distances of all pairs."""
    count = self.shape[0]
    row, column = torch.arange(count).unsqueeze(1), torch.arange(count)
    low, high = torch.minimum(row, column), torch.maximum(row, column)
    place = low * (2 * count - low - 1) // 2 + high - low - 1
    place = torch.clamp(place, 0, pdist.shape[0] - 1).reshape(-1)
    matrices = [
        torch.where(row == column, 0.0, each.index_select(0, place).reshape(count, count))
        for each in (grad, pdist)
    ]
    return cdist_backward(matrices[0], self, self, p, matrices[1])


def _of_norm(difference: Tensor, norm: Tensor, p: float) -> Tensor:
    """Return the gradient of a norm, 0 where it is 0."""
    sign, size = torch.sign(difference), torch.abs(difference)
    if p == 0:
        return torch.zeros_like(difference)
    if p == 1:
        return sign
    if p == float("inf"):
        return sign * (size == norm)
    is_zero = norm == 0
    ratio = torch.where(is_zero, 0.0, size / torch.where(is_zero, 1.0, norm))
    return sign * torch.where(ratio == 0, 0.0, ratio ** (p - 1))
