# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sub-axes that were merged into a larger axis.

A value that is sharded by `"x":(1)2` first, and by `"x"` in the end, no longer has `"x":(1)2`.
"""

from __future__ import annotations

from mlir_sdy.model import AxisRef, TensorSharding


def is_merged_away(axis: AxisRef, sharding: TensorSharding | None) -> bool:
    """Whether a sub-axis that a tensor got is part of a larger axis of its final sharding.

    Args:
        axis: an axis that came to the tensor.
        sharding: the final sharding of the tensor.
    """
    axes = final_axes(sharding)
    return axis not in axes and any(other.contains(axis) for other in axes)


def final_axes(sharding: TensorSharding | None) -> tuple[AxisRef, ...]:
    """Return the axes of all dimensions."""
    dims = () if sharding is None else sharding.dim_shardings
    return tuple(axis for dim in dims for axis in dim.axes)
