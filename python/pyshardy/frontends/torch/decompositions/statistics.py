# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Variances and standard deviations."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.var_mean.correction")
def var_mean(
    self: Tensor, dim: Any = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Return variances and means."""
    dims = [each % max(self.dim(), 1) for each in dim] if dim else list(range(self.dim()))
    count = math.prod(self.shape[each] for each in dims) if self.dim() else 1
    mean = torch.mean(self, dims, keepdim=True) if self.dim() else self
    difference = torch.abs(self - mean)
    square = difference * difference
    total = torch.sum(square, dims, keepdim=keepdim) if self.dim() else square
    degrees = max(0.0, count - (1 if correction is None else correction))
    variance = total / degrees if degrees else total * math.nan
    return variance, mean if keepdim or not self.dim() else torch.squeeze(mean, dims)


@decomposition("aten.var.correction")
def var(self: Tensor, dim: Any = None, **options: Any) -> Tensor:
    """Return variances."""
    return var_mean(self, dim, **options)[0]


@decomposition("aten.std.correction")
def std(self: Tensor, dim: Any = None, **options: Any) -> Tensor:
    """Return standard deviations."""
    return torch.sqrt(var(self, dim, **options))


@decomposition("aten.std_mean.correction")
def std_mean(self: Tensor, dim: Any = None, **options: Any) -> tuple[Tensor, Tensor]:
    """Return standard deviations and means."""
    variance, mean = var_mean(self, dim, **options)
    return torch.sqrt(variance), mean
