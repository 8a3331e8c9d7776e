# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of collectives: the axes of a result from those of the operand.

A collective states the sharding of its result, but that sharding follows from the operand's and
from the axes that the collective works along. The examples use a mesh `<["u"=8, "v"=2, "w"=2]>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.axis_lists import (
    AxisTuple,
    add_or_merge,
    lists_overlap,
    set_difference,
    sort_and_merge,
)
from mlir_sdy.model.enums import ReductionOp
from mlir_sdy.model.errors import ModelError
from mlir_sdy.model.mesh import Mesh
from mlir_sdy.model.sharding import TensorSharding
from mlir_sdy.model.text import TextRepr, braced, bracketed
from mlir_sdy.model.value_list import ValueList

# --- The axes of one dimension ----------------------------------------------------------------


def gather_axes(axes: AxisTuple, gathered: Sequence[AxisRef], mesh: Mesh) -> AxisTuple:
    """Return the axes of a dimension after a gather along `gathered`, a suffix of its axes.

    From the most minor of the gathered axes to the most major one:

    1. It must be a suffix of the last axis that is left, or that axis itself.
    2. That axis is replaced by the part before the gathered one, if there is such a part.

    `{"v", "u"}` gathered along `{"u":(2)4}` gives `{"v", "u":(1)2}`, and along `{"v", "u"}` gives
    `{}`. It can't be gathered along `{"v"}`, since `"u"` is more minor.

    Raises:
        ModelError: An axis is no suffix.
    """
    left = list(axes)
    for axis in reversed(gathered):
        if not left or not axis.is_suffix_of(left[-1], mesh):
            raise ModelError(
                f"{axis} cannot be gathered: it is not a suffix of {braced(left)}, the axes left"
            )
        prefix = left.pop().prefix_without_overlap(axis)
        if prefix is not None:
            left.append(prefix)
    return tuple(left)


def slice_axes(axes: AxisTuple, sliced: Sequence[AxisRef], mesh: Mesh) -> AxisTuple:
    """Return the axes of a dimension after a slice along `sliced`.

    Each is appended in turn, and merged with the axis before it if it continues that.

    `{"u":(1)2}` sliced along `{"u":(2)4, "w"}` gives `{"u", "w"}`; `{"u":(4)2}` along
    `{"u":(1)4}` gives `{"u":(4)2, "u":(1)4}`.
    """
    for axis in sliced:
        axes = add_or_merge(axes, axis, mesh)
    return axes


# --- The axes of all dimensions -----------------------------------------------------------------


def all_to_all_axes(
    dim_axes: Sequence[AxisTuple], params: AllToAllParamList, mesh: Mesh
) -> tuple[AxisTuple, ...]:
    """Return the axes of each dimension after axes have moved between dimensions.

    1. The source of each move is gathered along its axes, the target sliced along them.
    2. All other dimensions keep their axes.

    `[{"v", "u"}, {}, {"w"}]` after `{"u":(4)2}: 0->1` is `[{"v", "u":(1)4}, {"u":(4)2}, {"w"}]`.

    Raises:
        ModelError: The axes of a move are no suffix of those of its source.
    """
    moved = list(dim_axes)
    for param in params:
        moved[param.src_dim] = gather_axes(dim_axes[param.src_dim], param.axes, mesh)
        moved[param.tgt_dim] = slice_axes(dim_axes[param.tgt_dim], param.axes, mesh)
    return tuple(moved)


# --- Unreduced axes -----------------------------------------------------------------------------


def add_unreduced_axes(unreduced: AxisTuple, added: Sequence[AxisRef], mesh: Mesh) -> AxisTuple:
    """Return the unreduced axes after more axes have become unreduced, sorted and merged.

    `{"u":(4)2}` with `{"u":(1)4, "v"}` is `{"u", "v"}`.
    """
    return sort_and_merge((*unreduced, *added), mesh)


def check_unreduced_transition(
    source: TensorSharding,
    result: TensorSharding,
    mesh: Mesh,
    *,
    introduced_as: ReductionOp | None,
    removed_as: ReductionOp | None,
) -> None:
    """Check that an operation can add and remove unreduced axes from operand to result.

    1. *Introduced* axes, unreduced in the result only, are of the kind `introduced_as`.
    2. *Removed* axes, unreduced in the source only, are of the kind `removed_as`.
    3. Axes that stay unreduced keep their kind.

    With `{"u"}` unreduced before and `{"u":(1)2, "v"}` after, `"v"` is introduced and `"u":(2)4`
    removed.

    Args:
        source: the sharding of the operand.
        result: the sharding of the result.
        mesh: the mesh of both.
        introduced_as: the kind of reduction for which the operation can introduce axes; None if
            it can't.
        removed_as: the kind by which it reduces; None if it doesn't.

    Raises:
        ModelError: The first rule that is broken.
    """
    before, after = source.unreduced_axes, result.unreduced_axes
    introduced = set_difference(after, before, mesh)
    if introduced and result.reduction_kind is not introduced_as:
        raise ModelError(_not_introduced(introduced, result, introduced_as))
    removed = set_difference(before, after, mesh)
    if removed and source.reduction_kind is not removed_as:
        kind = source.reduction_kind.keyword
        wanted = "" if removed_as is None else f" Expected '{removed_as.keyword}'."
        message = f"cannot reduce '{kind}' unreduced axes.{wanted} The axes are {braced(removed)}"
        raise ModelError(message)
    if source.reduction_kind is not result.reduction_kind and lists_overlap(before, after):
        raise ModelError(
            "cannot change the reduction operator of kept unreduced axes from "
            f"{source.reduction_kind.keyword} to {result.reduction_kind.keyword}."
        )


def _not_introduced(axes: AxisTuple, result: TensorSharding, possible: ReductionOp | None) -> str:
    if possible is None:
        return f"cannot add new unreduced axis '{axes[0].name}'. The new axes are {braced(axes)}"
    kind = result.reduction_kind.keyword
    return f"cannot introduce '{kind}' unreduced axes. Expected '{possible.keyword}'."


# --- All-to-all -----------------------------------------------------------------------------------


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
