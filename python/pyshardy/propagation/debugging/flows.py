# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flows of a propagation step: the axes that each tensor gained, and from which tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mlir_sdy.model import AxisRef, AxisTuple, Mesh, OpShardingRule, PrefixStatus, prefix_status
from pyshardy.propagation.projection import ShardingProjection


@dataclass(frozen=True, slots=True)
class AxisFlow:
    """Axes that a tensor gained along one factor.

    Tensors are positions: the operands of the operation first, then its results.

    Attributes:
        factor: the factor.
        axes: the gained axes. A sub-axis that was extended appears in its extended form, also
            where it continues the axis of the preceding factor in the same dimension.
        source: the first tensor that had all these axes along the factor before the step; None if
            several tensors contributed them.
        target: the tensor that gained them.
        dim: the dimension of the target that has the factor.
    """

    factor: int
    axes: AxisTuple
    source: int | None
    target: int
    dim: int


def flows(
    rule: OpShardingRule, old: ShardingProjection, new: ShardingProjection, mesh: Mesh
) -> Iterator[AxisFlow]:
    """Yield the gains of the tensors between two projections, by operand, dimension and factor.

    Args:
        rule: the rule of the operation.
        old: the shardings of its tensors before the step.
        new: those after it.
        mesh: the mesh of both.
    """
    for target, mapping in enumerate(rule.mappings):
        before, after = old.tensors[target], new.tensors[target]
        for dim, dim_mapping in enumerate(mapping.dim_mappings):
            previous: AxisTuple = ()
            for factor in dim_mapping.factor_indices:
                had, has = before.axes(factor), after.axes(factor)
                if had != has:
                    gained = _gained(had, has, previous, mesh)
                    yield AxisFlow(factor, gained, _source(old, factor, has), target, dim)
                previous = has


def _gained(had: AxisTuple, has: AxisTuple, previous: AxisTuple, mesh: Mesh) -> AxisTuple:
    kept = len(had)
    if kept and had[-1] != has[kept - 1]:
        kept -= 1
    gained = has[kept:]
    if gained and previous:
        gained = (*gained[:-1], _merged(previous[-1], gained[-1], mesh))
    return gained


def _merged(previous: AxisRef, axis: AxisRef, mesh: Mesh) -> AxisRef:
    return previous.merge(axis, mesh) if previous.can_merge(axis) else axis


def _source(old: ShardingProjection, factor: int, axes: AxisTuple) -> int | None:
    for position, tensor in enumerate(old.tensors):
        if (
            factor in tensor.factors
            and prefix_status(axes, tensor.axes(factor)) is not PrefixStatus.NOT
        ):
            return position
    return None
