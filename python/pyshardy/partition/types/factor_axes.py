# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Choice of the axes of each factor of an operation, as in Shardy.

Propagation may leave operands and results of an operation sharded differently along a factor.
The partitioner chooses one list of axes per factor and reshards the tensors that differ.
Global tensor sizes are the only measure of cost. Three methods are tried in order:

A. *Compatible*: each factor has the same axes in all tensors that have it, factors that need
   replication have none, and no axis shards two factors. Nothing changes.
B. *Unary*: only two tensors have dimensions, nothing needs replication and no dimension has
   several factors. The better tensor keeps its axes, and the other one is resharded.
C. *Greedy*: candidates are ranked by the size of the tensors that have them already.

The algorithm is that of Shardy's `sdy-insert-explicit-reshards`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mlir_sdy.model import (
    AxisTuple,
    FactorType,
    Mesh,
    OpShardingRule,
    Shape,
    add_or_merge,
    axis_list_key,
    is_strict_prefix,
    lists_overlap,
    sort_and_merge,
    truncate_by_removing_overlaps,
)
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.projection import ShardingProjection, TensorProjection

FactorAxes = tuple[AxisTuple, ...]
"""The axes of each factor of an operation."""


def axes_of_tensors(rule: OpShardingRule, axes: FactorAxes, mesh: Mesh) -> tuple[AxesPerDim, ...]:
    """Return the axes of all dimensions of operands, then results, by the axes of the factors.

    Sub-axes of consecutive factors of a dimension are merged.
    """

    def merged(factors: tuple[int, ...]) -> AxisTuple:
        if len(factors) < 2:
            return axes[factors[0]] if factors else ()
        joined: AxisTuple = ()
        for axis in itertools.chain.from_iterable(axes[factor] for factor in factors):
            joined = add_or_merge(joined, axis, mesh)
        return joined

    return tuple(
        tuple([merged(dim.factor_indices) for dim in mapping.dim_mappings])
        for mapping in rule.mappings
    )


def contracted_axes(rule: OpShardingRule, axes: Sequence[AxisTuple], mesh: Mesh) -> AxisTuple:
    """Return the axes along which results are partial, by the axes of the factors."""
    return sort_and_merge(
        (axis for factor in rule.reduction_factors for axis in axes[factor]), mesh
    )


def are_disjoint(lists: Iterable[AxisTuple]) -> bool:
    """Whether no two lists have overlapping axes, or sub-axes that can't coexist."""
    return not any(
        lists_overlap(axes, others)
        or not all(axis.can_coexist(other) for axis in axes for other in others)
        for axes, others in itertools.combinations(filter(None, lists), 2)
    )


_PRECEDENCE = {
    FactorType.PASS_THROUGH: 3,
    FactorType.REDUCTION: 2,
    FactorType.PERMUTATION: 1,
    FactorType.NEED_REPLICATION: 0,
}


def choose_factor_axes(
    rule: OpShardingRule,
    projection: ShardingProjection,
    shapes: Sequence[Shape],
    mesh: Mesh,
) -> FactorAxes:
    """Return the axes for each factor of the rule.

    Args:
        rule: the sharding rule of the operation.
        projection: the shardings of its operands and results by factors.
        shapes: the global shapes of operands and results; negative sizes are dynamic.
        mesh: the mesh of all shardings.

    Example: a matrix product `[i, k], [k, j] -> [i, j]` whose operands are sharded along `k` by
    `{"x"}` and `{}`: the greedy method gives `k` the axis if the first operand is no smaller
    than the second, as `"x"` is the only candidate, and the second operand is resharded.
    """
    compatible = compatible_axes(rule, projection)
    if compatible is not None:
        return compatible
    unary = _unary_axes(rule, projection, shapes, mesh)
    if unary is not None:
        return unary
    axes = _greedy_axes(rule, projection, shapes, mesh)
    if rule.need_replication_factors:
        _free_replicated_factors(rule, axes, mesh)
    return tuple(axes)


# --- Method A -------------------------------------------------------------------------------


def compatible_axes(rule: OpShardingRule, projection: ShardingProjection) -> FactorAxes | None:
    """Return the axes of each factor; None if they differ between tensors."""
    chosen: list[AxisTuple] = []
    for factor in range(rule.num_factors):
        lists = {tensor.axes(factor) for tensor in projection.having(factor)}
        if len(lists) > 1:
            return None
        chosen.append(lists.pop() if lists else ())
    if any(chosen[factor] for factor in rule.need_replication_factors):
        return None
    for factor, axes in enumerate(chosen):
        if any(lists_overlap(axes, other) for other in chosen[:factor]):
            return None
    return tuple(chosen)


# --- Method B -------------------------------------------------------------------------------


def _unary_axes(
    rule: OpShardingRule,
    projection: ShardingProjection,
    shapes: Sequence[Shape],
    mesh: Mesh,
) -> tuple[AxisTuple, ...] | None:
    tensors = rule.non_scalar_tensor_indices
    if len(tensors) != 2 or rule.need_replication_factors or rule.has_dims_with_several_factors:
        return None

    def preference(index: int) -> tuple[bool, int, int]:
        tensor = projection.tensors[index]
        permuted = any(tensor.axes(factor) for factor in rule.permutation_factors)
        return not permuted, _num_elements(shapes[index]), _num_shards(tensor, mesh)

    first, second = tensors
    preferred, other = (
        (first, second) if preference(first) >= preference(second) else (second, first)
    )
    kept, following = projection.tensors[preferred], projection.tensors[other]
    used = [axis for sharding in kept.factors.values() for axis in sharding.axes]
    return tuple(
        kept.axes(factor)
        if factor in kept.factors
        else truncate_by_removing_overlaps(following.axes(factor), used)
        for factor in range(rule.num_factors)
    )


def _num_elements(shape: Shape) -> int:
    """Return the number of elements of a tensor; 0 if it is unknown."""
    return 0 if any(size < 0 for size in shape) else math.prod(shape)


def _num_shards(tensor: TensorProjection, mesh: Mesh) -> int:
    return math.prod(mesh.axes_size(sharding.axes) for sharding in tensor.factors.values())


# --- Method C -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Candidate:
    """A list of axes that a factor could have.

    Attributes:
        total: the elements of all tensors whose factor has these axes, or begins with them.
        gain: the number of shards that each current shard of the factor would be split into.
    """

    factor: int
    axes: AxisTuple
    total: int
    gain: int


def _greedy_axes(
    rule: OpShardingRule,
    projection: ShardingProjection,
    shapes: Sequence[Shape],
    mesh: Mesh,
) -> list[AxisTuple]:
    """Assign the axes of the best candidate repeatedly, until no candidate is left.

    1. Candidates are all non-empty prefixes of the axes of each factor in each tensor.
    2. A candidate is skipped while its factor follows, in some dimension, a factor that is not
       fully
       sharded: its axes would be strided.
    3. The best has the largest total, then the strongest kind of factor (pass-through,
       reduction, permutation, need-replication), gain, factor index and axis list.
    4. Other candidates of the factor remain if they extend its axes; those of other factors are
       truncated where they overlap them, and are dropped if nothing new is left.
    """
    assigned: list[AxisTuple] = [()] * rule.num_factors
    waits_for = _dependencies(rule)
    candidates = _candidates(projection, shapes, mesh)
    while True:
        eligible = [candidate for candidate in candidates if not waits_for[candidate.factor]]
        if not eligible:
            return assigned
        best = max(
            eligible,
            key=lambda candidate: (
                candidate.total,
                _PRECEDENCE[rule.factor_type(candidate.factor)],
                candidate.gain,
                candidate.factor,
                axis_list_key(candidate.axes),
            ),
        )
        assigned[best.factor] = best.axes
        if mesh.axes_size(best.axes) == rule.factor_sizes[best.factor]:
            for factors in waits_for:
                factors.discard(best.factor)
        candidates = [
            candidate
            for candidate in candidates
            if candidate is not best and _is_left(candidate, best, assigned, mesh)
        ]


def _dependencies(rule: OpShardingRule) -> list[set[int]]:
    """Return the factors that directly precede each factor in a dimension."""
    waits_for: list[set[int]] = [set() for _ in range(rule.num_factors)]
    for mapping in rule.mappings:
        for dim in mapping.dim_mappings:
            factors = dim.factor_indices
            for major, minor in itertools.pairwise(factors):
                waits_for[minor].add(major)
    return waits_for


def _candidates(
    projection: ShardingProjection, shapes: Sequence[Shape], mesh: Mesh
) -> list[_Candidate]:
    found: dict[tuple[int, AxisTuple], _Candidate] = {}
    for tensor in projection.tensors:
        for factor, sharding in tensor.factors.items():
            for length in range(1, len(sharding.axes) + 1):
                axes = sharding.axes[:length]
                found.setdefault((factor, axes), _Candidate(factor, axes, 0, mesh.axes_size(axes)))
    for candidate in found.values():
        for tensor, shape in zip(projection.tensors, shapes, strict=True):
            axes = tensor.axes(candidate.factor)
            if axes == candidate.axes or is_strict_prefix(candidate.axes, axes):
                candidate.total += _num_elements(shape)
    return list(found.values())


def _is_left(
    candidate: _Candidate, best: _Candidate, assigned: Sequence[AxisTuple], mesh: Mesh
) -> bool:
    """Adapt `candidate` to the choice of `best`; return whether it remains a candidate."""
    own = assigned[candidate.factor]
    if candidate.factor == best.factor:
        if not is_strict_prefix(own, candidate.axes):
            return False
        candidate.gain = mesh.axes_size(candidate.axes) // mesh.axes_size(own)
        return True
    axes = truncate_by_removing_overlaps(candidate.axes, best.axes)
    if axes == candidate.axes:
        candidate.gain = mesh.axes_size(axes)
        return True
    candidate.axes = axes
    if not is_strict_prefix(own, axes):
        return False
    candidate.gain = mesh.axes_size(axes) // mesh.axes_size(own)
    return True


def _free_replicated_factors(rule: OpShardingRule, axes: list[AxisTuple], mesh: Mesh) -> None:
    """Remove the axes of factors that need replication, and assign them to batching factors.

    Only axes of a factor that all tensors have can move, in order and not split, to batching
    factors that they divide, in order; the others are dropped.
    """
    batching = [factor for factor in range(rule.num_factors) if rule.is_batching_factor(factor)]
    for factor in rule.need_replication_factors:
        freed, axes[factor] = list(axes[factor]), ()
        in_all_tensors = all(
            rule.mappings[index].contains_factor(factor) for index in rule.non_scalar_tensor_indices
        )
        if not (freed and in_all_tensors):
            continue
        for target in batching:
            size, num_shards = rule.factor_sizes[target], mesh.axes_size(axes[target])
            if size == 0 or size % num_shards:
                continue
            capacity = size // num_shards
            while freed and capacity % freed[0].size(mesh) == 0:
                capacity //= freed[0].size(mesh)
                axes[target] = add_or_merge(axes[target], freed.pop(0), mesh)
