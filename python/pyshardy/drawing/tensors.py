# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figure of a sharded tensor: a tile for each shard, with its devices; and that of a mesh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

from mlir_sdy.model import (
    AxisRef,
    Mesh,
    ModelError,
    Shape,
    TensorSharding,
    device_slices,
    set_difference,
    shard_indices,
)
from pyshardy.drawing.figure import Figure, Index, Tile, arrange, by, is_darker


def tensor_figure(sharding: TensorSharding, shape: Shape, mesh: Mesh) -> Figure:
    """Return the figure of a tensor.

    Raises:
        ModelError: If the sharding does not fit the shape or the mesh.
    """
    _check(sharding, shape, mesh)
    rank = len(shape)
    dim_axes = sharding.dim_axes or ((),) * rank
    num_shards = tuple(mesh.axes_size(axes) for axes in dim_axes)
    capacity = sharding.local_shape(shape, mesh)
    devices_at, slices_at = _holders(sharding, shape, mesh)
    labels = [dict[int, str]() for _ in shape]
    for index, slices in slices_at.items():
        for label_of, at, part in zip(labels, index, slices, strict=True):
            label_of[at] = _text(part)

    def tile_at(index: Index) -> Tile:
        slices = slices_at[index]
        sizes = tuple(part.stop - part.start for part in slices)
        is_empty = 0 in sizes and 0 not in capacity
        number = 0
        for at, count in zip(index, num_shards, strict=True):
            number = number * count + at
        color = shard_color(number, math.prod(num_shards), darker=is_darker(index, num_shards))
        return Tile(
            devices=devices_at[index],
            color=color,
            where=_brackets(map(_text, slices)),
            elements=(0, 0) if is_empty else _last_two(sizes),
            capacity=_last_two(capacity),
            note="empty" if is_empty else "" if sizes == capacity else by(sizes),
        )

    def title(leading: Index) -> str:
        parts = (labels[dim][at] for dim, at in enumerate(leading))
        return _brackets((*parts, ":", ":"))

    count = mesh.total_size
    return Figure(
        title=str(sharding),
        subtitle=f"{by(shape)} over {count} device{'s' * (count > 1)}: {by(capacity)} on each",
        row_axis=_axis_label(rank - 2, dim_axes),
        column_axis=_axis_label(rank - 1, dim_axes),
        panels=arrange(num_shards, tile_at, lambda dim, at: labels[dim][at], title),
        captions=tuple(_captions(sharding, mesh)),
    )


def _check(sharding: TensorSharding, shape: Shape, mesh: Mesh) -> None:
    for size in shape:
        if size < 0:
            raise ModelError("cannot draw a tensor of dynamic shape: pass its sizes")
    if len(shape) != sharding.rank and not mesh.is_maximal:
        raise ModelError(
            f"{sharding} has {sharding.rank} dimensions, the shape {by(shape)} has {len(shape)}"
        )
    axes = list(sharding.all_axes())
    for axis in axes:
        info = axis.sub_axis_info
        if info is None:
            mesh.axis(axis.name)
        else:
            mesh.sub_axis(axis.name, info.pre_size, info.size)
    for one, other in itertools.combinations(axes, 2):
        if one.overlaps(other) or not one.can_coexist(other):
            raise ModelError(f"{one} and {other} cannot both be used in {sharding}")


def _holders(
    sharding: TensorSharding, shape: Shape, mesh: Mesh
) -> tuple[dict[Index, tuple[int, ...]], dict[Index, tuple[slice, ...]]]:
    """Return the devices that hold each shard, and its slice of the tensor."""
    slices = device_slices(sharding, mesh, shape)
    if sharding.dim_shardings:
        by_dim = [shard_indices(mesh, axes) for axes in sharding.dim_axes]
        indices: list[Index] = list(zip(*by_dim, strict=True))
    else:
        indices = [(0,) * len(shape)] * len(slices)
    devices_at: dict[Index, tuple[int, ...]] = {}
    slices_at: dict[Index, tuple[slice, ...]] = {}
    for device, index in sorted(zip(mesh.devices, indices, strict=True)):
        devices_at[index] = (*devices_at.get(index, ()), device)
        slices_at[index] = slices[device]
    return devices_at, slices_at


def _captions(sharding: TensorSharding, mesh: Mesh) -> Iterable[str]:
    if isinstance(sharding.mesh_or_ref, str):
        yield f"mesh {mesh}"
    every = tuple(AxisRef(axis.name) for axis in mesh.axes)
    implicit = set_difference(every, sharding.all_axes(), mesh)
    if implicit:
        yield f"replicated over {_listed(implicit)}"
    if sharding.replicated_axes:
        yield f"replicated over {_listed(sharding.replicated_axes)}, explicitly"
    if sharding.unreduced_axes:
        kind = sharding.reduction_kind.keyword
        yield f"partial values over {_listed(sharding.unreduced_axes)}, to be combined by {kind}"


def _axis_label(dim: int, dim_axes: tuple[tuple[AxisRef, ...], ...]) -> str:
    if dim < 0:
        return ""
    axes = dim_axes[dim]
    return f"dim {dim}: {_listed(axes)}" if axes else f"dim {dim}"


def _listed(axes: Iterable[AxisRef]) -> str:
    return ", ".join(map(str, axes))


def _text(part: slice) -> str:
    return f"{part.start}:{part.stop}"


def _brackets(parts: Iterable[str]) -> str:
    return f"[{', '.join(parts)}]"


def _last_two(sizes: tuple[int, ...]) -> tuple[int, int]:
    """Return the sizes of the rows and the columns; 1 for missing dimensions."""
    rows, columns = (1, 1, *sizes)[-2:]
    return rows, columns


def mesh_figure(mesh: Mesh) -> Figure:
    """Return the figure of a mesh, in which each axis is a dimension."""
    sizes = tuple(axis.size for axis in mesh.axes)
    names = [str(AxisRef(axis.name)) for axis in mesh.axes]
    device_at = dict(zip(itertools.product(*map(range, sizes)), mesh.devices, strict=True))

    def place(index: Index) -> str:
        return ", ".join(f"{name}={at}" for name, at in zip(names, index, strict=False))

    def tile_at(index: Index) -> Tile:
        color = shard_color(0, 1, darker=is_darker(index, sizes))
        return Tile((device_at[index],), color, place(index))

    if mesh.is_empty:
        subtitle = "no axes and no devices: compatible with any mesh"
    elif mesh.is_maximal:
        subtitle = f"device {mesh.maximal_id} alone"
    else:
        subtitle = f"{mesh.total_size} device{'s' * (mesh.total_size > 1)}"
    return Figure(
        title=str(mesh),
        subtitle=subtitle,
        row_axis=names[-2] if len(names) > 1 else "",
        column_axis=names[-1] if names else "",
        panels=() if mesh.is_empty else arrange(sizes, tile_at, lambda _, at: str(at), place),
    )


# Colors are chosen in OKLCH, where lightness is perceptual, so that the same dark text is readable
# on each of them.


INK = "#1f2328"
"""Color of text on a colored tile."""

GRAY = "#717a85"
"""Color of text on the background of the page, readable on white and on black."""

EMPTY = "#e4e7eb"
"""Color of the part of a tile without data."""

HATCH = "#b3bac3"
"""Color of the hatching of the part of a tile without data."""

_FIRST_HUE = 250  # blue
_LIGHTNESS = 0.84
_CHROMA = 0.085


def shard_color(number: int, count: int, *, darker: bool = False) -> str:
    """Return the color of shard `number` of `count`, as `#rrggbb`.

    Args:
        number: the shard.
        count: the number of shards among which the hues are distributed.
        darker: whether to darken the color, to distinguish neighbors among many shards.
    """
    hue = math.radians(_FIRST_HUE + 360 * number / count)
    return _from_oklch(_LIGHTNESS - 0.06 * darker, _CHROMA, hue)


def _from_oklch(lightness: float, chroma: float, hue: float) -> str:
    a, b = chroma * math.cos(hue), chroma * math.sin(hue)
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short
    return "#" + "".join(f"{_to_byte(part):02x}" for part in (red, green, blue))


def _to_byte(linear: float) -> int:
    linear = min(max(linear, 0.0), 1.0)
    encoded = 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055
    return round(255 * encoded)
