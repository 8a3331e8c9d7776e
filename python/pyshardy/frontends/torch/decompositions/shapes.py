# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that change shapes."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.diagonal", "aten.diagonal_copy")
def diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Return a diagonal of matrices: a slice with strides of their elements in a row."""
    dim1, dim2 = dim1 % self.dim(), dim2 % self.dim()
    matrices = self.movedim((dim1, dim2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    start = offset if offset >= 0 else -offset * columns
    count = max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))
    flat = matrices.reshape(*matrices.shape[:-2], rows * columns)
    if count == 0:
        return flat[..., :0]
    return flat[..., start : start + (count - 1) * (columns + 1) + 1 : columns + 1]


@decomposition("aten.unfold", "aten.unfold_copy")
def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """Return the windows along a dimension."""
    if self.dim() == 0:
        return self.reshape(1)[:size]
    dim = dimension % self.dim()
    count = (self.shape[dim] - size) // step + 1
    starts = torch.arange(count, device=self.device).unsqueeze(1) * step
    positions = starts + torch.arange(size, device=self.device)
    windows = torch.index_select(self, dim, positions.reshape(-1))
    return windows.unflatten(dim, (count, size)).movedim(dim + 1, -1)


@decomposition("aten.roll")
def roll(self: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Shift the elements along dimensions, from the end to the beginning."""
    shifts, dims = ([each] if isinstance(each, int) else list(each) for each in (shifts, dims))
    if not dims:
        return roll(self.reshape(-1), shifts, [0]).reshape(self.shape)
    for shift, dim in zip(shifts, dims, strict=True):
        size = self.shape[dim]
        if size and (first := -shift % size):
            parts = self.narrow(dim, first, size - first), self.narrow(dim, 0, first)
            self = torch.cat(parts, dim)
    return self.clone()


@decomposition("aten.diagonal_scatter")
def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Replace a diagonal of matrices."""
    dim1, dim2 = dim1 % self.dim(), dim2 % self.dim()
    matrices = self.movedim((dim1, dim2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    row, column = torch.arange(rows).unsqueeze(1), torch.arange(columns)
    size = rows if offset >= 0 else columns  # the diagonal begins in the first row or column
    padded = torch.nn.functional.pad(src, (0, size - src.shape[-1]))
    values = padded.unsqueeze(-1 if offset >= 0 else -2)
    made = torch.where(column - row == offset, values, matrices)
    return made.movedim((-2, -1), (dim1, dim2))


@decomposition("prims.copy_strided")
def copy_strided(self: Tensor, stride: Sequence[int]) -> Tensor:
    """Return a tensor as it is: values have no layout in memory."""
    return self.clone()
