# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Connections between the dimensions of a program: where an axis could have come from.

1. A *place* is a dimension of a tensor. Two places are connected if they have a factor of one
   operation in common, along which axes may flow: the rows of `%0 = tanh(%x)` and of `%x`, the
   contracted dimension of both operands of a product. Edges of data flow, results of functions and
   sharding groups connect like operations.
2. A factor along which nothing may flow, and an operation without a rule, separate places. The
   *wider* connections include them: an operation without a rule is taken to connect dimensions of
   equal number and size, and so is a custom call along dimensions that its rule does not connect.
3. The *nearest* place with an axis is that at the least number of operations; of several ones the
   first in the program.
4. The *roots* of a place are the connected places at which a dimension begins or ends: arguments
   and results of functions, and results of operations none of whose operands has the dimension,
   such as constants, and dimensions that a broadcast adds.

In `%y = dot(%x, %w); %z = tanh(%y)` the roots of dimension 1 of `%z` are dimension 1 of `%w` and of
the function's result.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from mlir_sdy.model import PropagationDirection
from mlir_sdy.values import ASYNC_DONE, ASYNC_START, DATA_FLOW_OPERATIONS
from pyshardy.propagation.debugging.record import Record
from pyshardy.propagation.program import NOWHERE, TERMINATORS
from pyshardy.propagation.relation import Relation, RelationFamily

Place = tuple[int, int]
"""A tensor, by its slot, and a dimension."""

_Ways: TypeAlias = "dict[Place, tuple[int, Place, Joint | None]]"
"""For places the number of operations to the nearest source, the source, and the last of them."""

_Factor: TypeAlias = "tuple[int, bool, list[tuple[int, int]]]"
"""A factor that several tensors have: whether axes may flow along it, and in which dimensions."""

_CUSTOM_CALL = "stablehlo.custom_call"

_STRUCTURE = frozenset({"func.call", "func.func", ASYNC_DONE, ASYNC_START})
"""Operations without a rule whose values are connected by edges, or aren't."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Places that one operation connects.

    Attributes:
        operation: the number of the operation; None for a sharding group.
        places: the places.
        is_open: whether axes may flow between them.
        factor: the factor of the operation's rule; None without one.
    """

    operation: int | None
    places: tuple[Place, ...]
    is_open: bool
    factor: int | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """The way from a place to the nearest one with an axis.

    Attributes:
        places: the places on the way; the last one has the axis.
        joints: what connects each to the next one.
    """

    places: tuple[Place, ...]
    joints: tuple[Joint, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """Connected places, with all that are connected to them.

    Attributes:
        places: the places.
        axes: the axes that shard some of them.
        roots: the roots among them; none of wider connections.
    """

    places: Set[Place]
    axes: Set[str]
    roots: Sequence[Place]


class Connections:
    """The connected dimensions of a propagated program, found when they are asked for.

    Args:
        record: the record of its propagation.
    """

    def __init__(self, record: Record):
        self._record = record
        self._nearest: dict[tuple[str, bool], _Ways] = {}
        self._factors: dict[RelationFamily, list[_Factor]] = {}
        self._of_rules: dict[int, list[Joint]] = {}
        self._joints: dict[Place, list[Joint]] = {}
        self._parts: tuple[dict[Place, _Part], ...] = {}, {}
        """The part of each place that was asked for, and that of wider connections."""

    def has_axis(self, place: Place, axis: str, *, wider: bool = False) -> bool:
        """Whether a place, or a connected one, is sharded by an axis.

        Args:
            place: the place.
            axis: the name of the axis.
            wider: whether places that an operation separates count as connected.
        """
        return axis in self._part(place, wider).axes

    def nearest(self, place: Place, axis: str, *, wider: bool = False) -> Connection | None:
        """Return the way to the nearest place with an axis; None if there is none.

        Args:
            place: the place.
            axis: the name of the axis.
            wider: whether places that an operation separates count as connected.
        """
        if not self.has_axis(place, axis, wider=wider):
            return None
        found = self._nearest.get((axis, wider))
        if found is None:
            sources = (place for place, axes in self._axes_of_places.items() if axis in axes)
            found = self._nearest[axis, wider] = self._search(sources, wider)
        return _way_from(place, found)

    def way(self, place: Place, end: Place) -> Connection | None:
        """Return the way from one place to another; None if there is none."""
        return _way_from(place, self._search([end], False, place))

    def first_of(
        self, place: Place, targets: Set[Place], most: float = math.inf
    ) -> tuple[int, Place] | None:
        """Return the nearest of some places, after the number of operations on the way there.

        None if no way of at most `most` operations leads from `place` to one.
        """
        if targets.isdisjoint(self._part(place, False).places):
            return None
        level, seen, distance = {place}, {place}, 0
        while targets.isdisjoint(level):
            distance += 1
            if distance > most:
                return None
            joints = (joint for each in level for joint in self.joints_of(each) if joint.is_open)
            level = {each for joint in joints for each in joint.places} - seen
            seen |= level
        return distance, min(level & targets)

    def roots(self, place: Place) -> Sequence[Place]:
        """Return the roots of a place, in the order of the program; results of functions last."""
        return self._part(place, False).roots

    def joints_of(self, place: Place) -> Sequence[Joint]:
        """Return what connects a place to others, in the order of the program."""
        known = self._joints.get(place)
        if known is None:
            operations = dict.fromkeys(self._record.engine.relations_of(place[0]))
            of_rules = itertools.chain.from_iterable(map(self._joints_of_rule, operations))
            known = [joint for joint in of_rules if place in joint.places]
            if (others := self._other_joints.get(place)) is not None:
                known = sorted([*known, *others], key=self._order)
            self._joints[place] = known
        return known

    # --- Parts of the program -----------------------------------------------------------------

    def _part(self, place: Place, wider: bool) -> _Part:
        """Return the places that are connected to a place."""
        parts, axes = self._parts[wider], self._axes_of_places
        part = parts.get(place)
        if part is None:
            places, waiting = {place}, [place]
            while waiting:
                for joint in self.joints_of(waiting.pop()):
                    if joint.is_open or wider:
                        for each in joint.places:
                            if each not in places:
                                places.add(each)
                                waiting.append(each)
            found = set[str]().union(*(axes[each] for each in places & axes.keys()))
            roots = () if wider else sorted(filter(self._is_root, places), key=self._place_in_text)
            part = _Part(places, found, roots)
            parts.update(dict.fromkeys(places, part))
        return part

    def _is_root(self, place: Place) -> bool:
        """Whether a dimension begins or ends at a place."""
        engine, slot = self._record.engine, place[0]
        makers = engine.program.makers
        maker = makers[slot]
        if slot == NOWHERE or maker < 0 or engine.is_erased[maker]:
            return False
        return engine.program.names[maker] == "func.func" or not any(
            joint.is_open
            and joint.operation == maker
            and any(makers[each] != maker for each, _ in joint.places)
            for joint in self.joints_of(place)
        )

    def _place_in_text(self, place: Place) -> tuple[int, int]:
        slot, dim = place
        return self._first_values.get(slot, slot), dim

    @cached_property
    def _first_values(self) -> dict[int, int]:
        """The first value of each tensor that several share."""
        found: dict[int, int] = {}
        for value, slot in enumerate(self._record.engine.program.slots):
            if value != slot:
                found.setdefault(slot, min(value, slot))
        return found

    # --- Joints -------------------------------------------------------------------------------

    def _joints_of_rule(self, operation: int) -> Sequence[Joint]:
        """Return what the rule of an operation connects."""
        known = self._of_rules.get(operation)
        if known is None:
            engine = self._record.engine
            relation = None if engine.is_erased[operation] else engine.relations[operation]
            known = [] if relation is None else list(self._joints_of(operation, relation))
            self._of_rules[operation] = known
        return known

    def _order(self, joint: Joint) -> float:
        is_last = joint.operation in (None, self._record.engine.program.main)
        return math.inf if is_last else joint.operation or 0

    @cached_property
    def _other_joints(self) -> Mapping[Place, Sequence[Joint]]:
        """The joints by place of operations without a rule, results of functions, and groups."""
        found: defaultdict[Place, list[Joint]] = defaultdict(list)
        for joint in self._without_rules():
            for place in dict.fromkeys(joint.places):
                found[place].append(joint)
        return found

    def _without_rules(self) -> Iterator[Joint]:
        engine = self._record.engine
        program, is_erased = engine.program, engine.is_erased
        for operation, relation in enumerate(engine.relations):
            # Rules of custom calls leave out the dimensions that they need whole.
            is_without = relation is None or program.names[operation] == _CUSTOM_CALL
            if is_without and not is_erased[operation]:
                yield from self._joints_without_rule(operation)
        if program.main is not None:
            for relation in engine.function_results:
                yield from self._joints_of(program.main, relation)
        for slot, members in self._record.groups.items():
            for member in members:
                if member > slot:
                    for dim in range(program.rank(slot)):
                        yield Joint(None, ((slot, dim), (member, dim)), True)

    def _joints_of(self, operation: int, relation: Relation) -> Iterator[Joint]:
        of_family = self._factors.get(relation.family)
        if of_family is None:
            of_family = self._factors[relation.family] = self._factors_of(relation.family)
        tensors = relation.tensors
        for factor, is_open, dims in of_family:
            places = tuple(
                [(tensors[position], dim) for position, dim in dims if tensors[position] != NOWHERE]
            )
            yield Joint(operation, places, is_open, factor)

    def _factors_of(self, family: RelationFamily) -> list[_Factor]:
        """Return the factors that several tensors have, and in which dimensions."""
        rule = family.rule
        dims: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for position, mapping in enumerate(rule.mappings):
            for dim, dim_mapping in enumerate(mapping.dim_mappings):
                for factor in dim_mapping.factor_indices:
                    dims[factor].append((position, dim))
        kind = self._record.final_kind(family)
        return [
            (
                factor,
                kind is not None and kind.directions[factor] is not PropagationDirection.NONE,
                places,
            )
            for factor, places in sorted(dims.items())
            if len(places) > 1 and rule.factor_sizes[factor] != 1
        ]

    def _joints_without_rule(self, operation: int) -> Iterator[Joint]:
        program = self._record.engine.program
        name = program.names[operation]
        if name in TERMINATORS or name in DATA_FLOW_OPERATIONS or name in _STRUCTURE:
            return
        operands, results = program.operands[operation], program.results[operation]
        if not operands or not results or name.startswith("sdy."):
            return
        places: defaultdict[tuple[int, int], list[Place]] = defaultdict(list)
        for value in (*operands, *results):
            tensor = program.tensor_type(value)
            if tensor is not None and program.slots[value] != NOWHERE:
                for dim, size in enumerate(tensor.shape):
                    places[dim, size].append((program.slots[value], dim))
        for (_, size), alike in places.items():
            if len(alike) > 1 and size != 1:
                yield Joint(operation, tuple(alike), False)

    @cached_property
    def _axes_of_places(self) -> dict[Place, set[str]]:
        engine = self._record.engine
        found: dict[Place, set[str]] = {}
        for slot, sharding in engine.given_shardings():
            if engine.is_erased[engine.program.makers[slot]]:
                continue
            for dim, axes in enumerate(sharding.dim_axes):
                if axes:
                    found[slot, dim] = {axis.name for axis in axes}
        return found

    def _search(self, sources: Iterable[Place], wider: bool, until: Place | None = None) -> _Ways:
        """Return for each connected place the distance to the nearest source, and the way there.

        All places are reached at once, level by level: the first source wins among those at the
        same distance.
        """
        level = {place: place for place in sources}
        found: _Ways = {place: (0, place, None) for place in level}
        passed: set[int] = set()
        distance = 0
        while level and until not in found:
            distance += 1
            through: dict[int, tuple[Place, Joint]] = {}
            for place, source in level.items():
                for joint in self.joints_of(place):
                    if (joint.is_open or wider) and id(joint) not in passed:
                        known = through.get(id(joint))
                        if known is None or source < known[0]:
                            through[id(joint)] = source, joint
            passed.update(through)
            following: dict[Place, tuple[Place, Joint]] = {}
            for source, joint in through.values():
                for place in joint.places:
                    if place not in found:
                        known = following.get(place)
                        if known is None or source < known[0]:
                            following[place] = source, joint
            for place, (source, joint) in following.items():
                found[place] = distance, source, joint
            level = {place: source for place, (source, _) in following.items()}
        return found


def _way_from(place: Place, found: _Ways) -> Connection | None:
    """Return the way from a place to its nearest source."""
    if place not in found:
        return None
    places, joints = [place], list[Joint]()
    while (joint := found[place][2]) is not None:
        step = found[place][0] - 1
        before = (each for each in joint.places if each in found and found[each][0] == step)
        place = min((found[each][1], each) for each in before)[1]
        places.append(place)
        joints.append(joint)
    return Connection(tuple(places), tuple(joints))
