# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which reshards upstream's `shard-partition` knows, and which of them it gets wrong.

It goes through the dimensions once, in order, and does the first of these that fits:

1. *move*: the last axis of the dimension goes to another one, where the target has it in front of
   what is there. Wrong if something is there: it arrives behind that.
2. *split*: the dimension is split along one axis more. Wrong if another dimension is split along
   that axis at this moment: each device slices what it has of something else.
3. *unsplit*: the last axes of the dimension are gathered.

If that doesn't lead to the target, it fails.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from mlir_sdy.shard.values import Axes


class Verdict(enum.Enum):
    """What becomes of a reshard."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


def verdict_on(source: Sequence[Axes], target: Sequence[Axes]) -> Verdict:
    """What upstream makes of a reshard of a tensor; both lists have an entry for each dimension.

    `[[0], []]` to `[[], [0]]` is right, `[[], [0]]` to `[[0], []]` wrong, and `[[0]]` to `[[1]]`
    unknown.
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
    """The dimension that the last axis of another one moves to; None if it doesn't move."""
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
