# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parameters of `sdy.all_to_all`: axes that move between dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.text import TextRepr, braced, bracketed
from mlir_sdy.model.value_list import ValueList


@dataclass(frozen=True, slots=True, repr=False)
class AllToAllParam(TextRepr):
    """Axes that move from the end of one dimension to the end of another: `{"x"}: 0->2`."""

    axes: tuple[AxisRef, ...]
    src_dim: int
    tgt_dim: int

    def __str__(self) -> str:
        return f"{braced(self.axes)}: {self.src_dim}->{self.tgt_dim}"


@dataclass(frozen=True, slots=True, repr=False)
class AllToAllParamList(ValueList[AllToAllParam]):
    """Several moves at once: `[{"x"}: 0->2, {"y"}: 1->3]`."""

    value: tuple[AllToAllParam, ...] = ()

    def __str__(self) -> str:
        return bracketed(self.value)

    def overlaps(self, other: AllToAllParamList) -> bool:
        """Whether a dimension occurs twice among all sources and targets of both lists.

        So a list that repeats a dimension overlaps with any other. `[{"x"}: 0->1]` overlaps
        with `[{"y"}: 1->2]`, but not with `[{"y"}: 2->3]`.
        """
        dims = [
            dim for param in (*self.value, *other.value) for dim in (param.src_dim, param.tgt_dim)
        ]
        return len(set(dims)) < len(dims)

    def combine(self, other: AllToAllParamList) -> AllToAllParamList:
        """Return the moves of both lists, which must not overlap, by source dimension."""
        params = (*self.value, *other.value)
        return AllToAllParamList(tuple(sorted(params, key=lambda param: param.src_dim)))
