# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Samples of random distributions, from uniform numbers."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


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
