# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distances between vectors."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


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
    ord: float = 2,  # noqa: A002
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Return the norms along dimensions."""
    value = self if dtype is None else self.to(dtype)
    if value.dim() == 0:
        return vector_norm(value.reshape(1), ord).reshape(())
    dims = range(value.dim()) if dim is None else [dim] if isinstance(dim, int) else dim
    dims = sorted(each % value.dim() for each in dims)
    others = [each for each in range(value.dim()) if each not in dims]
    if ord == 2:
        size = torch.abs(value)
        return torch.sqrt(torch.sum(size * size, dims, keepdim=keepdim))
    moved = value.permute([*others, *dims]).reshape([value.shape[each] for each in others] + [-1])
    is_least = ord == -float("inf")
    made = torch.amin(torch.abs(moved), -1) if is_least else _norm(moved, ord)
    shape = [1 if each in dims else size for each, size in enumerate(value.shape)]
    return made.reshape(shape) if keepdim else made
