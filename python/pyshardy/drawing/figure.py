# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures: the contents of a picture, before it is converted to an image or a table.

A figure has a tile for each shard of an array. The tiles of the last two dimensions form a panel,
and there is a panel for each combination of shards of the leading dimensions, so that arrays of any
rank have a figure. If there are too many, `None` replaces those in the middle.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

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

Index = tuple[int, ...]
T = TypeVar("T")

LEFT_OUT = "⋯"
"""The label of omitted rows or columns."""

_MOST_TILES = 10
"""Largest number of tiles in a row or column of a single panel."""

_MOST_TILES_OF_MANY = 4
"""Largest number of tiles in a row or column of each of several panels."""

_MOST_PANELS = 4
"""Largest number of panels in a row or column."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A shard of the array.

    Attributes:
        devices: the devices that hold it.
        color: the background.
        where: the indices of the shard.
        elements: the numbers of rows and columns of data.
        capacity: the numbers of rows and columns including padding.
        note: a remark on this shard, usually empty.
    """

    devices: tuple[int, ...]
    color: str
    where: str
    elements: tuple[int, int] = (1, 1)
    capacity: tuple[int, int] = (1, 1)
    note: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """The tiles of the last two dimensions; labels are empty for missing dimensions."""

    title: str
    row_labels: tuple[str, ...]
    column_labels: tuple[str, ...]
    tiles: tuple[tuple[Tile | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """The contents of a picture.

    Attributes:
        title: the name of the array.
        subtitle: its size.
        row_axis: the label of the rows of each panel.
        column_axis: the label of the columns of each panel.
        panels: rows of panels.
        captions: properties that the tiles do not show.
    """

    title: str
    subtitle: str
    row_axis: str
    column_axis: str
    panels: tuple[tuple[Panel | None, ...], ...]
    captions: tuple[str, ...] = ()

    @property
    def has_padding(self) -> bool:
        """Whether some tile has padding."""
        return any(
            tile is not None and tile.elements != tile.capacity
            for panels in self.panels
            for panel in panels
            if panel is not None
            for tiles in panel.tiles
            for tile in tiles
        )


def arrange(
    counts: Sequence[int],
    tile_at: Callable[[Index], Tile],
    label: Callable[[int, int], str],
    title: Callable[[Index], str],
) -> tuple[tuple[Panel | None, ...], ...]:
    """Arrange the tiles of an array in panels.

    Args:
        counts: the number of shards of each dimension.
        tile_at: returns the tile of a shard.
        label: returns the label of a shard of a dimension.
        title: returns the title of the panel for some shards of the leading dimensions.
    """
    rank = len(counts)
    most_tiles = _MOST_TILES if rank <= 2 else _MOST_TILES_OF_MANY
    rows = _shown(_tile_indices(counts, rank - 2), most_tiles)
    columns = _shown(_tile_indices(counts, rank - 1), most_tiles)

    def labels(dim: int, tiles: Sequence[Index | None]) -> tuple[str, ...]:
        if dim < 0:
            return ("",) * len(tiles)
        return tuple(LEFT_OUT if tile is None else label(dim, *tile) for tile in tiles)

    def panel(leading: Index) -> Panel:
        tiles = tuple(
            tuple(
                None if row is None or column is None else tile_at((*leading, *row, *column))
                for column in columns
            )
            for row in rows
        )
        heading = title(leading) if leading else ""
        return Panel(heading, labels(rank - 2, rows), labels(rank - 1, columns), tiles)

    outer = itertools.product(*map(range, counts[: max(rank - 3, 0)]))
    panel_rows = _shown(list(outer), _MOST_PANELS)
    panel_columns = _shown(_tile_indices(counts, rank - 3), _MOST_PANELS)
    return tuple(
        tuple(
            None if row is None or column is None else panel((*row, *column))
            for column in panel_columns
        )
        for row in panel_rows
    )


def _tile_indices(counts: Sequence[int], dim: int) -> list[Index]:
    """Return the indices of a dimension's shards; a single empty one if there is no dimension."""
    return [(at,) for at in range(counts[dim])] if dim >= 0 else [()]


def _shown(items: list[T], most: int) -> list[T | None]:
    """Return all items, or the first ones, None for omitted ones, and the last one."""
    if len(items) <= most:
        return list(items)
    return [*items[: most - 2], None, items[-1]]


def device_lines(devices: Sequence[int], width: int = 12, most: int = 3) -> list[str]:
    """Return the ids of devices as a few lines of text: `0 4 8-11`, and their number if cut."""
    lines: list[str] = []
    for word in _runs(devices):
        if lines and len(lines[-1]) + 1 + len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    if len(lines) > most:
        lines[most - 1 :] = [f"… {len(devices)} in all"]
    return lines


def _runs(devices: Sequence[int]) -> list[str]:
    """Return the ids in order, with ranges for three or more consecutive ones."""
    words: list[str] = []
    for _, group in itertools.groupby(enumerate(devices), key=lambda pair: pair[1] - pair[0]):
        run = [device for _, device in group]
        words += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    return words


def by(sizes: Sequence[int]) -> str:
    """Format sizes as in the type of a tensor, `4x8`; `scalar` without any."""
    return "x".join(map(str, sizes)) or "scalar"


def is_darker(index: Index, counts: Sequence[int]) -> bool:
    """Whether a shard is drawn darker: among many, every other one as on a chessboard."""
    return math.prod(counts) > 6 and sum(index) % 2 == 1


# --- The figures of tensors and meshes ------------------------------------------------------------


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
