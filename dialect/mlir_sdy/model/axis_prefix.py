# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prefixes of axis lists: a list may end within a ref of a longer one.

Propagation compares candidate lists by these; they are plain tuples, whose last ref may be a
prefix of a ref of the list they were taken from.
"""

from __future__ import annotations

import enum

from mlir_sdy.model.axis_lists import AxisTuple
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.text import braced


class PrefixStatus(enum.Enum):
    """Whether one list of axes is a prefix of another."""

    NOT = enum.auto()
    STRICT = enum.auto()
    EQUAL = enum.auto()


def prefix_status(first: AxisTuple, second: AxisTuple) -> PrefixStatus:
    """Whether `first` is a prefix of `second`, equal to it, or neither.

    1. Equal lists are equal.
    2. A longer list is no prefix.
    3. All refs of `first` but the last must be those of `second`, and the last a prefix of the
       ref of `second` at its position.

    `{"y", "x":(1)2}` is a strict prefix of `{"y", "x":(1)4}`, and `{"y"}` of both.
    """
    if first == second:
        return PrefixStatus.EQUAL
    if not first:
        return PrefixStatus.STRICT
    last = len(first) - 1
    is_prefix = (
        last < len(second)
        and first[:last] == second[:last]
        and first[last].is_prefix_of(second[last])
    )
    return PrefixStatus.STRICT if is_prefix else PrefixStatus.NOT


def is_strict_prefix(first: AxisTuple, second: AxisTuple) -> bool:
    """Whether `second` begins with `first` and is longer."""
    return prefix_status(first, second) is PrefixStatus.STRICT


def axis_list_key(axes: AxisTuple) -> tuple[int, tuple[tuple[str, int, int], ...]]:
    """The key of the order of lists: by the number of refs, then by the refs from the first on."""
    return len(axes), tuple(axis.sort_key for axis in axes)


def expanded_size(axes: AxisTuple, prefix: AxisTuple, mesh: Mesh) -> int:
    """Return the number of shards of `axes` per shard of their prefix: the quotient of both sizes.

    `{"x", "y"}` over `{"x":(1)6}` gives 8 on a mesh `<["x"=24, "y"=2]>`.

    Raises:
        ModelError: If the size of the prefix does not divide that of `axes`.
    """
    size, rest = divmod(mesh.axes_size(axes), mesh.axes_size(prefix))
    if rest:
        raise ModelError(f"{braced(prefix)} is not a prefix of {braced(axes)}")
    return size
