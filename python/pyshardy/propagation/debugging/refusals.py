# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Refusals: axes of one tensor that did not propagate to another tensor of the operation."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir_sdy.model import (
    AxisRef,
    AxisTuple,
    Mesh,
    OpShardingRule,
    PropagationDirection,
    TensorSharding,
    common_prefix,
    is_strict_prefix,
    prefix_without_overlap,
)
from pyshardy.propagation.basic import propagate_basic, within_factor, without_other_factors
from pyshardy.propagation.projection import ShardingProjection, TensorProjection
from pyshardy.propagation.relation import RelationKind


class RefusalReason(enum.Enum):
    """Reason of a refusal. The value is a predicate about the blocker, or a sentence."""

    DIRECTION = "axes may not propagate in this direction along the factor"
    CONFLICT = "is sharded differently along the factor"
    CLOSED = "is closed in this dimension"
    REPLICATED = "keeps the axis replicated"
    UNREDUCED = "is unreduced along the axis"
    IN_USE = "uses the axis along another dimension"
    OVERFLOW = "has axes in this dimension that do not divide it evenly"
    SIZE = "has a size in this dimension that the axis does not divide"
    PART_OF_AXIS = "conservative propagation does not split axes"
    ELSEWHERE = "did not take the axis, and operands of this operation only take axes of the result"
    NOT_EXPRESSIBLE = "would need a strided sharding, which shardings cannot express"
    MESH = "the tensors of this operation are on different meshes"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An axis that a tensor has along a factor, and that did not come to another one.

    Tensors are positions: the operands of the operation first, then its results.

    Attributes:
        factor: the factor.
        axis: the first of the source's axes that the target does not get.
        source: the tensor that has it.
        target: the tensor that does not get it.
        reason: the reason.
        blocker: the tensor that causes the refusal; None if no single tensor does.
        is_next: whether it is the axis that would come next, if the blocker didn't refuse it; not
            one behind it, or one of a tensor with fewer axes along the factor.
    """

    factor: int
    axis: AxisRef
    source: int
    target: int
    reason: RefusalReason
    blocker: int | None = None
    is_next: bool = True


def refusals(
    kind: RelationKind,
    before: ShardingProjection,
    after: ShardingProjection,
    updated: set[int],
    mesh: Mesh,
) -> Iterator[Refusal]:
    """Yield the refusals of a step: for each tensor and factor the axes that other tensors have.

    The first one of each tensor and factor is the next axis of the tensor with most axes along the
    factor. The others follow it.

    Args:
        kind: the kind of the operation's relation in this run.
        before: the shardings of its tensors before the step.
        after: the shardings that the strategy computed.
        updated: the tensors whose new sharding could be expressed.
        mesh: the mesh of all tensors.
    """
    judge = _Judge(kind, before, after, mesh)
    longest = _longest_by_factor(before)
    for target, tensor in enumerate(after.tensors):
        for factor in tensor.factors:
            source = next((each for each in longest.get(factor, ()) if each != target), None)
            if source is None:
                continue
            wanted, has = before.tensors[source].axes(factor), tensor.axes(factor)
            if target not in updated and has != before.tensors[target].axes(factor):
                axis = has[len(before.tensors[target].axes(factor)) :][:1] or has[-1:]
                yield Refusal(
                    factor, axis[0], source, target, RefusalReason.NOT_EXPRESSIBLE, target
                )
                continue
            first: Refusal | None = None
            shared = common_prefix(has, wanted)
            if shared != wanted:
                # It may end with a sub-axis of the axis in question.
                ends_with_full_axis = shared == wanted[: len(shared)]
                shared = shared if ends_with_full_axis else shared[:-1]
                axis = wanted[len(shared)]
                reason, blocker = judge.verdict(factor, axis, shared, source, target)
                first = Refusal(factor, axis, source, target, reason, blocker)
                yield first
            known = [*has] if first is None else [*has, first.axis]
            for other in (source, *range(len(before.tensors))):
                for axis in () if other == target else before.tensors[other].axes(factor):
                    if any(each.overlaps(axis) for each in known):
                        continue
                    known.append(axis)
                    reason, blocker = RefusalReason.CONFLICT, target if has else source
                    if first is not None and other == source:  # it comes after the first one
                        reason, blocker = first.reason, first.blocker
                    yield Refusal(factor, axis, other, target, reason, blocker, is_next=False)


def refusals_of_meshes(
    rule: OpShardingRule, shardings: Sequence[TensorSharding | None]
) -> Iterator[Refusal]:
    """Yield refusals for lack of a common mesh: for each tensor one axis of another one.

    Args:
        rule: the rule of the operation.
        shardings: the shardings of its tensors.
    """
    for target, mapping in enumerate(rule.mappings):
        for source, factor, axis in _leading_axes(rule, shardings):
            if source != target and mapping.contains_factor(factor):
                yield Refusal(factor, axis, source, target, RefusalReason.MESH)
                break


def _leading_axes(
    rule: OpShardingRule, shardings: Sequence[TensorSharding | None]
) -> Iterator[tuple[int, int, AxisRef]]:
    """Yield the first axis of each dimension, with its tensor and the major factor."""
    for position, (mapping, sharding) in enumerate(zip(rule.mappings, shardings, strict=True)):
        dims = () if sharding is None else sharding.dim_shardings
        for dim_mapping, dim in zip(mapping.dim_mappings, dims, strict=False):
            if dim.axes:
                yield position, dim_mapping.factor_indices[0], dim.axes[0]


def _longest_by_factor(projection: ShardingProjection) -> dict[int, list[int]]:
    """Return for each factor the tensors in the order of the lengths of their lists of axes.

    Of several with equally many axes, the first one counts. Those without axes are left out.
    """
    found: dict[int, list[int]] = {}
    for position, tensor in enumerate(projection.tensors):
        for factor in tensor.factors:
            count = len(tensor.axes(factor))
            best = found.setdefault(factor, [])
            at = sum(len(projection.tensors[each].axes(factor)) >= count for each in best)
            if count and at < 2:
                found[factor] = [*best[:at], position, *best[at:]][:2]
    return found


@dataclass(frozen=True, slots=True)
class _Judge:
    """Determines the reason of a refusal: the first of these that applies.

    1. Axes may not flow from the source at all.
    2. The target, or another tensor, has other axes along the factor.
    3. The target can't take the axis.
    4. It is a sub-axis, and propagation is conservative.
    5. Another tensor can't take it: with the basic strategy any one; with the aggressive one a
       result, if the operation is element-wise and the target an operand.
    6. The compatible axes of the tensors end before it.
    """

    kind: RelationKind
    before: ShardingProjection
    after: ShardingProjection
    mesh: Mesh

    def verdict(
        self, factor: int, axis: AxisRef, shared: AxisTuple, source: int, target: int
    ) -> tuple[RefusalReason, int | None]:
        if not self._may_flow(factor, source):
            return RefusalReason.DIRECTION, None
        wanted = (*shared, axis)
        for position in (target, *range(len(self.before.tensors))):
            axes = self.before.tensors[position].axes(factor)
            is_compatible = axes[: len(wanted)] == wanted or wanted[: len(axes)] == axes
            if not is_compatible and not is_strict_prefix(axes, wanted):
                return RefusalReason.CONFLICT, position
        reason = self._objection(factor, axis, shared, target)
        if reason is not None:
            return reason, target
        if self.kind.conservative and axis.sub_axis_info is not None:
            return RefusalReason.PART_OF_AXIS, None
        is_basic = self.kind.strategy is propagate_basic
        for position in self._others_with_a_say(target, is_basic):
            reason = self._objection(factor, axis, shared, position)
            if reason is not None:
                return (reason if is_basic else RefusalReason.ELSEWHERE), position
        return RefusalReason.CONFLICT, None

    def _others_with_a_say(self, target: int, is_basic: bool) -> range:
        count, num_operands = len(self.before.tensors), self.before.num_operands
        if is_basic:
            return range(count)
        is_bounded = self.kind.is_elementwise and target < num_operands
        return range(num_operands, count) if is_bounded else range(0)

    def _may_flow(self, factor: int, source: int) -> bool:
        direction = self.kind.directions[factor]
        if source < self.before.num_operands:
            return bool(direction & PropagationDirection.FORWARD)
        return bool(direction & PropagationDirection.BACKWARD)

    def _objection(
        self, factor: int, axis: AxisRef, shared: AxisTuple, position: int
    ) -> RefusalReason | None:
        """Return the reason why a tensor can't take the axis; None if it can."""
        tensor = self.after.tensors[position]
        if without_other_factors(tensor, factor, axis) != axis:
            return RefusalReason.IN_USE
        if factor not in tensor.factors or axis in tensor.axes(factor):
            return None
        size = self.kind.rule.factor_sizes[factor]
        fitting = within_factor(tensor, factor, size, axis, self.mesh.axes_size(shared), self.mesh)
        return None if fitting == axis else _own_reason(tensor, factor, axis)


def _own_reason(tensor: TensorProjection, factor: int, axis: AxisRef) -> RefusalReason:
    if prefix_without_overlap(axis, tensor.replicated_axes) != axis:
        return RefusalReason.REPLICATED
    if prefix_without_overlap(axis, tensor.unreduced_axes) != axis:
        return RefusalReason.UNREDUCED
    if tensor.factors[factor].overflow_axes:
        return RefusalReason.OVERFLOW
    return RefusalReason.CLOSED if tensor.factors[factor].is_closed else RefusalReason.SIZE
