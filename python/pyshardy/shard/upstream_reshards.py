# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reshards that upstream's `shard-partition` supports or computes incorrectly.

Upstream visits the dimensions once, in order, and applies the first of these that matches:

1. *move*: the last axis of the dimension moves to another dimension, before the axes there.
   Incorrect if that dimension has axes, since it is appended after these.
2. *split*: the dimension is split along one more axis. Incorrect if another dimension is currently
   split along that axis, since each device slices different data.
3. *unsplit*: the last axes of the dimension are gathered.

If the result isn't the target sharding, upstream fails.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from mlir_sdy.shard.values import Axes


class Verdict(enum.Enum):
    """The outcome of a reshard in upstream."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


def verdict_on(source: Sequence[Axes], target: Sequence[Axes]) -> Verdict:
    """Return upstream's outcome for a reshard; both lists have an entry for each dimension.

    `[[0], []]` to `[[], [0]]` is correct, `[[], [0]]` to `[[0], []]` incorrect, and `[[0]]` to
    `[[1]]` unsupported.
    """
    current = list(source)
    is_right = True
    for dim, wanted in enumerate(target):
        axes = current[dim]
        if axes == wanted:
            continue
        other = _move_target(dim, current, target)
        if other is not None:
            is_right &= not current[other]
            current[dim], current[other] = wanted, target[other]
        elif wanted[:-1] == axes:
            is_right &= all(wanted[-1] not in others for others in current)
            current[dim] = wanted
        elif axes[: len(wanted)] == wanted:
            current[dim] = wanted
    if current != list(target):
        return Verdict.UNKNOWN
    return Verdict.RIGHT if is_right else Verdict.WRONG


def _move_target(dim: int, current: Sequence[Axes], target: Sequence[Axes]) -> int | None:
    """Return the dimension that the last axis of a dimension moves to, or None."""
    axes = current[dim]
    if not axes or axes[:-1] != target[dim]:
        return None
    return next(
        (
            other
            for other in range(len(current))
            if other != dim and target[other] == (axes[-1], *current[other])
        ),
        None,
    )
