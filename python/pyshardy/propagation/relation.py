# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Relations between the shardings of several tensors, and steps of propagation through them.

A *relation* is a rule and the tensors that it relates: the operands and results of an operation, a
returned value and the result of its function, the sources and the target of a data-flow edge.
Programs are repetitive, so relations that differ only in their tensors share a *family*. A
step depends on the strategy, on the directions that the operation's priority allows, and on the
shardings of the tensors. It is computed once for each combination of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mlir_sdy.model import (
    Mesh,
    OpShardingRule,
    PropagationDirection,
    TensorSharding,
    add_free_axes,
    common_mesh,
    erase_manual_axes,
)
from pyshardy.propagation.basic import StepInputs, Strategy
from pyshardy.propagation.op_priority import NUM_PRIORITIES, PriorityClass, directions_at
from pyshardy.propagation.projection import ShardingProjection

Updates = tuple[tuple[int, int], ...]
"""Changes of a step: positions of tensors in the relation, and the numbers of new shardings."""

ALL_PRIORITIES = NUM_PRIORITIES - 1
"""The priority at which the rules alone restrict the directions of axes."""


class ShardingTable:
    """Numbers for shardings, so that states are compared and looked up as tuples of integers.

    0 means no sharding.
    """

    def __init__(self) -> None:
        self._shardings: list[TensorSharding | None] = [None]
        self._numbers: dict[TensorSharding | None, int] = {None: 0}

    def number(self, sharding: TensorSharding | None) -> int:
        """Return the number of a sharding."""
        number = self._numbers.get(sharding)
        if number is None:
            number = self._numbers[sharding] = len(self._shardings)
            self._shardings.append(sharding)
        return number

    def __getitem__(self, number: int) -> TensorSharding | None:
        return self._shardings[number]


@dataclass(frozen=True, slots=True)
class ManualView:
    """Conversion between the sharding of a manual computation's edge and that of its source.

    The edge of an argument holds the sharding inside of the body, but its source is outside; with
    the edge of a result it is the other way round.

    Attributes:
        outer: the sharding in `in_shardings` or `out_shardings`.
        manual_axes: the manual axes of the computation.
        is_argument: whether the edge belongs to an argument.
    """

    outer: TensorSharding
    manual_axes: tuple[str, ...]
    is_argument: bool

    def seen(self, held: TensorSharding) -> TensorSharding:
        """Return the sharding on the side of the source, given the one that the edge holds."""
        return self._outside(held) if self.is_argument else self._inside(held)

    def held(self, seen: TensorSharding) -> TensorSharding:
        """Return the sharding that the edge holds, given the one on the side of the source."""
        return self._inside(seen) if self.is_argument else self._outside(seen)

    def _inside(self, sharding: TensorSharding) -> TensorSharding:
        return erase_manual_axes(sharding, self.manual_axes)

    def _outside(self, sharding: TensorSharding) -> TensorSharding:
        return add_free_axes(self.outer, sharding, self.manual_axes)


@dataclass(eq=False, slots=True)
class RelationKind:
    """Properties of relations that determine their steps in one run.

    Attributes:
        rule: the sharding rule of the tensors.
        strategy: the strategy that selects the axes to propagate.
        directions: the directions in which axes may flow along each factor.
        conservative: whether only full axes are propagated.
        is_elementwise: whether the operation computes element by element.
        view: the conversion of the last tensor's sharding, if any.
        outcomes: the changes of steps from the shardings seen so far.
    """

    rule: OpShardingRule
    strategy: Strategy
    directions: tuple[PropagationDirection, ...]
    conservative: bool
    is_elementwise: bool
    view: ManualView | None
    outcomes: dict[tuple[int, ...], Updates] = field(default_factory=dict[tuple[int, ...], Updates])


@dataclass(eq=False, slots=True)
class RelationFamily:
    """Properties shared by relations of equal behavior.

    Attributes:
        rule: the sharding rule of the tensors.
        priority_class: the behavior of the operation under operation priorities.
        direction: the directions in which axes may flow at most.
        conservative: whether only full axes are propagated.
        is_elementwise: whether the operation computes element by element.
        view: the conversion of the last tensor's sharding, if any.
        kinds: the kinds for the strategies, priorities and counts of uses seen so far.
    """

    rule: OpShardingRule
    priority_class: PriorityClass
    direction: PropagationDirection
    conservative: bool
    is_elementwise: bool
    view: ManualView | None
    kinds: dict[tuple[Strategy, int, bool], RelationKind | None] = field(
        default_factory=dict[tuple[Strategy, int, bool], "RelationKind | None"]
    )

    @property
    def depends_on_uses(self) -> bool:
        """Whether steps at priority 0 depend on the number of uses of the operands."""
        return self.priority_class in (PriorityClass.PASS_THROUGH, PriorityClass.DYNAMIC_SLICE)


@dataclass(eq=False, slots=True)
class Relation:
    """Tensors related by a sharding rule.

    Attributes:
        family: the properties shared with other relations.
        tensors: the slots of the tensors: operands first, then results.
        is_of_rule: whether it comes from the rule of an operation instead of an edge.
    """

    family: RelationFamily
    tensors: tuple[int, ...]
    is_of_rule: bool = False


class RelationTable:
    """The families and kinds that occur, as distinct objects."""

    def __init__(self) -> None:
        self._families: dict[object, RelationFamily] = {}
        self._kinds: dict[object, RelationKind] = {}

    @property
    def families(self) -> Iterable[RelationFamily]:
        """All families seen so far."""
        return self._families.values()

    def family(
        self,
        rule: OpShardingRule,
        *,
        priority_class: PriorityClass = PriorityClass.ALWAYS,
        direction: PropagationDirection = PropagationDirection.BOTH,
        conservative: bool = False,
        is_elementwise: bool = False,
        view: ManualView | None = None,
    ) -> RelationFamily:
        """Return the family with these properties."""
        key = rule, priority_class, direction, conservative, is_elementwise, view
        family = self._families.get(key)
        if family is None:
            family = self._families[key] = RelationFamily(*key)
        return family

    def kind(
        self, family: RelationFamily, strategy: Strategy, priority: int, single_use: bool
    ) -> RelationKind | None:
        """Return the kind of a family's relations in one run; None if nothing flows through them.

        Args:
            family: the family.
            strategy: the strategy of the run.
            priority: its priority.
            single_use: whether each operand is a scalar or has no other use.
        """
        key = strategy, priority, single_use
        if key not in family.kinds:
            family.kinds[key] = self._find_kind(family, *key)
        return family.kinds[key]

    def _find_kind(
        self, family: RelationFamily, strategy: Strategy, priority: int, single_use: bool
    ) -> RelationKind | None:
        rule = family.rule
        allowed = directions_at(rule, family.priority_class, priority, single_use)
        directions = tuple(direction.intersection(family.direction) for direction in allowed)
        if not any(directions):
            return None
        key = (
            rule,
            strategy,
            directions,
            family.conservative,
            family.is_elementwise,
            family.view,
        )
        kind = self._kinds.get(key)
        if kind is None:
            kind = self._kinds[key] = RelationKind(*key)
        return kind


@dataclass(slots=True)
class Trace:
    """A step with all its details.

    Attributes:
        mesh: the common mesh of the shardings.
        shardings: the shardings of the tensors before the step, after conversion by the view.
        after: the projection that the strategy computed.
        updates: the new shardings of the tensors that change, before conversion by the view.
    """

    mesh: Mesh
    shardings: list[TensorSharding | None]
    after: ShardingProjection
    updates: dict[int, TensorSharding]

    def before(self, rule: OpShardingRule) -> ShardingProjection:
        """The projection before the strategy ran."""
        return ShardingProjection.of(rule, self.shardings, self.mesh)


class Stepper:
    """Computes steps: the changes that follow from the shardings of a relation's tensors."""

    def __init__(self, table: ShardingTable, meshes: Mapping[str, Mesh]):
        self._table = table
        self._meshes = meshes

    def step(self, kind: RelationKind, state: tuple[int, ...]) -> Updates:
        """Return the changes of a step, computed once for each kind and state.

        1. The shardings must have a common mesh, which has axes; otherwise nothing changes.
        2. The strategy expands their projection.
        3. A tensor is updated if it was expanded and its sharding by dimensions differs from the
           one it had; a first sharding must have axes. It is written with the name of the mesh
           that the first sharding on a mesh with axes has.
        """
        updates = kind.outcomes[state] = self._step(kind, state)
        return updates

    def shardings(self, kind: RelationKind, state: Sequence[int]) -> list[TensorSharding | None]:
        """Return the shardings of a state, after conversion by the view."""
        shardings = [self._table[number] for number in state]
        if kind.view is not None and (held := shardings[-1]) is not None:
            shardings[-1] = kind.view.seen(held)
        return shardings

    def trace(self, kind: RelationKind, state: Sequence[int]) -> Trace | None:
        """Return a step with all its details; None if there is no common mesh."""
        if not any(state):
            return None
        shardings = self.shardings(kind, state)
        written = common_mesh(shardings, self._meshes)
        mesh = self._meshes.get(written) if isinstance(written, str) else written
        if written is None or mesh is None or not mesh.axes:
            return None
        rule = kind.rule
        after = ShardingProjection.of(rule, shardings, mesh)
        inputs = StepInputs(
            kind.directions, rule.factor_sizes, mesh, kind.conservative, kind.is_elementwise
        )
        expanded = kind.strategy(after, inputs)
        updates: dict[int, TensorSharding] = {}
        for position in sorted(expanded):
            old, new = shardings[position], after.sharding(rule, position, written, mesh)
            if new != old and not (old is None and new.is_fully_replicated):
                updates[position] = new
        return Trace(mesh, shardings, after, updates)

    def _step(self, kind: RelationKind, state: tuple[int, ...]) -> Updates:
        trace = self.trace(kind, state)
        if trace is None:
            return ()
        if kind.view is not None and (seen := trace.updates.get(len(state) - 1)) is not None:
            trace.updates[len(state) - 1] = kind.view.held(seen)
        return tuple(
            (position, self._table.number(sharding)) for position, sharding in trace.updates.items()
        )
