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

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
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

Ways: TypeAlias = "dict[Place, tuple[int, Place, Joint | None]]"
"""For places the number of operations to the nearest source, the source, and the last of them."""

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


class Connections:
    """The connected dimensions of a propagated program.

    Args:
        record: the record of its propagation.
    """

    def __init__(self, record: Record):
        self._record = record
        self._nearest: dict[tuple[str, bool], Ways] = {}

    @cached_property
    def joints(self) -> Sequence[Joint]:
        """The operations and groups that connect places, in the order of the program."""
        return tuple(self._joints())

    def has_axis(self, place: Place, axis: str, *, wider: bool = False) -> bool:
        """Whether a place, or a connected one, is sharded by an axis.

        Args:
            place: the place.
            axis: the name of the axis.
            wider: whether places that an operation separates count as connected.
        """
        root = self._components(wider).root(place)
        return axis in self._axes_of_components[wider].get(root, ())

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
        return way_from(place, found)

    def ways_to(self, sources: Iterable[Place], until: Place | None = None) -> Ways:
        """Return the ways to the nearest of several places, for `way_from`.

        Args:
            sources: these places.
            until: the only place from which a way is wanted; None for all.
        """
        return self._search(sources, False, until)

    def are_near(self, places: Iterable[Place], targets: Container[Place], most: int) -> bool:
        """Whether a way of at most `most` operations leads from places to a target."""
        level = set(places)
        seen = set(level)
        for _ in range(most):
            if any(place in targets for place in level):
                return True
            joints = (joint for place in level for joint in self.joints_of(place) if joint.is_open)
            level = {place for joint in joints for place in joint.places} - seen
            seen |= level
        return any(place in targets for place in level)

    def roots(self, place: Place) -> Sequence[Place]:
        """Return the roots of a place, in the order of the program; results of functions last."""
        return self._roots.get(self._components(False).root(place), ())

    def joints_of(self, place: Place) -> Sequence[Joint]:
        """Return what connects a place to others, in the order of the program."""
        return self._joints_by_place.get(place, ())

    # --- Tables -------------------------------------------------------------------------------

    def _joints(self) -> Iterator[Joint]:
        engine = self._record.engine
        program, is_erased = engine.program, engine.is_erased
        factors: dict[RelationFamily, list[tuple[int, bool, list[tuple[int, int]]]]] = {}
        for operation, relation in enumerate(engine.relations):
            if is_erased[operation]:
                continue
            if relation is not None:
                yield from self._joints_of(operation, relation, factors)
            if relation is None or program.names[operation] == _CUSTOM_CALL:
                # Rules of custom calls leave out the dimensions that they need whole.
                yield from self._joints_without_rule(operation)
        if program.main is not None:
            for relation in engine.function_results:
                yield from self._joints_of(program.main, relation, factors)
        for slot, members in self._record.groups.items():
            for member in members:
                if member > slot:
                    for dim in range(program.rank(slot)):
                        yield Joint(None, ((slot, dim), (member, dim)), True)

    def _joints_of(
        self,
        operation: int,
        relation: Relation,
        factors: dict[RelationFamily, list[tuple[int, bool, list[tuple[int, int]]]]],
    ) -> Iterator[Joint]:
        of_family = factors.get(relation.family)
        if of_family is None:
            of_family = factors[relation.family] = self._factors_of(relation.family)
        tensors = relation.tensors
        for factor, is_open, dims in of_family:
            places = tuple(
                (tensors[position], dim) for position, dim in dims if tensors[position] != NOWHERE
            )
            yield Joint(operation, places, is_open, factor)

    def _factors_of(self, family: RelationFamily) -> list[tuple[int, bool, list[tuple[int, int]]]]:
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

    def _components(self, wider: bool) -> _Components:
        return self._wider_components if wider else self._open_components

    @cached_property
    def _open_components(self) -> _Components:
        return _Components(each.places for each in self.joints if each.is_open)

    @cached_property
    def _wider_components(self) -> _Components:
        return _Components(each.places for each in self.joints)

    @cached_property
    def _axes_of_components(self) -> tuple[dict[Place, set[str]], dict[Place, set[str]]]:
        """The axes that shard places of a component, by its root; with wider connections second."""
        axes: tuple[defaultdict[Place, set[str]], ...] = defaultdict(set), defaultdict(set)
        for place, names in self._axes_of_places.items():
            for wider, found in enumerate(axes):
                found[self._components(bool(wider)).root(place)].update(names)
        return axes[0], axes[1]

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

    @cached_property
    def _joints_by_place(self) -> dict[Place, list[Joint]]:
        found: defaultdict[Place, list[Joint]] = defaultdict(list)
        for joint in self.joints:
            for place in dict.fromkeys(joint.places):
                found[place].append(joint)
        return found

    @cached_property
    def _roots(self) -> dict[Place, list[Place]]:
        """The roots of each component, by the place that stands for it."""
        engine = self._record.engine
        program, components = engine.program, self._components(False)
        continued = {
            place
            for joint in self.joints
            if joint.is_open and joint.operation is not None
            for place in self._made_by(joint)
        }
        found: defaultdict[Place, list[Place]] = defaultdict(list)
        for slot in (
            *dict.fromkeys(program.slots[1:]),
            *range(program.num_values, len(engine.state)),
        ):
            maker = program.makers[slot]
            if slot == NOWHERE or maker < 0 or engine.is_erased[maker]:
                continue
            tensor = self._record.tensor_type(slot)
            for dim in range(0 if tensor is None else tensor.rank):
                if (slot, dim) not in continued:
                    found[components.root((slot, dim))].append((slot, dim))
        return found

    def _made_by(self, joint: Joint) -> Iterator[Place]:
        """Yield the places of a joint in results of its operation that an operand has, too."""
        program = self._record.engine.program
        made = [place for place in joint.places if self._is_made_by(place[0], joint.operation)]
        if len(made) < len(joint.places):
            yield from (place for place in made if not program.is_result_of_function(place[0]))

    def _is_made_by(self, slot: int, operation: int | None) -> bool:
        program = self._record.engine.program
        maker = program.makers[slot]
        return maker == operation and program.names[maker] != "func.func"

    def _search(self, sources: Iterable[Place], wider: bool, until: Place | None = None) -> Ways:
        """Return for each connected place the distance to the nearest source, and the way there.

        All places are reached at once, level by level: the first source wins among those at the
        same distance.
        """
        level = {place: place for place in sources}
        found: Ways = {place: (0, place, None) for place in level}
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


def way_from(place: Place, found: Ways) -> Connection | None:
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


class _Components:
    """Sets of connected places, by a place that stands for each: union and find."""

    def __init__(self, joints: Iterator[tuple[Place, ...]]):
        self._above: dict[Place, Place] = {}
        for places in joints:
            first = self.root(places[0]) if places else None
            for place in places[1:]:
                other = self.root(place)
                if first is not None and other != first:
                    first, other = min(first, other), max(first, other)
                    self._above[other] = first

    def root(self, place: Place) -> Place:
        """Return the place that stands for the component of a place."""
        above = self._above
        root = place
        while (higher := above.get(root)) is not None:
            root = higher
        while place != root:  # shorten the way for the next ones
            above[place], place = root, above[place]
        return root
