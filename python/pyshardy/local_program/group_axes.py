# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The axes of a mesh along which devices exchange data, computed from device ids.

Both functions work on *positions*: the indices of devices in the row-major order of the mesh.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, replica_groups
from pyshardy.local_program.process_groups import Groups


def axes_of_groups(groups: Groups, mesh: Mesh) -> AxisTuple | None:
    """Return the axes and sub-axes along which the members of each group differ, in mesh order.

    1. In the group of the device at position 0, the other positions are sums of steps. Positions
       in arithmetic progression, such as 0, 2, 4, 6, are one *run*: 4 steps by 2.
    2. A run is split at the ends of axes. Its part inside an axis is a sub-axis.
    3. The result is None unless these axes yield exactly the given groups.

    On `<["x"=2, "y"=4]>`, ((0, 2), (1, 3), (4, 6), (5, 7)) are along `"y":(1)2`.
    """
    position_of = {device: position for position, device in enumerate(mesh.devices)}
    first = next((group for group in groups if mesh.devices[0] in group), None)
    if first is None:
        return None
    runs = _runs(sorted(position_of[device] for device in first))
    axes = None if runs is None else _axes_of_runs(runs, mesh)
    if axes is None:
        return None
    wanted = set(map(frozenset, groups))
    return axes if set(map(frozenset, replica_groups(mesh, axes))) == wanted else None


def axes_of_moves(moves: Sequence[tuple[int, int]], mesh: Mesh) -> AxisTuple:
    """Return the axes along which any device sends to another, without constant sub-axes.

    In an axis of size 8, the major sub-axis of size 2 is constant if all moves stay within a half,
    and the minor one of size 2 if no move changes the parity of a coordinate.
    """
    if not moves:
        return ()
    positions = np.empty(mesh.total_size, np.int64)
    positions[list(mesh.devices)] = np.arange(mesh.total_size)
    shape = [axis.size for axis in mesh.axes]
    ends = positions[np.array(moves, np.int64)]
    sources, targets = (np.unravel_index(ends[:, side], shape) for side in (0, 1))
    axes: list[AxisRef] = []
    for axis, before, after in zip(mesh.axes, sources, targets, strict=True):
        if np.array_equal(before, after):
            continue
        divisors = [part for part in range(1, axis.size + 1) if axis.size % part == 0]
        minor = max(part for part in divisors if np.array_equal(before % part, after % part))
        major = max(
            part
            for part in divisors
            if np.array_equal(before // (axis.size // part), after // (axis.size // part))
        )
        axes.append(_part(axis.name, major, axis.size // (major * minor), axis.size))
    return tuple(axes)


def _runs(positions: Sequence[int]) -> list[tuple[int, int]] | None:
    """Return the steps, smallest first, and the count of each, whose sums are the positions."""
    runs: list[tuple[int, int]] = []
    covered = 1
    while covered < len(positions):
        step = positions[covered] - positions[0]
        count = 1
        while (
            count * covered < len(positions)
            and positions[count * covered] - positions[0] == count * step
        ):
            count += 1
        if len(positions) % (count * covered):
            return None
        runs.append((step, count))
        covered *= count
    return runs


def _axes_of_runs(runs: Sequence[tuple[int, int]], mesh: Mesh) -> AxisTuple | None:
    axes: list[AxisRef] = []
    width = math.prod(axis.size for axis in mesh.axes)
    for axis in mesh.axes:
        end, width = width, width // axis.size
        for step, count in reversed(runs):
            low, high = max(step, width), min(step * count, end)
            if low >= high:
                continue
            if low % width or end % high or high % low:
                return None
            axes.append(_part(axis.name, end // high, high // low, axis.size))
    return tuple(axes)


def _part(name: str, pre_size: int, size: int, axis_size: int) -> AxisRef:
    return AxisRef(name) if size == axis_size else AxisRef.sub(name, pre_size, size)
