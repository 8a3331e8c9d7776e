# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The axes of operations in regions, which the axes of a few of their tensors determine.

Operations of one kind have the same form and axes, and fit alike, so that a program with a hundred
layers asks once.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule, Shape, lists_overlap, sort_and_merge
from pyshardy.irtools.tensor_types import element_bytes, is_even, shape_of
from pyshardy.partition.op_facts.forms import Forms
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.planned_axes import has_planned_axes
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts

CHEAP = (
    frozenset(name for name in ELEMENTWISE_OPERATIONS if not name.startswith("sdy."))
    | {
        f"stablehlo.{name}"
        for name in ("broadcast_in_dim", "concatenate", "pad", "reduce", "reshape", "reverse")
    }
    | {"stablehlo.slice", "stablehlo.transpose"}
)
"""The operations in regions. They read and write each element a few times at most."""


class StaticTensor(NamedTuple):
    """The type of a tensor without dynamic sizes.

    Attributes:
        shape: its shape.
        element_bytes: the bytes of an element.
    """

    shape: Shape
    element_bytes: int

    @classmethod
    def of(cls, value_type: ir.Type) -> StaticTensor | None:
        """Return a type; None if it isn't a tensor with static sizes, or one without elements."""
        if not isinstance(value_type, ir.RankedTensorType):
            return None
        shape = shape_of(value_type)
        return None if any(size <= 0 for size in shape) else cls(shape, element_bytes(value_type))


@dataclass(frozen=True, slots=True, eq=False)
class OperationKind:
    """The common properties of operations that fit into regions alike.

    Attributes:
        operation: an operation of this kind.
        form: the form of the operations; None if there is no other one.
        rule: their rule.
        tensors: the types of the operands, then of the result.
        axes: the axes of these.
        factors: the axes of the factors.
        given: those of the factors that tensors have.
        reduced: the axes along which an all-reduce completes the result.
        blocked: the factors that can't be sharded.
        fits: the fits that have been found, by the axes given.
    """

    operation: ir.Operation
    form: Hashable
    rule: OpShardingRule
    tensors: Sequence[StaticTensor]
    axes: tuple[AxesPerDim, ...]
    factors: FactorAxes
    given: Mapping[int, AxisTuple]
    reduced: AxisTuple
    blocked: frozenset[int]
    fits: dict[tuple[AxesPerDim | None, ...], RegionFit | None] = field(
        default_factory=dict[tuple[AxesPerDim | None, ...], "RegionFit | None"]
    )


@dataclass(frozen=True, slots=True, eq=False)
class RegionFit:
    """The axes of an operation in a region.

    Attributes:
        kind: the kind of the operation outside of the region.
        factors: the axes of the factors.
        axes: the axes of the operands, then of the result.
        reduced: the axes along which an all-reduce completes the result.
    """

    kind: OperationKind
    factors: FactorAxes
    axes: tuple[AxesPerDim, ...]
    reduced: AxisTuple


class OperationKinds:
    """Finds the kinds of operations on a mesh, and how they fit.

    1. The operation is cheap, has one result, and no axes that a plan has chosen. Its tensors have
       static shapes, and are compatible by its rule.
    2. In a region, too, its tensors are compatible. Axes that the operation doesn't get from the
       region stay, unless they would shard two factors.
    3. Factors that must not be sharded aren't sharded in a region. A reduced factor isn't either,
       so that the all-reduce of the result goes away; or it keeps its axes, with the all-reduce.
    4. Dimensions with several factors aren't sharded, before and in a region.
    5. The axes of a tensor that changes divide its dimensions, unless the operation is elementwise.

    Args:
        mesh: the mesh.
        rules: finds the rules of operations.
    """

    def __init__(self, mesh: Mesh, rules: ShardingRuleLookup):
        self._mesh = mesh
        self._rules = rules
        self._forms = Forms(rules)
        self._kinds: dict[tuple[Hashable, Sequence[AxesPerDim], bool], OperationKind | None] = {}

    def of(
        self,
        known: OperationParts,
        axes: tuple[AxesPerDim, ...],
        *,
        is_completed: bool,
    ) -> OperationKind | None:
        """Return the kind of an operation; None if it can't be in regions.

        Args:
            known: the operation.
            axes: the axes of its operands, then of its result.
            is_completed: whether an all-reduce completes its result.
        """
        operation = known.operation
        if len(known.results) > 1 or has_planned_axes(operation):
            return None
        form = self._forms.of(known)
        return self._kind(operation, form, axes, is_completed=is_completed)

    def inside(self, operation: ir.Operation, fit: RegionFit) -> OperationKind | None:
        """Return the kind of an operation with the axes of a region."""
        return self._kind(operation, fit.kind.form, fit.axes, is_completed=bool(fit.reduced))

    def _kind(
        self,
        operation: ir.Operation,
        form: Hashable,
        axes: tuple[AxesPerDim, ...],
        *,
        is_completed: bool,
    ) -> OperationKind | None:
        if form is None:
            return self._made(operation, form, axes, is_completed=is_completed)
        key = form, axes, is_completed
        if key not in self._kinds:
            self._kinds[key] = self._made(operation, form, axes, is_completed=is_completed)
        return self._kinds[key]

    def _made(
        self,
        operation: ir.Operation,
        form: Hashable,
        axes: tuple[AxesPerDim, ...],
        *,
        is_completed: bool,
    ) -> OperationKind | None:
        rule = self._rules.rule(operation)
        if rule is None or rule.is_custom_rule:
            return None
        values = (*operation.operands, operation.results[0])
        tensors = [each for each in (StaticTensor.of(value.type) for value in values) if each]
        given = _axes_of_factors(rule, axes)
        if given is None or len(tensors) < len(axes):
            return None
        factors = tuple([given.get(factor, ()) for factor in range(rule.num_factors)])
        reduced = _reduced(rule, factors, self._mesh)
        if bool(reduced) != is_completed:
            return None  # the operation completes itself, or the user has added an all-reduce
        blocked = blocked_factors(operation, rule)
        return OperationKind(operation, form, rule, tensors, axes, factors, given, reduced, blocked)

    def fit(self, kind: OperationKind, region: tuple[AxesPerDim | None, ...]) -> RegionFit | None:
        """Return how operations of a kind fit into a region; None if they don't.

        Args:
            kind: the kind.
            region: the axes that the region gives to the operands, then the result; None for a
                tensor without them.
        """
        if region not in kind.fits:
            kind.fits[region] = self._fit(kind, region)
        return kind.fits[region]

    def _fit(self, kind: OperationKind, region: tuple[AxesPerDim | None, ...]) -> RegionFit | None:
        rule = kind.rule
        chosen = _axes_of_factors(rule, region)
        if chosen is None:
            return None
        taken = [*chosen.values()]
        for factor, axes in kind.given.items():
            if factor not in chosen:
                chosen[factor] = () if any(lists_overlap(axes, each) for each in taken) else axes
        factors = tuple([chosen.get(factor, ()) for factor in range(rule.num_factors)])
        if any(factors[factor] for factor in kind.blocked):
            return None
        reduced = _reduced(rule, factors, self._mesh)
        if reduced and any(factors[each] != kind.factors[each] for each in rule.reduction_factors):
            return None
        sharded = [axes for axes in factors if axes]
        for index, axes in enumerate(sharded):
            if any(lists_overlap(axes, other) for other in sharded[:index]):
                return None
        tensors = _axes_of_tensors(rule, factors)
        if tensors is None or not self._is_even(kind, tensors):
            return None
        return RegionFit(kind, factors, tensors, reduced)

    def _is_even(self, kind: OperationKind, tensors: tuple[AxesPerDim, ...]) -> bool:
        """Whether condition 5 holds."""
        if kind.operation.name in ELEMENTWISE_OPERATIONS:
            return True
        return all(
            old == new or is_even(tensor.shape, new, self._mesh)
            for tensor, old, new in zip(kind.tensors, kind.axes, tensors, strict=True)
        )


def _axes_of_factors(
    rule: OpShardingRule, tensors: Sequence[AxesPerDim | None]
) -> dict[int, AxisTuple] | None:
    """Return the axes of factors from those of tensors; None if these can't be compatible.

    Args:
        rule: the rule.
        tensors: the axes of the operands, then of the result; None for those that have no say.
    """
    found: dict[int, AxisTuple] = {}
    for mapping, axes in zip(rule.mappings, tensors, strict=True):
        for dim, refs in zip(mapping.dim_mappings, axes or (), strict=axes is not None):
            if len(dim.factor_indices) == 1:
                if found.setdefault(dim.factor_indices[0], refs) != refs:
                    return None
            elif refs:
                return None
    return found


def _axes_of_tensors(rule: OpShardingRule, factors: FactorAxes) -> tuple[AxesPerDim, ...] | None:
    """Return the axes of the operands, then of the result; None if condition 4 is violated."""
    tensors: list[AxesPerDim] = []
    for mapping in rule.mappings:
        dims: list[AxisTuple] = []
        for dim in mapping.dim_mappings:
            several = dim.factor_indices
            if len(several) > 1 and any(factors[factor] for factor in several):
                return None
            dims.append(factors[several[0]] if len(several) == 1 else ())
        tensors.append(tuple(dims))
    return tuple(tensors)


def _reduced(rule: OpShardingRule, factors: FactorAxes, mesh: Mesh) -> AxisTuple:
    """Return the axes along which a result is partial."""
    axes = (axis for factor in rule.reduction_factors for axis in factors[factor])
    return sort_and_merge(axes, mesh)
