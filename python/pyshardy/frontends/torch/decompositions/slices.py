# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of operations that take a part of a tensor, and writes into a part.

They pad with zeros, which keeps the other dimensions sharded. PyTorch would scatter.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.slice_backward")
def slice_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, start: int, end: int, step: int
) -> Tensor:
    """Return the gradient of a slice."""
    dim %= len(input_sizes)
    part = range(*slice(start, end, step).indices(input_sizes[dim]))
    return _placed(grad_output, dim, part, input_sizes[dim])


@decomposition("aten.select_backward")
def select_backward(
    grad_output: Tensor, input_sizes: Sequence[int], dim: int, index: int
) -> Tensor:
    """Return the gradient of an element of a dimension."""
    dim %= len(input_sizes)
    index %= input_sizes[dim]
    return _placed(grad_output.unsqueeze(dim), dim, range(index, index + 1), input_sizes[dim])


@decomposition("aten.slice_scatter")
def slice_scatter(
    self: Tensor,
    src: Tensor,
    dim: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Return a tensor with a slice overwritten."""
    dim %= self.dim()
    size = self.shape[dim]
    part = range(*slice(start, end, step).indices(size))
    if len(part) == size:
        return src.expand(self.shape).clone()
    shape = [*self.shape[:dim], len(part), *self.shape[dim + 1 :]]
    placed = _placed(src.expand(shape), dim, part, size)
    position = torch.arange(size, device=self.device)
    is_in_part = (position >= part.start) & (position < part.stop)
    if step > 1:
        is_in_part = is_in_part & ((position - part.start) % step == 0)
    is_in_part = is_in_part.view([size] + [1] * (self.dim() - dim - 1))
    return torch.where(is_in_part, placed.to(self.dtype), self)


def _placed(x: Tensor, dim: int, part: range, size: int) -> Tensor:
    """Return zeros with a tensor in a part of a dimension."""
    if part.step > 1 and len(part):
        # Each element is followed by zeros in a dimension that is merged with its own.
        spread = _padded(x.unsqueeze(dim + 1), dim + 1, 0, part.step - 1)
        last = part.step * (len(part) - 1) + 1
        x = torch.flatten(spread, dim, dim + 1).narrow(dim, 0, last)
    return _padded(x, dim, part.start, size - part.start - x.shape[dim])


def _padded(x: Tensor, dim: int, before: int, after: int) -> Tensor:
    if not before and not after:
        return x.clone()
    return torch.constant_pad_nd(x, [0, 0] * (x.dim() - dim - 1) + [before, after], 0)
