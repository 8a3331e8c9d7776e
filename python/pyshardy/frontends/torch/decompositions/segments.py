# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Histograms, and reductions of segments."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.histogram.bin_ct")
def histogram(
    self: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,  # noqa: A002
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
    made = torch.scatter_reduce(first, 0, segment, data, name)[:count]
    if reduce != "mean":
        return made
    if initial is None:
        return made / sizes
    return torch.where(sizes > 0, made / torch.clamp(sizes, min=1), initial)


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
