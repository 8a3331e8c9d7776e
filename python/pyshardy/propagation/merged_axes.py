# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of axes that have become part of a larger one where they came to.

A value that is sharded by `"x":(1)2` first, and by `"x"` in the end, has `"x":(1)2` no more.
"""

from __future__ import annotations

from mlir_sdy.model import AxisRef, TensorSharding


def is_merged_away(axis: AxisRef, sharding: TensorSharding | None) -> bool:
    """Whether the dimensions of a tensor have a larger axis in the place of a part of it.

    Args:
        axis: an axis that came to the tensor.
        sharding: how the tensor is sharded in the end.
    """
    axes = final_axes(sharding)
    return axis not in axes and any(other.contains(axis) for other in axes)


def final_axes(sharding: TensorSharding | None) -> tuple[AxisRef, ...]:
    """The axes of all dimensions."""
    dims = () if sharding is None else sharding.dim_shardings
    return tuple(axis for dim in dims for axis in dim.axes)
