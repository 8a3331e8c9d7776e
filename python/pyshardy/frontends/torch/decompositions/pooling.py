# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pooling with positions, and pooling to given sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition


def _positions_of_windows(
    value: Tensor,
    sizes: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """Return the first positions of the largest elements, dimension by dimension."""
    count = len(sizes)
    steps = [_of_dims(each, count) for each in (kernel_size, stride, padding, dilation)]
    shape = value.shape[-count:]
    position = _flat_positions(value, shape)
    # The last dimension first, so that the first one of equal elements wins.
    for dim in reversed(range(count)):
        kernel, step, pad, dilate = (each[dim] for each in steps)
        starts = torch.arange(sizes[dim]).unsqueeze(1) * step - pad
        members = starts + torch.arange(kernel) * dilate
        value, position = _largest(
            value, position, dim - count, members, (members >= 0) & (members < shape[dim])
        )
    return position


@decomposition("aten.fractional_max_pool2d", "aten.fractional_max_pool3d")
def fractional_max_pool(
    self: Tensor, kernel_size: Sequence[int], output_size: Sequence[int], random_samples: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the largest elements of windows with random distances, and their positions."""
    count = len(output_size)
    batched = self.reshape([-1, *self.shape[-count - 1 :]])
    outer, sizes = batched.shape[:2], batched.shape[2:]
    samples = random_samples.expand([*outer, count]).to(self.dtype)
    # In two dimensions, the first sample is that of the last dimension.
    order = [1, 0] if count == 2 else [*range(count)]
    position = torch.zeros([*outer, *[1] * (2 * count)], dtype=torch.int64)
    for dim, (size, parts, kernel) in enumerate(zip(sizes, output_size, kernel_size, strict=True)):
        start = _random_starts(samples[..., order[dim]].unsqueeze(-1), size, parts, kernel)
        place = start.unsqueeze(-1) + torch.arange(kernel)
        shape = [1] * (2 * count)
        shape[dim], shape[count + dim] = parts, kernel
        position = position * size + place.reshape([*outer, *shape])
    windows = position.flatten(-count)
    flat = windows.reshape([*outer, -1])
    values = torch.gather(batched.reshape([*outer, -1]), -1, flat).reshape(windows.shape)
    value, index = torch.max(values, -1)
    result = torch.gather(windows, -1, index.unsqueeze(-1)).squeeze(-1)
    shape = [*self.shape[:-count], *output_size]
    return value.reshape(shape), result.reshape(shape)


def _random_starts(sample: Tensor, size: int, count: int, kernel: int) -> Tensor:
    """Return the starts of windows, the last one at the end."""
    end = torch.full_like(sample, size - kernel).long()
    if count == 1:
        return end
    step = (size - kernel) / (count - 1)
    places = torch.arange(count - 1)
    starts = ((places + sample) * step).long() - (sample * step).long()
    return torch.cat((starts, end), -1)


@decomposition(
    "aten.fractional_max_pool2d_backward",
    "aten.fractional_max_pool3d_backward",
    "aten.max_pool2d_with_indices_backward",
    "aten.max_pool3d_with_indices_backward",
)
def max_pool_backward(grad_output: Tensor, self: Tensor, kernel_size: Any, *options: Any) -> Tensor:
    """Add gradients at the positions of the largest elements, the last one of the options."""
    *_, indices = options
    count = len(kernel_size)
    outer = self.shape[: self.dim() - count]
    zeros = torch.zeros_like(self).reshape([*outer, -1])
    grads, positions = (each.reshape([*outer, -1]) for each in (grad_output, indices))
    return torch.scatter_add(zeros, -1, positions, grads).reshape(self.shape)


def _avg_pool_backward(
    count: int,
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """Add the gradients of all windows of an element, by a product for each dimension."""
    steps = [_of_dims(each, count) for each in (kernel_size, stride or kernel_size, padding)]
    result = grad_output if divisor_override is None else grad_output / divisor_override
    for dim in range(count):
        kernel, step, pad = (each[dim] for each in steps)
        size, windows = self.shape[dim - count], grad_output.shape[dim - count]
        starts = torch.arange(windows).unsqueeze(1) * step - pad
        column = torch.arange(size)
        members = ((column >= starts) & (column < starts + kernel)).to(self.dtype)
        if divisor_override is None:
            ends = torch.clamp(starts + kernel, max=size + pad if count_include_pad else size)
            first = starts if count_include_pad else torch.clamp(starts, min=0)
            members = members / (ends - first).to(self.dtype)
        result = (result.movedim(dim - count, -1) @ members).movedim(-1, dim - count)
    return result


@decomposition("aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(self: Tensor, output_size: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return the largest elements of parts of equal sizes, and their positions."""
    count = len(output_size)
    shape = self.shape[-count:]
    value, position = self, _flat_positions(self, shape)
    for dim in reversed(range(count)):
        starts, ends = _parts(shape[dim], output_size[dim])
        longest = -(-shape[dim] // output_size[dim]) + 1
        members = starts.unsqueeze(1) + torch.arange(longest)
        value, position = _largest(
            value, position, dim - count, members, members < ends.unsqueeze(1)
        )
    return value, position


@decomposition("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d", "aten.adaptive_avg_pool1d")
def adaptive_avg_pool(self: Tensor, output_size: Sequence[int]) -> Tensor:
    """Return the means of parts of equal sizes, by a product with a matrix for each dimension."""
    count = len(output_size)
    for dim in range(-count, 0):
        size, parts = self.shape[dim], output_size[dim]
        if size == parts:
            continue
        shares = _shares(size, parts, self.dtype)
        self = (self.movedim(dim, -1) @ shares.mT).movedim(-1, dim)
    return self


def _parts(size: int, parts: int) -> tuple[Tensor, Tensor]:
    """Return the beginnings and ends of parts, which may overlap by one element."""
    index = torch.arange(parts)
    starts = torch.div(index * size, parts, rounding_mode="floor")
    ends = torch.div((index + 1) * size + parts - 1, parts, rounding_mode="floor")
    return starts, ends


def _flat_positions(value: Tensor, shape: Sequence[int]) -> Tensor:
    total = 1
    for size in shape:
        total *= size
    return torch.arange(total).reshape(list(shape)).expand(value.shape)


def _largest(
    value: Tensor, position: Tensor, dim: int, members: Tensor, is_inside: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the largest elements of windows along a dimension, and their positions."""
    count, kernel = members.shape
    indices = torch.clamp(members, 0, value.shape[dim] - 1).reshape(-1)

    def windows(of: Tensor) -> Tensor:
        return of.movedim(dim, -1).index_select(-1, indices).unflatten(-1, (count, kernel))

    lowest = -float("inf") if value.is_floating_point() else torch.iinfo(value.dtype).min
    inside = torch.where(is_inside, windows(value), lowest)
    chosen = torch.argmax(inside, -1, keepdim=True)
    result = (torch.gather(each, -1, chosen).squeeze(-1) for each in (inside, windows(position)))
    largest, at = (each.movedim(-1, dim) for each in result)
    return largest.to(value.dtype), at


def _of_dims(numbers: int | Sequence[int], count: int) -> list[int]:
    listed: list[int] = [numbers] if isinstance(numbers, int) else list(numbers)
    return listed * count if len(listed) == 1 else listed


@decomposition("aten.embedding_bag.padding_idx")
def embedding_bag_with_padding(weight: Tensor, *args: Any) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Reduce rows in bags; a negative index of the padding counts from the last row."""
    *others, padding_idx = args
    return embedding_bag(weight, *others, padding_idx and padding_idx % weight.shape[0])


@decomposition("aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Reduce the rows of a table in bags of indices: to sums, means or the largest elements."""
    bags = offsets.shape[0] - bool(include_last_offset)
    bag = _bags(offsets[:bags], indices)
    members = bag == torch.arange(bags, device=indices.device).unsqueeze(1)
    if padding_idx is not None and padding_idx >= 0:
        members = members & (indices != padding_idx)
    rows = torch.index_select(weight, 0, indices.reshape(-1))
    count = torch.sum(members, 1)
    largest = torch.zeros_like(bag)
    if mode == _LARGEST:
        inside = torch.where(members.unsqueeze(-1), rows, -float("inf"))
        values, places = torch.max(inside, 1)
        result = torch.where(count.unsqueeze(1) > 0, values, 0)
        largest = indices[places]
    else:
        if per_sample_weights is not None:
            rows = rows * per_sample_weights.unsqueeze(1)
        result = members.to(weight.dtype) @ rows
        if mode == _MEAN:
            result = result / torch.clamp(count, min=1).unsqueeze(1)
    result = result.to(weight.dtype)
    return result, bag.to(indices.dtype), count.to(indices.dtype), largest


_MEAN, _LARGEST = 1, 2


def _bags(offsets: Tensor, indices: Tensor) -> Tensor:
    """Return the bag of each index, from the first positions of bags."""
    place = torch.arange(indices.shape[0], device=indices.device)
    return torch.sum(offsets.unsqueeze(1) <= place, 0) - 1


def _register(count: int) -> None:
    """Register poolings of so many dimensions, and gradients."""

    @decomposition(f"aten.max_pool{count}d_with_indices")
    def of_windows(  # pyright: ignore[reportUnusedFunction]
        self: Tensor,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> tuple[Tensor, Tensor]:
        options = kernel_size, stride or kernel_size, padding, dilation
        pool = getattr(torch.ops.aten, f"max_pool{count}d")
        values = pool(self, *options, ceil_mode)
        return values, _positions_of_windows(self, values.shape[-count:], *options)

    @decomposition(f"aten.avg_pool{count}d_backward")
    def of_equal_windows(*args: Any) -> Tensor:  # pyright: ignore[reportUnusedFunction]
        return _avg_pool_backward(count, *args)

    @decomposition(f"aten._adaptive_avg_pool{count}d_backward")
    def of_averages(  # pyright: ignore[reportUnusedFunction]
        grad_output: Tensor, self: Tensor
    ) -> Tensor:
        result = grad_output  # each element gets its share of the averages that contain it
        for dim in range(-count, 0):
            shares = _shares(self.shape[dim], grad_output.shape[dim], self.dtype)
            result = (result.movedim(dim, -1) @ shares).movedim(-1, dim)
        return result

    @decomposition(f"aten.adaptive_max_pool{count}d_backward")
    def of_largest(  # pyright: ignore[reportUnusedFunction]
        grad_output: Tensor, self: Tensor, indices: Tensor
    ) -> Tensor:
        return max_pool_backward(grad_output, self, [1] * count, indices)


for _count in (2, 3):
    _register(_count)


def _shares(size: int, parts: int, dtype: torch.dtype) -> Tensor:
    """Return the shares of so many elements in the means of parts."""
    starts, ends = (each.unsqueeze(1) for each in _parts(size, parts))
    column = torch.arange(size)
    return ((column >= starts) & (column < ends)).to(dtype) / (ends - starts).to(dtype)


@decomposition("aten._embedding_bag_backward")
def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,  # without elements for sums of 32 bits
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    """Add the gradients of bags at their rows of a table."""
    zeros = grad.new_zeros(num_weights, grad.shape[1])
    if mode == _LARGEST:
        is_filled = (bag_size > 0).unsqueeze(1)
        return torch.scatter_add(zeros, 0, maximum_indices.long(), torch.where(is_filled, grad, 0))
    if mode == _MEAN:
        grad = grad / torch.clamp(bag_size, min=1).unsqueeze(1)
    rows = grad.index_select(0, _bags(offsets[: grad.shape[0]], indices))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    if scale_grad_by_freq:
        counts = torch.sum(indices.unsqueeze(1) == indices, 1, keepdim=True)
        rows = rows / counts
    if padding_idx >= 0:
        rows = torch.where((indices == padding_idx).unsqueeze(1), 0, rows)
    return zeros.index_add(0, indices.long(), rows)


@decomposition("aten._embedding_bag_per_sample_weights_backward")
def embedding_bag_per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,  # without elements for sums of 32 bits
    mode: int,  # sums only
    padding_idx: int = -1,
) -> Tensor:
    """Multiply the gradients of bags by their rows of a table."""
    rows = grad.index_select(0, _bags(offsets[: grad.shape[0]], indices))
    products = torch.sum(rows * weight.index_select(0, indices), 1)
    return torch.where(indices == padding_idx, 0, products)
