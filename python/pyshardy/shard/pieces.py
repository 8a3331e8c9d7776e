# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How dimensions that don't divide evenly are cut: two dialects, two rules.

Of 7 elements over 3 devices, Shardy gives 3, 3 and 1, and the shard dialect 2, 2 and 3. The shard
dialect can say the former as well, by offsets: 0, 3, 6, 7.
"""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy.shard.values import Grid, GridSharding


def offsets_rounded_up(size: int, pieces: int) -> tuple[int, ...]:
    """Where pieces begin that are all as long as the first, and where the last one ends.

    7 elements in 3 pieces: (0, 3, 6, 7); 2 elements in 4 pieces: (0, 1, 2, 2, 2).
    """
    piece = -(-size // pieces)
    return tuple(min(index * piece, size) for index in range(pieces + 1))


def uneven_dim(sharding: GridSharding, shape: Sequence[int], grid: Grid) -> int | None:
    """The first dimension that is not cut as Shardy would cut it; None if there is none.

    1. With offsets, they must be those of `offsets_rounded_up`.
    2. Without, the dimension must divide evenly. One of unknown size may.
    """
    offsets = sharding.offsets(grid)
    for dim in sharding.split_dims:
        pieces = grid.axes_size(sharding.split_axes[dim])
        if dim in offsets:
            if shape[dim] < 0 or offsets[dim] != offsets_rounded_up(shape[dim], pieces):
                return dim
        elif shape[dim] >= 0 and shape[dim] % pieces:
            return dim
    return None


def with_offsets(sharding: GridSharding, shape: Sequence[int], grid: Grid) -> GridSharding | None:
    """A sharding with the offsets that Shardy's rule needs: none if all dimensions divide evenly.

    None stands for a sharding that would need them and has a dimension split along several axes,
    for which offsets can't be given.
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
