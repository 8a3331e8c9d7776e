# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations that make tensors: without values, or of random ones."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.scalar_tensor")
def scalar_tensor(s: Any, *, dtype: Any = None, **_: Any) -> Tensor:
    """Return a tensor without dimensions."""
    if dtype is None:
        dtype = torch.get_default_dtype()
    return torch.full((), s, dtype=dtype)


@decomposition("aten.normal.Tensor_Tensor", "aten.normal.Tensor_float", "aten.normal.float_Tensor")
def normal(mean: Any, std: Any = 1.0, *, generator: Any = None) -> Tensor:
    """Draw numbers of a normal distribution."""
    shape = torch.broadcast_shapes(*(getattr(each, "shape", ()) for each in (mean, std)))
    dtype = (mean if isinstance(mean, torch.Tensor) else std).dtype
    return mean + std * torch.randn(shape, dtype=dtype)


@decomposition("aten.normal.float_float")
def normal_of_numbers(
    mean: float, std: float, size: Sequence[int], *, dtype: Any = None, **options: Any
) -> Tensor:
    """Draw numbers of a normal distribution."""
    return mean + std * torch.randn(size, dtype=dtype or torch.get_default_dtype())


@decomposition("aten.randint_like")
def randint_like(self: Tensor, high: int, *, dtype: Any = None, **options: Any) -> Tensor:
    """Draw integers below a bound."""
    return randint_between(self, 0, high, dtype=dtype)


@decomposition("aten.randint_like.low_dtype")
def randint_between(
    self: Tensor, low: int, high: int, *, dtype: Any = None, **options: Any
) -> Tensor:
    """Draw integers between bounds."""
    return torch.randint(low, high, self.shape, dtype=torch.int64).to(dtype or self.dtype)


@decomposition("aten.nonzero_static")
def nonzero_static(self: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Return the positions of a number of elements that aren't zero."""
    flags = (self != 0).reshape(-1)
    count = flags.shape[0]
    order = torch.sort(~flags, stable=True)[1][:size]
    if size > count:
        order = torch.nn.functional.pad(order, (0, size - count))
    is_found = torch.arange(size) < torch.sum(flags)
    columns: list[Tensor] = []
    step = 1
    for length in reversed(self.shape):
        column = torch.remainder(torch.div(order, step, rounding_mode="floor"), length)
        columns.insert(0, torch.where(is_found, column, fill_value))
        step *= length
    return torch.stack(columns, 1) if columns else torch.empty((size, 0), dtype=torch.int64)
