# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resampling of images and volumes: at positions of a grid, and with filters against aliasing."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pyshardy.frontends.torch.registry import decomposition

_LINEAR, _NEAREST, _CUBIC = 0, 1, 2
_ZEROS, _BORDER = 0, 1
_GRID_FACTOR = -0.75  # of the cubic kernel of Keys, for positions of a grid


@dataclass(frozen=True)
class _Corner:
    """An element beside positions along a dimension.

    Attributes:
        element: its index, or any index if it would be outside.
        weight: its share in the values at the positions, 0 outside.
        slope: the derivative of the weight, 0 outside.
    """

    element: Tensor
    weight: Tensor
    slope: Tensor


@dataclass(frozen=True)
class _Axis:
    """Positions along a dimension.

    Attributes:
        size: the size of the dimension.
        corners: the elements beside the positions.
        scale: the derivative of the positions by those of the grid, which are from -1 to 1.
    """

    size: int
    corners: Sequence[_Corner]
    scale: Tensor


@decomposition("aten.grid_sampler_3d")
def grid_sampler(
    self: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return the values of volumes at positions, by the elements around each."""
    axes = _axes(self, grid, interpolation_mode, padding_mode, align_corners)
    total = torch.zeros([*self.shape[:2], *grid.shape[1:-1]], dtype=self.dtype)
    for corners in itertools.product(*(axis.corners for axis in axes)):
        weight = math.prod((corner.weight for corner in corners[1:]), start=corners[0].weight)
        total = total + _values(self, axes, corners) * weight.unsqueeze(1)
    return total


@decomposition("aten.grid_sampler_2d_backward", "aten.grid_sampler_3d_backward")
def grid_sampler_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients of images or volumes, and of the positions in them."""
    axes = _axes(input, grid, interpolation_mode, padding_mode, align_corners)
    outer = input.shape[:2]
    of_input = torch.zeros_like(input).reshape([*outer, -1])
    of_axes = [torch.zeros_like(axis.scale) for axis in axes]
    for corners in itertools.product(*(axis.corners for axis in axes)):
        weights = [corner.weight for corner in corners]
        weight = math.prod(weights[1:], start=weights[0])
        share = (grad_output * weight.unsqueeze(1)).reshape([*outer, -1])
        index = _index(axes, corners).reshape(outer[0], 1, -1).expand(share.shape)
        of_input = torch.scatter_add(of_input, 2, index, share)
        change = torch.sum(_values(input, axes, corners) * grad_output, 1)
        for dim, corner in enumerate(corners):
            others = math.prod(weights[:dim] + weights[dim + 1 :], start=corner.slope)
            of_axes[dim] = of_axes[dim] + change * others
    of_grid = [change * axis.scale for change, axis in zip(of_axes, axes, strict=True)]
    return (
        of_input.reshape(input.shape) if output_mask[0] else None,
        torch.stack(of_grid[::-1], -1) if output_mask[1] else None,
    )


def _axes(
    value: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> list[_Axis]:
    """Return the positions along the dimensions; a grid begins with the last dimension."""
    axes: list[_Axis] = []
    for dim, size in enumerate(value.shape[2:]):
        position = grid[..., grid.shape[-1] - 1 - dim]
        scale = torch.full_like(position, ((size - 1) if align_corners else size) / 2)
        place = (
            (position + 1) / 2 * (size - 1) if align_corners else ((position + 1) * size - 1) / 2
        )
        if interpolation_mode != _CUBIC:
            place, factor = _moved_inside(place, size, padding_mode, align_corners)
            scale = scale * factor
        start = torch.floor(place)
        rest = place - start
        if interpolation_mode == _NEAREST:
            corners = [_corner(torch.round(place), torch.ones_like(place), 0.0, size)]
        elif interpolation_mode == _LINEAR:
            corners = [_corner(start, 1 - rest, -1.0, size), _corner(start + 1, rest, 1.0, size)]
        else:
            corners = []
            for offset in range(-1, 3):
                distance = rest - offset
                weight = _cubic(distance, _GRID_FACTOR)
                slope = torch.sign(distance) * _cubic_slope(torch.abs(distance), _GRID_FACTOR)
                # The elements of cubic interpolation are moved inside one by one.
                element, _ = _moved_inside(start + offset, size, padding_mode, align_corners)
                corners.append(_corner(element, weight, slope, size))
        axes.append(_Axis(size, corners, scale))
    return axes


def _corner(place: Tensor, weight: Tensor, slope: Tensor | float, size: int) -> _Corner:
    inside = ((place >= 0) & (place < size)).to(weight.dtype)
    return _Corner(torch.clamp(place, 0, size - 1).long(), weight * inside, slope * inside)


def _index(axes: Sequence[_Axis], corners: Sequence[_Corner]) -> Tensor:
    """Return the index of elements in a volume with one dimension."""
    index = corners[0].element
    for axis, corner in zip(axes[1:], corners[1:], strict=True):
        index = index * axis.size + corner.element
    return index


def _values(value: Tensor, axes: Sequence[_Axis], corners: Sequence[_Corner]) -> Tensor:
    """Return the elements of a volume."""
    outer, shape = value.shape[:2], corners[0].element.shape[1:]
    index = _index(axes, corners).reshape(outer[0], 1, -1).expand(*outer, -1)
    return torch.gather(value.reshape([*outer, -1]), 2, index).reshape([*outer, *shape])


def _moved_inside(
    place: Tensor, size: int, padding_mode: int, align_corners: bool
) -> tuple[Tensor, Tensor]:
    """Return positions that are moved inside as the padding says, and their derivatives."""
    factor = torch.ones_like(place)
    if padding_mode == _ZEROS:
        return place, factor
    if padding_mode != _BORDER:
        first, span = (0, size - 1) if align_corners else (-0.5, size)
        rest = torch.fmod(torch.abs(place - first), 2 * span) if span else torch.zeros_like(place)
        is_reflected = (place < first) != (rest > span)
        factor = torch.where(is_reflected, -factor, factor)
        place = torch.minimum(rest, 2 * span - rest) + first
    is_outside = (place < 0) | (place > size - 1)
    return torch.clamp(place, 0, size - 1), torch.where(is_outside, 0.0, factor)


def _triangle(x: Tensor) -> Tensor:
    return torch.clamp(1 - torch.abs(x), min=0)


def _cubic(x: Tensor, factor: float = -0.5) -> Tensor:
    """Return the cubic kernel of Keys."""
    x = torch.abs(x)
    inside = ((factor + 2) * x - (factor + 3)) * x * x + 1
    outside = factor * (((x - 5) * x + 8) * x - 4)
    return torch.where(x < 1, inside, torch.where(x < 2, outside, 0))


def _cubic_slope(x: Tensor, factor: float) -> Tensor:
    """Return the derivative of the kernel at positive arguments."""
    inside = (3 * (factor + 2) * x - 2 * (factor + 3)) * x
    outside = factor * ((3 * x - 10) * x + 8)
    return torch.where(x < 1, inside, torch.where(x < 2, outside, 0))


def _lanczos(x: Tensor) -> Tensor:
    return torch.where(torch.abs(x) < 3, torch.sinc(x) * torch.sinc(x / 3), 0)


_FILTERS: dict[str, tuple[Callable[[Tensor], Tensor], int]] = {
    "bilinear": (_triangle, 1),
    "bicubic": (_cubic, 2),
    "lanczos": (_lanczos, 3),
}
"""Filters, and the distance from which they are zero."""


def _register(name: str) -> None:
    @decomposition(f"aten._upsample_{name}2d_aa.default")
    def upsample(  # pyright: ignore[reportUnusedFunction]
        self: Tensor,
        output_size: Sequence[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Tensor:
        rows, columns = (
            _weights(name, self.shape[dim], output_size[dim], align_corners, scale)
            for dim, scale in ((-2, scales_h), (-1, scales_w))
        )
        if self.is_floating_point():
            return rows.to(self.dtype) @ self @ columns.to(self.dtype).mT
        # PyTorch rounds what it has resampled along the columns.
        return _as_bytes(rows @ _as_bytes(self.to(columns.dtype) @ columns.mT)).to(self.dtype)

    @decomposition(f"aten._upsample_{name}2d_aa_backward.default")
    def upsample_backward(  # pyright: ignore[reportUnusedFunction]
        grad_output: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Tensor:
        rows, columns = (
            _weights(name, input_size[dim], output_size[dim], align_corners, scale)
            for dim, scale in ((-2, scales_h), (-1, scales_w))
        )
        return rows.to(grad_output.dtype).mT @ grad_output @ columns.to(grad_output.dtype)


def _as_bytes(values: Tensor) -> Tensor:
    return torch.clamp(torch.floor(values + 0.5), 0, 255)


for _name in _FILTERS:
    _register(_name)


def _weights(name: str, given: int, made: int, align_corners: bool, scale: float | None) -> Tensor:
    """Return the weights of the elements in each new element, which add up to 1."""
    if align_corners:
        step = (given - 1) / (made - 1) if made > 1 else 0.0
    else:
        step = 1 / scale if scale else given / made
    function, reach = _FILTERS[name]
    width = max(step, 1.0)
    center = (torch.arange(made).unsqueeze(1) + 0.5) * step
    element = torch.arange(given)
    first, end = (torch.floor(center + sign * reach * width + 0.5) for sign in (-1, 1))
    inside = (element >= first) & (element < end)
    weights = torch.where(inside, function((element + 0.5 - center) / width), 0)
    return weights / torch.sum(weights, 1, keepdim=True)


@decomposition(
    "aten.replication_pad1d_backward",
    "aten.replication_pad2d_backward",
    "aten.replication_pad3d_backward",
)
def replication_pad_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Tensor:
    """Return the gradient of a padding; that of the padding goes to the elements at the ends."""
    result = grad_output
    for pair in range(len(padding) // 2):
        low, dim = padding[2 * pair], self.dim() - 1 - pair
        size = self.shape[dim]
        place = torch.clamp(torch.arange(result.shape[dim]) - low, 0, size - 1)
        is_source = (place.unsqueeze(1) == torch.arange(size)).to(result.dtype)
        result = (result.movedim(dim, -1) @ is_source).movedim(-1, dim)
    return result
