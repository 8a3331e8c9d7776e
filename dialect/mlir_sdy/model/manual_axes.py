# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The manual axes of a `sdy.manual_computation`, and the parts of a sharding on them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache

from mlir_sdy.model.axes import AxisRef
from mlir_sdy.model.sharding import DimensionSharding, TensorSharding
from mlir_sdy.model.text import braced, quoted
from mlir_sdy.model.value_list import ValueList


@dataclass(frozen=True, slots=True, repr=False)
class ManualAxes(ValueList[str]):
    """Names of the full axes that a body handles by hand: `{"x", "y"}`."""

    value: tuple[str, ...] = ()

    def __str__(self) -> str:
        return braced(map(quoted, self.value))


def count_manual_axes(dim_sharding: DimensionSharding, manual: Collection[str]) -> int:
    """Return the number of leading refs of the dimension on manual axes: its *manual part*."""
    count = 0
    for axis in dim_sharding.axes:
        if axis.name not in manual:
            break
        count += 1
    return count


@lru_cache(maxsize=4096)  # each value of a body asks for its own
def erase_manual_axes(sharding: TensorSharding, manual: tuple[str, ...]) -> TensorSharding:
    """Return the sharding inside of the body of a manual computation.

    1. Each dimension loses its manual part.
    2. The replicated and the unreduced axes lose those on manual axes.
    3. Everything else is kept.

    `<@m, [{"x", "y"}], replicated={"z"}>` without `x` and `z` is `<@m, [{"y"}]>`.
    """
    if not manual:
        return sharding
    return replace(
        sharding,
        dim_shardings=tuple(
            dim.with_axes(dim.axes[count_manual_axes(dim, manual) :])
            for dim in sharding.dim_shardings
        ),
        replicated_axes=_free(sharding.replicated_axes, manual),
        unreduced_axes=_free(sharding.unreduced_axes, manual),
    )


def erase_free_axes(sharding: TensorSharding, manual: Collection[str]) -> TensorSharding:
    """The sharding with only the manual part of each dimension.

    The replicated and the unreduced axes keep those that are *not* manual, as in
    `erase_manual_axes`; callers replace them.
    """
    return replace(
        sharding,
        dim_shardings=tuple(
            dim.with_axes(dim.axes[: count_manual_axes(dim, manual)])
            for dim in sharding.dim_shardings
        ),
        replicated_axes=_free(sharding.replicated_axes, manual),
        unreduced_axes=_free(sharding.unreduced_axes, manual),
    )


def add_free_axes(
    outer: TensorSharding, inner: TensorSharding, manual: Collection[str]
) -> TensorSharding:
    """Return the sharding outside of a manual computation, given a new one of its body.

    1. Each dimension has the manual part of `outer`, then the axes of `inner`; whether it is
       open, and its priority, come from `inner`.
    2. The mesh is that of `inner`.
    3. The replicated and the unreduced axes are those of `outer`, with the kind of reduction.

    `<@m, [{"x", "y"}], replicated={"z"}>` with `<@m, [{"w", ?}]>` for manual `x` gives
    `<@m, [{"x", "w", ?}], replicated={"z"}>`.
    """
    dims = zip(outer.dim_shardings, inner.dim_shardings, strict=True)
    return TensorSharding(
        inner.mesh_or_ref,
        tuple(
            new.with_axes(old.axes[: count_manual_axes(old, manual)] + new.axes)
            for old, new in dims
        ),
        outer.replicated_axes,
        outer.unreduced_axes,
        outer.reduction_kind,
    )


def _free(axes: tuple[AxisRef, ...], manual: Collection[str]) -> tuple[AxisRef, ...]:
    return tuple(axis for axis in axes if axis.name not in manual)
