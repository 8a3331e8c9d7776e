# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""References to mesh axes and to parts of them, how two of them relate, and their order.

A ref covers a range of the digits of its axis: an axis of size F, seen as reshaped to factors
`... x pre x size x ...` from major to minor, is covered by `"x":(pre)size` in the range from
`pre` to `pre * size`, called the *next pre-size*. A full axis covers the range from 1 to F.

The examples use an axis `"x"` of size 24.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlir_sdy.model.text import braced, bracketed, quoted

if TYPE_CHECKING:
    pass

_ABOVE_ANY_SIZE = 2**63


@dataclass(frozen=True, slots=True)
class SubAxisInfo:
    """The part `(pre_size)size` of an axis: `size` follows a more major part of `pre_size`."""

    pre_size: int
    size: int

    @property
    def next_pre_size(self) -> int:
        """The pre-size of a part that would follow this one directly."""
        return self.pre_size * self.size

    def __str__(self) -> str:
        return f"({self.pre_size}){self.size}"


@dataclass(frozen=True, slots=True)
class AxisRef:
    """A mesh axis, or a part of one: `"x"` or `"x":(2)3`.

    Whether the part fits its axis is known only with the mesh, so any numbers are accepted here.
    """

    name: str
    sub_axis_info: SubAxisInfo | None = None

    @classmethod
    def sub(cls, name: str, pre_size: int, size: int) -> AxisRef:
        """The ref `"name":(pre_size)size`."""
        return cls(name, SubAxisInfo(pre_size, size))

    def __str__(self) -> str:
        if self.sub_axis_info is None:
            return quoted(self.name)
        return f"{quoted(self.name)}:{self.sub_axis_info}"


@dataclass(frozen=True, slots=True)
class AxisRefList:
    """A list of axis refs: `{"x", "y":(1)2}`."""

    value: tuple[AxisRef, ...] = ()

    def __str__(self) -> str:
        return braced(self.value)


@dataclass(frozen=True, slots=True)
class ListOfAxisRefLists:
    """A list of axis refs for each dimension of a tensor: `[{"x"}, {}]`."""

    value: tuple[AxisRefList, ...] = ()

    def __str__(self) -> str:
        return bracketed(self.value)
