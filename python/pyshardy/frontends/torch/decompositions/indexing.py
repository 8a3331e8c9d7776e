# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with indices and masks."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from pyshardy.frontends.torch.decompositions.registry import decomposition


@decomposition("aten.index_select")
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at positions; one position may be a tensor without dimensions."""
    return torch.index_select(self, dim, index.reshape(-1))


@decomposition("aten.masked_scatter")
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Replace the elements where a mask is true by those of a tensor, in order."""
    shape = torch.broadcast_shapes(self.shape, mask.shape)
    flags = mask.expand(shape).reshape(-1)
    position = torch.clamp(torch.cumsum(flags.long(), 0) - 1, 0, source.numel() - 1)
    values = torch.index_select(source.reshape(-1), 0, position)
    return torch.where(flags, values, self.expand(shape).reshape(-1)).reshape(shape)


@decomposition("aten.as_strided", "aten.as_strided_copy")
def as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Return elements at positions in memory, which has to be contiguous."""
    if self.is_contiguous() and math.prod(size) == self.numel() and _is_row_major(size, stride):
        return self.reshape(size)
    positions = _positions(self, size, stride, storage_offset)
    return torch.index_select(self.reshape(-1), 0, positions.reshape(-1)).reshape(size)


@decomposition("aten.as_strided_scatter")
def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Replace elements at positions in memory, which has to be contiguous."""
    positions = _positions(self, size, stride, storage_offset)
    flat = torch.scatter(self.reshape(-1), 0, positions.reshape(-1), src.reshape(-1))
    return flat.reshape(self.shape)


def _is_row_major(size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether elements in order are adjacent in memory."""
    adjacent = [math.prod(size[dim + 1 :]) for dim in range(len(size))]
    return all(
        count == 1 or step == expected
        for count, step, expected in zip(size, stride, adjacent, strict=True)
    )


def _positions(
    value: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> Tensor:
    if not value.is_contiguous():
        raise NotImplementedError("the tensor is not contiguous")
    last = (offset or 0) + sum((count - 1) * step for count, step in zip(size, stride, strict=True))
    if last >= value.numel():
        raise NotImplementedError("the tensor is a view of a larger one")
    positions = torch.full([1] * len(size), offset or 0, dtype=torch.int64)
    for dim, (count, step) in enumerate(zip(size, stride, strict=True)):
        shape = [count if each == dim else 1 for each in range(len(size))]
        positions = positions + (torch.arange(count) * step).reshape(shape)
    return positions


@decomposition("aten.index_put", "aten._unsafe_index_put")
def index_put(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Replace elements, or add to them.

    With a mask, each element selects its value, so that no shape depends on the mask.
    """
    first = indices[0]
    if len(indices) == 1 and first is not None and first.dtype in (torch.bool, torch.uint8):
        return _put_by_mask(self, first.bool(), values, accumulate)
    if any(index is not None and index.dtype == torch.bool for index in indices):
        raise NotImplementedError("a mask beside other indices")
    dims = [dim for dim, index in enumerate(indices) if index is not None]
    if [*dims] == [*range(dims[0], dims[-1] + 1)]:
        return torch.ops.aten.index_put(self, indices, values, accumulate)
    # The dimensions of separated indices come first in the values.
    order = dims + [dim for dim in range(self.dim()) if dim not in dims]
    given = [index for index in indices if index is not None]
    changed = torch.ops.aten.index_put(self.permute(order), given, values, accumulate)
    return changed.permute([order.index(dim) for dim in range(self.dim())])


def _put_by_mask(self: Tensor, mask: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    inner = self.shape[mask.dim() :]
    flags = mask.reshape([*mask.shape, *[1] * len(inner)])
    if values.dim() <= len(inner) or values.shape[0] == 1:
        values = values.reshape(values.shape[max(0, values.dim() - len(inner)) :])
    else:  # one value for each true element, in order
        count = values.shape[0]
        position = torch.clamp(torch.cumsum(mask.reshape(-1).long(), 0) - 1, 0, count - 1)
        values = torch.index_select(values, 0, position)
        values = values.reshape([*mask.shape, *values.shape[1:]])
    values = values.to(self.dtype)
    return torch.where(flags, self + values if accumulate else values, self)


@decomposition("aten.put")
def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Replace elements of the flattened tensor, or add to them."""
    count = math.prod(self.shape)
    position = index.reshape(-1)
    position = torch.where(position < 0, position + count, position)
    flat, values = self.reshape(-1), source.reshape(-1)
    changed = torch.scatter_add if accumulate else torch.scatter
    return changed(flat, 0, position, values).reshape(self.shape)


@decomposition("aten.scatter.reduce")
def scatter_with_operation(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str
) -> Tensor:
    """Add elements to others, or multiply others by them."""
    return torch.scatter_reduce(self, dim, index, src, {"add": "sum", "multiply": "prod"}[reduce])


@decomposition("aten.scatter.value_reduce")
def scatter_value_with_operation(
    self: Tensor, dim: int, index: Tensor, value: float, *, reduce: str
) -> Tensor:
    """Add a number to elements, or multiply them by it."""
    src = torch.full(index.shape, value, dtype=self.dtype)
    return scatter_with_operation(self, dim, index, src, reduce=reduce)


@decomposition("aten.index_reduce")
def index_reduce(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    """Reduce slices of a tensor with those of another one."""
    shape = [-1 if each == dim % self.dim() else 1 for each in range(self.dim())]
    indices = index.reshape(shape).expand(source.shape)
    return torch.scatter_reduce(self, dim, indices, source, reduce, include_self=include_self)


@decomposition("aten.embedding")
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Return rows of a table; the other arguments are for the gradient."""
    return torch.embedding(weight, indices)


@decomposition("aten.take")
def take(self: Tensor, index: Tensor) -> Tensor:
    """Return elements by their positions in the flat tensor."""
    flat, positions = self.reshape(-1), index.reshape(-1)
    positions = torch.where(positions < 0, positions + flat.shape[0], positions)
    return torch.index_select(flat, 0, positions).reshape(index.shape)


@decomposition("aten.embedding_renorm")
def embedding_renorm(
    self: Tensor, indices: Tensor, max_norm: float, norm_type: float = 2.0
) -> Tensor:
    """Scale the rows with given indices to a largest norm."""
    norms = torch.linalg.vector_norm(self, norm_type, 1, keepdim=True)
    rows = torch.arange(self.shape[0], device=self.device)
    is_looked_up = torch.any(indices.reshape(-1, 1) == rows, 0).unsqueeze(1)
    scaled = self * (max_norm / (norms + 1e-7)).to(self.dtype)
    return torch.where(is_looked_up & (norms > max_norm), scaled, self)
