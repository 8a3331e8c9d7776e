# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Distances between vectors."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import TYPE_CHECKING

from pyshardy.frontends.torch.decompositions.registry import decomposition

if TYPE_CHECKING:
    from torch import Tensor


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
    import torch  # noqa: PLC0415

    count = self.shape[0]
    rows = [
        _norm(self.narrow(0, row, 1) - self.narrow(0, row + 1, count - row - 1), p)
        for row in range(count - 1)
    ]
    return torch.cat(rows) if rows else self.new_empty((0,))


def _norm(difference: Tensor, p: float) -> Tensor:
    """Return the norms along the last dimension."""
    import torch  # noqa: PLC0415

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
