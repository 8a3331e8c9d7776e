# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Windows that move over a dimension, and the elements that each shard of them covers.

A pad and a slice are windows of one element; a convolution and a `stablehlo.reduce_window` have
larger ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyshardy.irtools.tensor_types import size_of_shard


@dataclass(frozen=True, slots=True)
class WindowFootprint:
    """The elements of a dimension that the shards of windows cover.

    Attributes:
        starts: for each shard the position of the first element; before the dimension or beyond
            its end there is only padding.
        lengths: for each shard the number of elements.
        phases: for each shard the number of holes between the start of its windows and its first
            element; all zero if there are no holes between elements.
        extent: the length that the windows of a full shard cover, holes included.
        length: the number of elements that fit into the extent.
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    phases: tuple[int, ...]
    extent: int
    length: int


@dataclass(frozen=True, slots=True)
class Window:
    """The movement of windows over a dimension.

    Attributes:
        low: the distance from the start of the first window to the first element; negative if it
            starts after it.
        stride: the distance from one window to the next.
        size: the number of positions from the first to the last one of a window.
        dilation: the distance from one element to the next; with 2 there is a hole between any two.
    """

    low: int = 0
    stride: int = 1
    size: int = 1
    dilation: int = 1

    def footprint(self, count: int, num_shards: int) -> WindowFootprint:
        """Return the elements that the shards of `count` windows cover.

        1. A shard has s = ceil(count / num_shards) windows. Those of shard t begin at position
           b = t * s * stride - low, and cover (s - 1) * stride + size positions. The last shards
           may have fewer windows, or none.
        2. The elements are at the positions that `dilation` divides. The first one covered is
           f = ceil(b / dilation), which is f * dilation - b positions after b: its phase.

        Example: windows of 3 that move by 1 over 8 elements with one of padding at each end, on
        4 shards: `Window(low=1, size=3).footprint(8, 4)` begins at -1, 1, 3 and 5, with 4 elements.
        """
        shard_size = size_of_shard(count, num_shards)
        extent = (shard_size - 1) * self.stride + self.size
        begins = [shard * shard_size * self.stride - self.low for shard in range(num_shards)]
        starts = tuple(-(-begin // self.dilation) for begin in begins)
        phases = tuple(
            start * self.dilation - begin for start, begin in zip(starts, begins, strict=True)
        )
        counts = [min(count - shard * shard_size, shard_size) for shard in range(num_shards)]
        lengths = tuple(
            max(0, -(-((of_shard - 1) * self.stride + self.size - phase) // self.dilation))
            if of_shard > 0
            else 0
            for of_shard, phase in zip(counts, phases, strict=True)
        )
        length = max(-(-(extent - phase) // self.dilation) for phase in phases)
        return WindowFootprint(starts, lengths, phases, extent, max(length, 1))


# --- Attributes of windows ------------------------------------------------------------------------


Padding = tuple[int, int]
"""The padding before and after a dimension."""


def per_dim(numbers: Sequence[int], count: int, default: int = 1) -> list[int]:
    """Return the numbers for each dimension, or the default if there are none."""
    return list(numbers) or [default] * count


def paddings(padding: Sequence[Padding], count: int) -> list[Padding]:
    """Return the padding of windows for each dimension, or zeros if there is none."""
    return list(padding) or [(0, 0)] * count
