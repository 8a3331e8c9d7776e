# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shard sizes of dimensions that don't divide evenly, in both dialects.

Shardy splits 7 elements over 3 devices into 3, 3 and 1, and the shard dialect into 2, 2 and 3. By
offsets, the shard dialect can express the former as well: 0, 3, 6, 7.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.shard.values import Grid, GridSharding


def offsets_rounded_up(size: int, num_shards: int) -> tuple[int, ...]:
    """Return the starts of shards whose size is rounded up, and the end of the last one.

    7 elements in 3 shards: (0, 3, 6, 7); 2 elements in 4 shards: (0, 1, 2, 2, 2).
    """
    shard_size = -(-size // num_shards)
    return tuple(min(index * shard_size, size) for index in range(num_shards + 1))


def uneven_dim(sharding: GridSharding, shape: Sequence[int], grid: Grid) -> int | None:
    """Return the first dimension whose shards differ from Shardy's, or None.

    1. With offsets, they must be those of `offsets_rounded_up`.
    2. Without, the dimension must divide evenly or be of dynamic size.
    """
    offsets = sharding.offsets(grid)
    for dim in sharding.split_dims:
        num_shards = grid.axes_size(sharding.split_axes[dim])
        if dim in offsets:
            if shape[dim] < 0 or offsets[dim] != offsets_rounded_up(shape[dim], num_shards):
                return dim
        elif shape[dim] >= 0 and shape[dim] % num_shards:
            return dim
    return None


def with_offsets(sharding: GridSharding, shape: Sequence[int], grid: Grid) -> GridSharding | None:
    """Return a sharding with the offsets of Shardy's rule, without any if all dimensions divide.

    None if offsets are required and a dimension is split along several axes, for which offsets
    aren't supported.
    """
    if uneven_dim(sharding, shape, grid) is None:
        return sharding
    offsets: list[int] = []
    for dim in sharding.split_dims:
        axes = sharding.split_axes[dim]
        if len(axes) > 1 or shape[dim] < 0:
            return None
        offsets += offsets_rounded_up(shape[dim], grid.axes_size(axes))
    return GridSharding(sharding.grid, sharding.split_axes, (), tuple(offsets))
