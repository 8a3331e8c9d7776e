# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The basic strategy: propagate along each factor the axes that all tensors can take.

For each factor f, in order, on the projection as the factors before it left it:

1. *Compatible axes.* The longest list L such that the axes of f in every tensor are a prefix of
   L, or equal to it up to the first difference. Forward, only operands can make it longer, and
   backward, only results.

   `{"a"}` and `{"a", "b"}` give `{"a", "b"}`; `{"a", "b"}` and `{"a", "c"}` give `{"a"}`;
   forward, an operand `{}` and a result `{"a"}` give `{}`.

2. *Truncation.* L is cut at the first axis x that some tensor can't take, or shortened to the
   part of x that all can take. A tensor can't take

   - whether it has f or not: axes that overlap its axes along other factors;
   - if it has f: axes that overlap its replicated or unreduced axes; and any axis beyond those
     that it has along f if f is closed or has overflow axes, or if f is not the minor-most factor
     of its dimension and x does not divide the rest of its size.

   On a mesh `<["a"=2, "b"=2]>`, an add of `[{"a", "b"}, {?}]` and `[{?}, {?}], replicated={"b"}`
   shards everything as `[{"a", ?}, {?}]`.

3. *Expansion.* Every tensor whose axes along f are a strict prefix of L gets L.

   A dot of `[{"a"}, {?}]` and `[{?}, {"a"}]` propagates nothing: the two dimensions of the result
   conflict, since only one of them can take "a".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    PropagationDirection,
    prefix_without_overlap,
)
from pyshardy.propagation.projection import ShardingProjection, TensorProjection

Check = Callable[[AxisRef, int], AxisRef | None]
"""Return the longest prefix of an axis that fits after axes of the given total size, or None."""


def propagate_basic(projection: ShardingProjection, step: StepInputs) -> set[int]:
    """Expand the factors of `projection` in place, and return the positions of expanded tensors.

    This is a `Strategy`; it treats elementwise operations like others.
    """
    mesh = step.mesh
    expanded: set[int] = set()
    for factor, direction in enumerate(step.directions):
        axes = compatible_major_axes(projection, factor, direction)
        if not axes:
            continue
        size = step.factor_sizes[factor]

        def check(
            axis: AxisRef, prev: int, factor: int = factor, size: int = size
        ) -> AxisRef | None:
            return _fits_all(projection.tensors, factor, size, axis, prev, mesh)

        axes = truncate(axes, check, mesh, conservative=step.conservative)
        if axes:
            expanded.update(projection.expand(factor, axes))
    return expanded


# --- 1. Compatible axes -----------------------------------------------------------------------


def compatible_major_axes(
    projection: ShardingProjection, factor: int, direction: PropagationDirection
) -> AxisTuple:
    """Return the longest list of compatible axes of the tensors along `factor`."""
    if direction is PropagationDirection.NONE:
        return ()
    first, second = projection.operands, projection.results
    if direction is PropagationDirection.BACKWARD:
        first, second = second, first
    result: AxisTuple = ()
    can_expand = True
    for tensor in first:
        if factor in tensor.factors:
            result, can_expand = combine(result, tensor.factors[factor].axes, can_expand)
    can_expand = can_expand and direction is PropagationDirection.BOTH
    for tensor in second:
        if factor in tensor.factors:
            result, can_expand = combine(result, tensor.factors[factor].axes, can_expand)
    return result


def combine(old: AxisTuple, new: AxisTuple, can_expand: bool) -> tuple[AxisTuple, bool]:
    """Combine the common list of axes with that of a tensor; return also whether it may grow.

    The lists are compared ref by ref:

    1. Equal refs are taken.
    2. If the new ref is a prefix of the old one, the old one is taken if the new list ends there;
       else the lists diverge after the new one.
    3. If the old ref is a prefix of the new one, the new one is taken if the old list ends there
       and may grow; else the lists diverge after the old one.
    4. Otherwise they diverge before these refs.

    If they don't diverge, the rest of the old list follows, and, if it may grow, that of the new.
    """
    if not new or old == new:
        return old, can_expand
    if not old:
        return (new if can_expand else ()), can_expand
    for position, (before, after) in enumerate(zip(old, new, strict=False)):
        if before == after:
            continue
        shared = old[:position]
        is_last_old, is_last_new = position + 1 == len(old), position + 1 == len(new)
        if after.is_prefix_of(before):
            return (old, can_expand) if is_last_new else ((*shared, after), False)
        if before.is_prefix_of(after):
            if can_expand and is_last_old:
                return new, True
            return (*shared, before), False
        return shared, False
    return (new if can_expand and len(new) > len(old) else old), can_expand


# --- 2. Truncation ----------------------------------------------------------------------------


def truncate(axes: AxisTuple, check: Check, mesh: Mesh, *, conservative: bool) -> AxisTuple:
    """Cut `axes` before the first axis that `check` refuses; if conservative, do not split it."""
    prev = 1
    for position, axis in enumerate(axes):
        fitting = check(axis, prev)
        if fitting is None or (conservative and fitting.sub_axis_info is not None):
            return axes[:position]
        if fitting != axis:
            return (*axes[:position], fitting)
        prev *= axis.size(mesh)
    return axes


def _fits_all(
    tensors: Iterable[TensorProjection],
    factor: int,
    size: int,
    axis: AxisRef,
    prev: int,
    mesh: Mesh,
) -> AxisRef | None:
    """Return the longest prefix of `axis` that all tensors can take, or None."""
    fitting: AxisRef | None = axis
    for tensor in tensors:
        fitting = without_other_factors(tensor, factor, fitting)
        if fitting is not None and factor in tensor.factors:
            fitting = within_factor(tensor, factor, size, fitting, prev, mesh)
        if fitting is None:
            return None
    return fitting


def without_other_factors(tensor: TensorProjection, factor: int, axis: AxisRef) -> AxisRef | None:
    """Return the longest prefix of `axis` that other factors of the tensor do not use, or None."""
    fitting: AxisRef | None = axis
    for other, sharding in tensor.factors.items():
        if other == factor:
            continue
        for used in (sharding.overflow_axes, sharding.axes):
            fitting = prefix_without_overlap(fitting, used)
            if fitting is None:
                return None
    return fitting


def within_factor(
    tensor: TensorProjection, factor: int, size: int, axis: AxisRef, prev: int, mesh: Mesh
) -> AxisRef | None:
    """Return the longest prefix of `axis` that the tensor can take along `factor`, which it has."""
    fitting = prefix_without_overlap(axis, tensor.replicated_axes)
    if fitting is not None:
        fitting = prefix_without_overlap(fitting, tensor.unreduced_axes)
    if fitting is None:
        return None
    sharding = tensor.factors[factor]
    if any(known.contains(fitting) for known in sharding.axes):
        return fitting
    if not sharding.is_closed and not sharding.overflow_axes:
        if sharding.is_minor_most:
            return fitting
        if size % prev == 0:
            shared = math.gcd(size // prev, fitting.size(mesh))
            if shared == fitting.size(mesh):
                return fitting
            if shared != 1:
                return AxisRef.sub(fitting.name, fitting.pre_size, shared)
    if sharding.axes and sharding.axes[-1].is_prefix_of(fitting):
        return sharding.axes[-1]
    return None


@dataclass(frozen=True, slots=True)
class StepInputs:
    """The inputs of a step besides the shardings.

    Attributes:
        directions: the direction in which axes may flow, for each factor.
        factor_sizes: the size of each factor.
        mesh: the mesh of all shardings.
        conservative: whether only full axes are propagated.
        is_elementwise: whether the operation computes element by element.
    """

    directions: Sequence[PropagationDirection]
    factor_sizes: Sequence[int]
    mesh: Mesh
    conservative: bool = False
    is_elementwise: bool = False


Strategy = Callable[[ShardingProjection, StepInputs], set[int]]
"""Expands the factors of a projection (an operation's shardings by factors) in place.

Returns the positions of the tensors that it expanded.
"""
