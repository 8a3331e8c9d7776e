# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations with indices and masks, on shapes, and on parts of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


@decomposition("aten.index_select")
def index_select(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Return the elements at positions; one position may be a tensor without dimensions."""
    return torch.index_select(self, dim, index.reshape(-1))


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


@decomposition("aten.index.Tensor")
def index(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """Return elements at positions."""
    return torch.ops.aten.index.Tensor(self, _from_start(self, indices))


def _from_start(value: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Return indices of which none counts from the end, as negative ones do."""
    if any(index is not None and index.dtype in _MASKS for index in indices):
        raise NotImplementedError("a mask beside other indices")
    sizes = zip(indices, value.shape, strict=False)
    return [each if each is None else torch.where(each < 0, each + n, each) for each, n in sizes]


_MASKS = (torch.bool, torch.uint8)


@decomposition("aten.index_put", "aten._unsafe_index_put")
def index_put(
    self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    """Replace elements, or add to them.

    With a mask, each element selects its value, so that no shape depends on the mask.
    """
    first = indices[0]
    if len(indices) == 1 and first is not None and first.dtype in _MASKS:
        return _put_by_mask(self, first.bool(), values, accumulate)
    indices = _from_start(self, indices)
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


@decomposition("aten.masked_scatter")
def masked_scatter(self: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Replace the elements that a mask chooses by those of another tensor, in order."""
    self, mask = torch.broadcast_tensors(self, mask)
    if source.numel() == 0:
        return self.clone()
    return _put_by_mask(self, mask, source.reshape(-1), False)


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
    """Add elements to a tensor, or multiply its elements by them."""
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
    """Reduce slices of a tensor with those of another tensor."""
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
    """Return elements by their positions in the flat tensor; the index may be a scalar."""
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
    result = torch.where(column - row == offset, values, matrices)
    return result.movedim((-2, -1), (dim1, dim2))


@decomposition("prims.copy_strided")
def copy_strided(self: Tensor, stride: Sequence[int]) -> Tensor:
    """Return a tensor as it is: values have no layout in memory."""
    return self.clone()


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
    """Return zeros with a tensor in a part of a dimension.

    The padding keeps the other dimensions sharded. PyTorch would scatter.
    """
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


@decomposition("aten.masked_scatter_backward")
def masked_scatter_backward(grad_output: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return the gradient of the values that replaced those under a mask, in their order."""
    count = 1
    for size in sizes:
        count *= size
    inside = mask.expand(grad_output.shape).reshape(-1)
    place = torch.cumsum(inside.long(), 0) - 1
    place = torch.where(inside & (place < count), place, count)
    zeros = grad_output.new_zeros(count + 1)
    added = torch.scatter_add(zeros, 0, place, grad_output.reshape(-1))
    return added[:count].reshape(list(sizes))
