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
from typing import Any

from mlir_sdy import sdy
from mlir_sdy.attributes import value_of
from mlir_sdy.host import ir
from mlir_sdy.model import (
    DimMapping,
    Mesh,
    OpShardingRule,
    PropagationDirection,
    TensorMapping,
    TensorSharding,
    add_free_axes,
    common_mesh,
    erase_manual_axes,
)
from mlir_sdy.op_classes import view_as
from mlir_sdy.values import manual_axes
from pyshardy.irtools.stablehlo_views import target_of
from pyshardy.propagation.basic import StepInputs, Strategy
from pyshardy.propagation.elementwise import ELEMENTWISE_IF_SHAPES_EQUAL, ELEMENTWISE_OPERATIONS
from pyshardy.propagation.op_priority import (
    NUM_PRIORITIES,
    PASS_THROUGH_CUSTOM_CALLS,
    PRIORITY_CLASSES,
    PriorityClass,
    directions_at,
)
from pyshardy.propagation.program import Program
from pyshardy.propagation.projection import ShardingProjection
from pyshardy.rules import ShardingRuleLookup, TensorType, identity_rule
from pyshardy.rules.own_rules import checked_own_rule

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


# --- The relation of each operation ---------------------------------------------------------------


_CUSTOM_CALL = "stablehlo.custom_call"


class RelationReader:
    """Finds the relation of each operation of a program.

    - An operation with a rule: its operands and results.
    - `sdy.propagation_barrier`: its input and result, in the direction that it allows.
    - `sdy.data_flow_edge`: the sources of its edge, and its result.
    - `stablehlo.async_done`: the values that the region of the `stablehlo.async_start` returns,
      and its results.
    - `sdy.func_data_flow_edge` on an argument of a function: the operands of all its calls, and
      the edge. On a result of a call: the returned value of the function, and the edge.
    """

    def __init__(self, program: Program, lookup: ShardingRuleLookup):
        self.table = RelationTable()
        self._program = program
        self._lookup = lookup
        # Keyed by identity: look-ups keep one object for equal rules alive.
        self._families: dict[tuple[OpShardingRule, str], RelationFamily] = {}

    def read(self) -> list[Relation | None]:
        """Return the relation of each operation, None where there is none.

        Raises:
            PassError: a type that propagation does not support, or a rule that does not fit.
        """
        relations: list[Relation | None] = []
        program, lookup = self._program, self._lookup
        type_of, slot_of = program.types.__getitem__, program.slots.__getitem__
        with_own_rule = program.with_own_rule
        rows = zip(
            program.operations, program.names, program.operands, program.results, strict=True
        )
        for number, (operation, name, operands, results) in enumerate(rows):
            special = _SPECIAL.get(name)
            if special is not None:
                relations.append(special(self, number, operands, results))
                continue
            if number in with_own_rule:
                rule = checked_own_rule(operation, name)
            else:
                rule = lookup.registered_rule(
                    operation, name, tuple(map(type_of, operands)), tuple(map(type_of, results))
                )
            if rule is None:
                relations.append(None)
                continue
            family = self._families.get((rule, name))
            if family is None:
                family = self._family(operation, name, rule)
            tensors = (*map(slot_of, operands), *map(slot_of, results))
            relations.append(Relation(family, tensors, True))
        return relations

    def function_results(self) -> list[Relation]:
        """Return for each result of the main function its relation to the returned value."""
        program = self._program
        if program.main is None:
            return []
        relations: list[Relation] = []
        returned = program.returned(program.main)
        for value, slot in zip(returned, program.function_results[program.main], strict=False):
            family = self._identity(value, 1)
            if family is not None:
                relations.append(Relation(family, (program.slots[value], slot)))
        return relations

    def _family(self, operation: ir.Operation, name: str, rule: OpShardingRule) -> RelationFamily:
        is_elementwise = name in ELEMENTWISE_OPERATIONS
        priority_class = PRIORITY_CLASSES.get(name, PriorityClass.OTHER)
        if name == ELEMENTWISE_IF_SHAPES_EQUAL:
            is_elementwise = operation.operands[0].type.shape == operation.results[0].type.shape
        elif name == _CUSTOM_CALL:
            target = target_of(operation)
            if target in PASS_THROUGH_CUSTOM_CALLS:
                priority_class = PriorityClass.PASS_THROUGH
        if is_elementwise:
            priority_class = PriorityClass.PASS_THROUGH
        family = self.table.family(
            rule,
            priority_class=priority_class,
            is_elementwise=is_elementwise,
            conservative=self._lookup.conservative,
        )
        # Calls of other targets, and casts of other shapes, may have an equal rule.
        if name not in (_CUSTOM_CALL, ELEMENTWISE_IF_SHAPES_EQUAL):
            self._families[rule, name] = family
        return family

    def _identity(
        self,
        value: int,
        num_operands: int,
        direction: PropagationDirection = PropagationDirection.BOTH,
        view: ManualView | None = None,
        *,
        is_elementwise: bool = False,
    ) -> RelationFamily | None:
        tensor = self._lookup.tensor_type(self._program.types[value])
        if tensor is None or not tensor.is_static:
            return None
        rule = identity_rule(tensor.shape, num_operands)
        return self.table.family(
            rule, direction=direction, view=view, is_elementwise=is_elementwise
        )

    def _barrier(self, number: int, operands: Sequence[int], results: range) -> Relation | None:
        operation = self._program.operations[number]
        allowed: Any = view_as(sdy.PropagationBarrierOp, operation).allowed_direction
        direction = PropagationDirection(allowed.value)
        family = self._identity(results[0], 1, direction, is_elementwise=True)
        return self._tie(family, operands, results[0])

    def _edge(self, number: int, _: Sequence[int], results: range) -> Relation | None:
        program = self._program
        edge = program.edges.get(number)
        if edge is None:
            return None
        sources = [program.operands[operation][position] for operation, position in edge.sources]
        family = self._identity(results[0], len(sources), view=self._view(edge.owner))
        return self._tie(family, sources, results[0])

    def _view(self, owner: int) -> ManualView | None:
        """Return the conversion of the sharding that an edge of a manual computation holds."""
        program = self._program
        maker = program.makers[owner]
        if program.names[maker] != "sdy.manual_computation":
            return None
        operation = program.operations[maker]
        arguments = program.arguments[maker]
        is_argument = owner in arguments
        computation = view_as(sdy.ManualComputationOp, operation)
        outer = computation.in_shardings if is_argument else computation.out_shardings
        index = (arguments if is_argument else program.results[maker]).index(owner)
        return ManualView(value_of(outer).shardings[index], manual_axes(operation), is_argument)

    def _wait(self, _: int, operands: Sequence[int], results: range) -> Relation | None:
        """Relate the results of an `async_done` to the values that the `async_start` returns."""
        program = self._program
        start = program.started_by(operands[0])
        if start is None or self._lookup.compatible:
            return None
        rule = _identities([self._lookup.tensor_type(program.types[value]) for value in results])
        if rule is None:
            return None
        slots = program.slots
        tensors = (*program.returned(start), *results)
        return Relation(self.table.family(rule), tuple(slots[value] for value in tensors))

    def _function_edge(self, _: int, operands: Sequence[int], results: range) -> Relation | None:
        program = self._program
        (source,) = operands
        maker = program.makers[source]
        if program.names[maker] == "func.func":
            index = program.arguments[maker].index(source)
            sources = [program.operands[call][index] for call in program.calls_of(maker)]
        elif program.names[maker] == "func.call":
            index = program.results[maker].index(source)
            returned = program.returned(program.callee(maker))
            sources = [returned[index]] if returned else []
        else:
            sources = [source]  # the call is inlined, or a body of its own by now
        return self._tie(self._identity(results[0], len(sources)), sources, results[0])

    def _tie(
        self, family: RelationFamily | None, sources: Sequence[int], target: int
    ) -> Relation | None:
        if family is None or not sources:
            return None
        slots = self._program.slots
        return Relation(family, tuple(slots[value] for value in (*sources, target)))


_SPECIAL = {
    "sdy.propagation_barrier": RelationReader._barrier,
    "sdy.data_flow_edge": RelationReader._edge,
    "sdy.func_data_flow_edge": RelationReader._function_edge,
    "stablehlo.async_done": RelationReader._wait,
}


def _identities(tensors: Sequence[TensorType | None]) -> OpShardingRule | None:
    """Return the rule of an operation that hands on its operands; None for other types."""
    sizes: list[int] = []
    mappings: list[TensorMapping] = []
    for tensor in tensors:
        if tensor is None or not tensor.is_static:
            return None
        first = len(sizes)
        sizes += tensor.shape
        dims = range(first, len(sizes))
        mappings.append(TensorMapping(tuple(DimMapping((factor,)) for factor in dims)))
    return OpShardingRule(tuple(sizes), tuple(mappings), tuple(mappings))
