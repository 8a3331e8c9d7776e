# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of reshards: chains of collectives from one sharding to another.

The order of the chain is: slice first, without communication; permute at constant size; move axes
between dimensions; gather last, when shards grow. Two rounds of these suffice for all meshes whose
axis sizes divide one another, and most others; rounds continue as long as they change anything. If
they reach no target, the dimensions that differ are gathered and sliced again. So are dimensions
whose sub-axes before and after can't coexist.

The algorithm is that of Shardy's `sdy-reshard-to-collectives`, which stops after two rounds.
"""

from __future__ import annotations

import itertools
from functools import lru_cache

from mlir_sdy.model import AxisTuple, Mesh, set_difference
from pyshardy.irtools.tensor_types import padded_size
from pyshardy.partition.resharding.planner import ReshardPlanner
from pyshardy.partition.types.steps import (
    AllGather,
    AllSlice,
    AxesPerDim,
    CollectivePermute,
    ReshardStep,
)


@lru_cache(maxsize=4096)  # layers of a model repeat
def plan_reshard(
    source: AxesPerDim,
    target: AxesPerDim,
    shape: tuple[int, ...],
    mesh: Mesh,
    *,
    reorder: bool,
) -> tuple[ReshardStep, ...]:
    """Return the collectives that convert a tensor sharded by `source` to `target`.

    Args:
        source: the axes of each dimension before, major to minor.
        target: the axes of each dimension afterwards.
        shape: the global shape.
        mesh: the mesh; only its axes matter.
        reorder: whether the target's mesh has the devices in another order, so that a permute is
            always needed.

    Examples, on a mesh of axes `a`, `b`, `c` of size 2:

    | from           | to             | chain                                |
    |----------------|----------------|--------------------------------------|
    | `[{a, b}, {}]` | `[{a}, {}]`    | gather `b`                           |
    | `[{}, {}]`     | `[{a}, {b}]`   | slice `[{a}, {b}]`                   |
    | `[{a}, {}]`    | `[{}, {a}]`    | all-to-all of `a` from 0 to 1        |
    | `[{a}, {b}]`   | `[{b}, {a}]`   | permute                              |
    | `[{a}, {}]`    | `[{}, {b}]`    | slice `[{}, {b}]`, gather `[{a}, {}]`|
    | `[{a, b}, {}]` | `[{c}, {}]`    | permute to `[{c, b}, {}]`, gather `b`|

    A dimension of size 5 that is resharded from `{a}` to `{a, b}` is gathered, and sliced again:
    padded to 6 and to 8, its shards begin at different elements.
    """
    steps = _plan(source, target, shape, mesh, reorder=reorder)
    changing = _repadded(source, target, shape, mesh)
    states = [source, *(step.result for step in steps)]
    if not any(_repadded(*pair, shape, mesh) for pair in itertools.pairwise(states)):
        return steps
    gathered = [axis for dim in sorted(changing) for axis in source[dim]]
    between = tuple(
        () if dim in changing else set_difference(axes, gathered, mesh)
        for dim, axes in enumerate(target)
    )
    first = _plan(source, between, shape, mesh, reorder=False)
    return (*first, *_plan(between, target, shape, mesh, reorder=reorder))


def _repadded(
    before: AxesPerDim, after: AxesPerDim, shape: tuple[int, ...], mesh: Mesh
) -> frozenset[int]:
    """Return the dimensions that are sharded before and after, but padded to different sizes."""
    return frozenset(
        dim
        for dim, (size, old, new) in enumerate(zip(shape, before, after, strict=True))
        if old
        and new
        and old != new
        and size >= 0
        and padded_size(size, mesh.axes_size(old)) != padded_size(size, mesh.axes_size(new))
    )


def _plan(
    source: AxesPerDim, target: AxesPerDim, shape: tuple[int, ...], mesh: Mesh, *, reorder: bool
) -> tuple[ReshardStep, ...]:
    """Plan without regard to padding."""
    fitting = _fitting(source, target)
    if fitting != source:
        gathered = tuple(axes[len(kept) :] for axes, kept in zip(source, fitting, strict=True))
        rest = _plan(fitting, target, shape, mesh, reorder=reorder)
        return (AllGather(gathered, fitting), *rest)
    planner = ReshardPlanner(source, target, shape, mesh, reorder)
    if planner.run():
        return tuple(planner.steps)
    return _gather_and_slice(source, target, reorder=reorder)


def _fitting(source: AxesPerDim, target: AxesPerDim) -> AxesPerDim:
    """Return the longest prefix of each dimension that can coexist with all target axes.

    `"u":(1)2` and `"u":(1)3`, of an axis of size 6, can't: no decomposition of the axis has both
    sub-axes.
    """
    wanted = [axis for axes in target for axis in axes]
    return tuple(
        tuple(
            itertools.takewhile(lambda axis: all(axis.can_coexist(other) for other in wanted), axes)
        )
        for axes in source
    )


def _gather_and_slice(
    source: AxesPerDim, target: AxesPerDim, *, reorder: bool
) -> tuple[ReshardStep, ...]:
    """Gather the dimensions that differ, and slice them again, which is valid for any shardings."""
    kept: list[AxisTuple] = []
    for before, after in zip(source, target, strict=True):
        common = 0
        while common < min(len(before), len(after)) and before[common] == after[common]:
            common += 1
        kept.append(before[:common])
    steps: list[ReshardStep] = []
    gathered = tuple(axes[len(rest) :] for axes, rest in zip(source, kept, strict=True))
    if any(gathered):
        steps.append(AllGather(gathered, tuple(kept)))
    if reorder:
        steps.append(CollectivePermute(tuple(kept)))
    sliced = tuple(axes[len(rest) :] for axes, rest in zip(target, kept, strict=True))
    if any(sliced):
        steps.append(AllSlice(sliced, target))
    return tuple(steps)
