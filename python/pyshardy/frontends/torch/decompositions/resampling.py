# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Resampling of images and volumes: at positions of a grid, and with filters against aliasing."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pyshardy.frontends.torch.decompositions.registry import decomposition

if TYPE_CHECKING:
    from torch import Tensor

_NEAREST = 1
_ZEROS, _BORDER = 0, 1


@decomposition("aten.grid_sampler_3d")
def grid_sampler_3d(
    self: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    """Return the values of volumes at positions, by the elements around each."""
    import torch  # noqa: PLC0415

    batch, features, *sizes = self.shape
    flat = self.reshape(batch, features, -1)
    shape = batch, features, *grid.shape[1:4]
    places = [
        _place(grid[..., 2 - dim], size, padding_mode, align_corners)
        for dim, size in enumerate(sizes)  # a position begins with the last dimension
    ]
    if interpolation_mode == _NEAREST:
        corners = [[(torch.round(place), None)] for place in places]
    else:
        starts = [torch.floor(place) for place in places]
        corners = [
            [(start, 1 - (place - start)), (start + 1, place - start)]
            for start, place in zip(starts, places, strict=True)
        ]
    total = torch.zeros(shape, dtype=self.dtype)
    for corner in itertools.product(*corners):
        position = torch.zeros_like(places[0], dtype=torch.int64)
        weight = torch.ones_like(places[0])
        for (place, share), size in zip(corner, sizes, strict=True):
            weight = weight * ((place >= 0) & (place < size))
            weight = weight if share is None else weight * share
            position = position * size + torch.clamp(place, 0, size - 1).long()
        index = position.reshape(batch, 1, -1).expand(batch, features, -1)
        values = torch.gather(flat, 2, index).reshape(shape)
        total = total + values * weight.unsqueeze(1)
    return total


def _place(position: Tensor, size: int, padding_mode: int, align_corners: bool) -> Tensor:
    """Return positions from -1 to 1 as those of elements, moved inside as the padding says."""
    import torch  # noqa: PLC0415

    place = (position + 1) / 2 * (size - 1) if align_corners else ((position + 1) * size - 1) / 2
    if padding_mode == _ZEROS:
        return place
    if padding_mode != _BORDER:
        first, span = (0, size - 1) if align_corners else (-0.5, size)
        place = _reflected(place - first, span) + first if span else torch.zeros_like(place)
    return torch.clamp(place, 0, size - 1)


def _reflected(place: Tensor, span: float) -> Tensor:
    """Return places reflected into the interval from 0 to a span."""
    import torch  # noqa: PLC0415

    rest = torch.fmod(torch.abs(place), 2 * span)
    return torch.minimum(rest, 2 * span - rest)


def _triangle(x: Tensor) -> Tensor:
    import torch  # noqa: PLC0415

    return torch.clamp(1 - torch.abs(x), min=0)


def _cubic(x: Tensor) -> Tensor:
    """Return the cubic kernel of Keys for -0.5."""
    import torch  # noqa: PLC0415

    x = torch.abs(x)
    inside = (1.5 * x - 2.5) * x * x + 1
    outside = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return torch.where(x < 1, inside, torch.where(x < 2, outside, 0))


def _lanczos(x: Tensor) -> Tensor:
    import torch  # noqa: PLC0415

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
            _weights(name, self.shape[dim], output_size[dim], align_corners, scale).to(self.dtype)
            for dim, scale in ((-2, scales_h), (-1, scales_w))
        )
        return rows @ self @ columns.mT

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


for _name in _FILTERS:
    _register(_name)


def _weights(name: str, given: int, made: int, align_corners: bool, scale: float | None) -> Tensor:
    """Return the weight of each element in each of those made, which add up to 1."""
    import torch  # noqa: PLC0415

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
