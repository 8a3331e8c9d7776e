# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reason why a tensor is, or isn't, sharded by an axis: one of a closed list, for each axis.

For a tensor and an axis the first of these conditions holds that does:

1. `manual`: the tensor is inside a manual computation over the axis.
2. `changed later`: propagation sharded the tensor by the axis, and a later pass removed it.
3. `sharded`: the axis shards a dimension of the tensor.
4. `unreduced`: the tensor is unreduced along the axis.
5. `indivisible`: no dimension can carry the axis: its size is 1, or what is left of it is not
   divided by the size of the axis.
6. `given`, `constrained`: all dimensions that could carry the axis are closed, or the axis is in
   `replicated`; by an annotation on the tensor itself, or by a constraint, a manual computation, a
   sharding group or a barrier.
7. `refused`: along a factor, another tensor of an operation has the axis, and this one did not take
   it.
8. `reduced`: the operation that makes the tensor sums over a dimension that the axis shards.
9. `needs replication`: only operations that need a dimension whole, or have no sharding rule, are
   between the tensor and a connected one with the axis (see `connections`).
10. `unoffered`: no neighbor has the axis along a dimension of the tensor.

Asked about one dimension, the same holds for that dimension alone, and `elsewhere` is the answer if
the axis shards another one.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from mlir_sdy.model import AxisRef, Mesh, TensorSharding
from pyshardy.propagation.debugging.axis_chains import dim_of
from pyshardy.propagation.debugging.connections import Connection, Connections, Place
from pyshardy.propagation.debugging.record import Record
from pyshardy.propagation.debugging.refusals import Refusal
from pyshardy.propagation.debugging.refusals import RefusalReason as Refused
from pyshardy.propagation.program import NOWHERE, SHARDING_GROUP
from pyshardy.propagation.relation import Relation

_CONSTRAINT = "sdy.sharding_constraint"
_BARRIER = "sdy.propagation_barrier"
NAMED_COMPUTATION = "sdy.named_computation"
_MANUAL_COMPUTATION = "sdy.manual_computation"
_OF_ITSELF = frozenset({Refused.CLOSED, Refused.REPLICATED, Refused.UNREDUCED})
"""Refusals that follow from the sharding that the program gives to a tensor."""


class ReasonKind(str, enum.Enum):
    """The kind of a reason; see the table of this module."""

    SHARDED = "sharded"
    GIVEN = "given"
    CONSTRAINED = "constrained"
    REDUCED = "reduced"
    UNREDUCED = "unreduced"
    ELSEWHERE = "elsewhere"
    REFUSED = "refused"
    UNOFFERED = "unoffered"
    INDIVISIBLE = "indivisible"
    NEEDS_REPLICATION = "needs replication"
    MANUAL = "manual"
    CHANGED_LATER = "changed later"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class AxisReason:
    """The reason why a tensor is, or isn't, sharded by an axis.

    Attributes:
        slot: the tensor.
        axis: the name of the axis.
        kind: the kind of the reason.
        dims: the dimensions that it is about: those that the axis shards, or could shard.
        operation: the number of the operation that causes it; None if no single one does.
        refusal: the refusal by that operation; only for `refused`.
        relation: what the refusal is about.
        sources: the operands that share the axis; only for `reduced`.
    """

    slot: int
    axis: str
    kind: ReasonKind
    dims: tuple[int, ...] = ()
    operation: int | None = None
    refusal: Refusal | None = None
    relation: Relation | None = None
    sources: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Frontier:
    """The places from which an axis that no neighbor offers could come.

    Attributes:
        nearest: the way to the nearest connected place with the axis; None if there is none.
        summed: the reason of the nearest connected tensor that is a sum over the axis; None if
            there is none, if `nearest` is there, or if a closed argument is as near.
        roots: the roots of the dimensions, by dimension (see `connections`).
    """

    nearest: Connection | None
    summed: AxisReason | None
    roots: Mapping[int, Sequence[Place]]


class ReasonFinder:
    """Finds the reasons of a propagated program; remembers what they have in common.

    Args:
        record: the record of the propagation.
        written: the sharding that the user wrote on a tensor itself; None if there is none. By
            default, each sharding from before the propagation counts as written.
        final: the sharding of a tensor after all passes. By default that after propagation.
    """

    def __init__(
        self,
        record: Record,
        written: Callable[[int], TensorSharding | None] | None = None,
        final: Callable[[int], TensorSharding | None] | None = None,
    ):
        self.record = record
        self._written = written or record.given
        self._final = final or record.engine.sharding
        self._known: dict[tuple[int, str, int | None], AxisReason] = {}
        self._sums: dict[str, frozenset[Place]] = {}
        self._refusals_of: dict[int, list[tuple[int, Refusal, Relation]]] = {}

    @cached_property
    def connections(self) -> Connections:
        """The connected dimensions of the program."""
        return Connections(self.record)

    def sharding(self, slot: int) -> TensorSharding | None:
        """Return the sharding of a tensor after all passes."""
        return self._final(slot)

    def mesh(self, slot: int) -> Mesh | None:
        """Return the mesh of a tensor: that of its sharding, else the first of the program."""
        engine = self.record.engine
        sharding = self._final(slot) or engine.sharding(slot)
        meshes = engine.program.meshes
        if sharding is None:
            return next((mesh for mesh in meshes.values() if mesh.axes), None)
        written = sharding.mesh_or_ref
        return meshes.get(written) if isinstance(written, str) else written

    def axes(self, slot: int) -> tuple[str, ...]:
        """Return the names of the axes of a tensor's mesh that have several devices."""
        mesh = self.mesh(slot)
        return () if mesh is None else tuple(axis.name for axis in mesh.axes if axis.size > 1)

    def reason(self, slot: int, axis: str, dim: int | None = None) -> AxisReason:
        """Return why a tensor is, or isn't, sharded by an axis.

        Args:
            slot: the tensor, of rank 1 or more.
            axis: the name of an axis of its mesh.
            dim: the dimension in question; None for any.
        """
        key = slot, axis, dim
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(slot, axis, dim)
        return known

    def frontier(self, reason: AxisReason) -> Frontier:
        """Return where the axis of a tensor that isn't sharded by it could come from."""
        places = [(reason.slot, dim) for dim in reason.dims]
        ways = [self.connections.nearest(place, reason.axis) for place in places]
        nearest = min(filter(None, ways), key=lambda way: len(way.places), default=None)
        roots = {place[1]: self.connections.roots(place) for place in places}
        summed = None if nearest is not None else self._nearest_sum(places, reason.axis)
        return Frontier(nearest, summed, roots)

    def size(self, slot: int, axis: str) -> int:
        """Return the number of devices along an axis of a tensor's mesh."""
        mesh = self.mesh(slot)
        return 1 if mesh is None else AxisRef(axis).size(mesh)

    def free_sizes(self, slot: int) -> tuple[int, ...]:
        """Return the size of a shard in each dimension; 1 where it isn't even."""
        shape, mesh, sharding = self.shape(slot), self.mesh(slot), self._final(slot)
        if mesh is None or sharding is None or sharding.rank != len(shape):
            return shape  # on a single device, a sharding has no dimensions
        taken = (dim.sharded_size(mesh) for dim in sharding.dim_shardings)
        return tuple(
            1 if size % count else size // count for size, count in zip(shape, taken, strict=True)
        )

    def refusal(self, slot: int, axis: str, operation: int) -> AxisReason | None:
        """Return why a tensor did not take an axis in an operation; None if it isn't offered."""
        for at, refusal, relation in self.record.still_refused(slot, every=True):
            if at == operation and refusal.axis.name == axis:
                dim = dim_of(relation.family.rule, refusal.target, refusal.factor)
                kind = ReasonKind.REFUSED
                return AxisReason(slot, axis, kind, (dim,), operation, refusal, relation)
        return None

    def is_port(self, slot: int) -> bool:
        """Whether a tensor is an argument or a result of a function."""
        program = self.record.engine.program
        return program.names[program.makers[slot]] == "func.func"

    def operand_of_call(self, slot: int) -> int:
        """Return the operand of a call that a tensor in its body stands for; others as they are.

        One that the body, or a named computation, gives a sharding of its own stands for itself.
        """
        program, given = self.record.engine.program, self.record.given
        while (self._written(slot) or given(slot)) is None and (
            edge := program.edges.get(program.makers[slot])
        ):
            (call, position), *_ = edge.sources
            is_argument = edge.owner in program.arguments.get(program.makers[edge.owner], ())
            if not is_argument or program.names[call] != NAMED_COMPUTATION:
                break
            slot = program.slots[program.operands[call][position]]
        return slot

    def maker(self, slot: int) -> int:
        """Return the operation of which a tensor is a result or an inner argument."""
        program = self.record.engine.program
        edge = program.edges.get(program.makers[slot])
        return program.makers[slot if edge is None else edge.owner]

    # --- Conditions ---------------------------------------------------------------------------

    def _find(self, slot: int, axis: str, dim: int | None) -> AxisReason:
        sharding, after = self._final(slot), self.record.engine.sharding(slot)
        computation = self._manual.get(self.record.engine.program.makers[slot], {}).get(axis)
        if computation is not None and self._is_inside(slot, computation):
            return AxisReason(slot, axis, ReasonKind.MANUAL, (), computation)
        shards, before = dims_with(sharding, axis), dims_with(after, axis)
        if before and not shards:
            return AxisReason(slot, axis, ReasonKind.CHANGED_LATER, before)
        if shards:
            is_elsewhere = dim is not None and dim not in shards
            kind = ReasonKind.ELSEWHERE if is_elsewhere else ReasonKind.SHARDED
            return AxisReason(slot, axis, kind, shards)
        if sharding is not None and any(each.name == axis for each in sharding.unreduced_axes):
            maker = self.record.engine.program.makers[slot]
            return AxisReason(slot, axis, ReasonKind.UNREDUCED, (), maker)
        return self._of_replicated(slot, axis, dim)

    def _of_replicated(self, slot: int, axis: str, dim: int | None) -> AxisReason:
        shape = self.shape(slot)
        asked = range(len(shape)) if dim is None else (dim,)
        able = [each for each in asked if self.can_carry(slot, each, axis)]
        if not able:
            return AxisReason(slot, axis, ReasonKind.INDIVISIBLE, tuple(asked))
        given = self.record.given(slot)
        is_kept = given is not None and any(each.name == axis for each in given.replicated_axes)
        closed = [each for each in able if given is not None and _is_closed(given, each)]
        if is_kept or len(closed) == len(able):
            return self._closed(slot, axis, tuple(able))
        refused = self.refused_in(slot, axis, able)
        if refused is not None and refused.kind is not ReasonKind.INDIVISIBLE:
            return refused
        reduced = self.sum_of(slot, axis)
        if reduced is not None:
            return reduced
        if refused is not None:
            return refused
        opened = [each for each in able if each not in closed]
        return self._unoffered(slot, axis, tuple(opened))

    def can_carry(self, slot: int, dim: int, axis: str) -> bool:
        """Whether the size of a dimension, as it is sharded now, is divided by the axis."""
        return self.free_sizes(slot)[dim] % self.size(slot, axis) == 0

    def _closed(self, slot: int, axis: str, dims: tuple[int, ...]) -> AxisReason:
        """Return the reason of a tensor whose dimensions are closed from the beginning."""
        program = self.record.engine.program
        maker, written = self.maker(slot), self._written(slot)
        holds = program.names[maker] in (_CONSTRAINT, _MANUAL_COMPUTATION)
        if holds or (program.names[maker] == NAMED_COMPUTATION and written is None):
            return AxisReason(slot, axis, ReasonKind.CONSTRAINED, dims, maker)
        if written is not None and (
            any(each.name == axis for each in written.replicated_axes)
            or any(_is_closed(written, dim) for dim in dims)
        ):
            return AxisReason(slot, axis, ReasonKind.GIVEN, dims)
        holder = next(iter(self._holders.get(slot, ())), None)
        kind = ReasonKind.GIVEN if holder is None else ReasonKind.CONSTRAINED
        return AxisReason(slot, axis, kind, dims, holder)

    def refused_in(self, slot: int, axis: str, able: Sequence[int]) -> AxisReason | None:
        """Return the decisive refusal: refusals by annotations come before refusals by sizes.

        Args:
            slot: the tensor.
            axis: the name of the axis.
            able: the dimensions in question.

        Returns:
            None if no other tensor has the axis along a factor of these dimensions.
        """
        found: list[tuple[tuple[int, int], AxisReason]] = []
        refusals = self._refusals_of.get(slot)
        if refusals is None:
            refusals = self._refusals_of[slot] = self.record.still_refused(slot, every=True)
        for number, (operation, refusal, relation) in enumerate(refusals):
            if refusal.axis.name != axis:
                continue
            dim = dim_of(relation.family.rule, refusal.target, refusal.factor)
            if dim not in able:
                continue
            is_of_size = refusal.reason in (Refused.SIZE, Refused.OVERFLOW)
            reason = AxisReason(
                slot, axis, ReasonKind.REFUSED, (dim,), operation, refusal, relation
            )
            found.append(((is_of_size + 2 * (not refusal.is_next), number), reason))
        return min(found, key=lambda each: each[0])[1] if found else None

    def sum_of(self, slot: int, axis: str) -> AxisReason | None:
        """Return the reason of a sum over a dimension that an axis shards; None if it is none.

        Args:
            slot: the tensor, which the operation in question makes.
            axis: the name of the axis.
        """
        engine = self.record.engine
        maker = engine.program.makers[slot]
        relation = engine.relations[maker] if maker >= 0 else None
        if relation is None or engine.program.is_result_of_function(slot):
            return None
        rule = relation.family.rule
        if slot not in relation.tensors[len(rule.operand_mappings) :]:
            return None
        sources: list[int] = []
        for factor in rule.reduction_factors:
            for position, mapping in enumerate(rule.operand_mappings):
                sharding = engine.sharding(relation.tensors[position])
                if sharding is None or not mapping.contains_factor(factor):
                    continue
                dim = dim_of(rule, position, factor)
                if any(each.name == axis for each in sharding.dim_axes[dim]):
                    sources.append(relation.tensors[position])
        if not sources:
            return None
        return AxisReason(slot, axis, ReasonKind.REDUCED, (), maker, None, relation, tuple(sources))

    def _unoffered(self, slot: int, axis: str, dims: tuple[int, ...]) -> AxisReason:
        connections = self.connections
        places = [(slot, dim) for dim in dims]
        if not any(connections.has_axis(place, axis) for place in places):
            for place in places:
                if connections.has_axis(place, axis, wider=True):
                    operation = self._separator(place, axis)
                    name = "" if operation is None else self.record.engine.program.names[operation]
                    kind = (
                        ReasonKind.CONSTRAINED if name == _BARRIER else ReasonKind.NEEDS_REPLICATION
                    )
                    return AxisReason(slot, axis, kind, (place[1],), operation)
        return AxisReason(slot, axis, ReasonKind.UNOFFERED, dims)

    def _separator(self, place: Place, axis: str) -> int | None:
        """Return the operation that separates a place from the nearest one with an axis."""
        way = self.connections.nearest(place, axis, wider=True)
        assert way is not None, "the wider connections have the axis"
        return next((joint.operation for joint in way.joints if not joint.is_open), None)

    def _nearest_sum(self, places: Sequence[Place], axis: str) -> AxisReason | None:
        """Return the reason of the nearest connected tensor that is a sum over an axis."""
        sums = self._sums.get(axis)
        if sums is None:
            sums = self._sums[axis] = self._places_of_sums(axis)
        found = (self.connections.first_of(place, sums) for place in places)
        nearest = min(filter(None, found), key=itemgetter(0), default=None)
        if nearest is None:
            return None
        distance, (slot, _) = nearest
        closed = (self.connections.first_of(each, self._closed_ports, distance) for each in places)
        if any(closed):
            return None  # a closed argument is as near, or nearer
        return self.sum_of(slot, axis)

    def _places_of_sums(self, axis: str) -> frozenset[Place]:
        """Return the dimensions of all tensors that are sums over an axis."""
        engine = self.record.engine
        return frozenset(
            (slot, dim)
            for operation, relation in enumerate(engine.relations)
            if relation is not None and not engine.is_erased[operation]
            if relation.family.rule.reduction_factors
            for slot in relation.tensors[len(relation.family.rule.operand_mappings) :]
            if self.sum_of(slot, axis) is not None
            for dim in range(len(self.shape(slot)))
        )

    # --- Tables -------------------------------------------------------------------------------

    @cached_property
    def _closed_ports(self) -> frozenset[Place]:
        """The dimensions of arguments and results of functions that the program closes."""
        return frozenset(
            (slot, dim)
            for slot in tensors_of(self.record)
            if self.is_port(slot) and (given := self.record.given(slot)) is not None
            for dim in range(given.rank)
            if _is_closed(given, dim)
        )

    def shape(self, slot: int) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        tensor = self.record.tensor_type(slot)
        return () if tensor is None else tensor.shape

    def _is_inside(self, slot: int, computation: int) -> bool:
        """Whether a tensor is inside a manual computation, and not a result of it."""
        program = self.record.engine.program
        maker = program.makers[slot]
        edge = program.edges.get(maker)
        owner = slot if edge is None else edge.owner
        maker = program.makers[owner]
        return maker != computation or owner in program.arguments.get(computation, ())

    @cached_property
    def _manual(self) -> dict[int, dict[str, int]]:
        """The manual computation around or at each operation by the names of its axes."""
        program = self.record.engine.program
        found: dict[int, dict[str, int]] = {}
        for number, name in enumerate(program.names):
            if name == _MANUAL_COMPUTATION and not self.record.engine.is_erased[number]:
                axes = dict.fromkeys(self.record.manual_axes(number), number)
                for each in (number, *program.inside(number)):
                    found[each] = {**found.get(each, {}), **axes}
                for holder, edge in program.edges.items():
                    if program.makers[edge.owner] == number:
                        found[holder] = {**found.get(holder, {}), **axes}
        return found

    @cached_property
    def _holders(self) -> dict[int, list[int]]:
        """The operations whose shardings the tensors took before propagation."""
        program = self.record.engine.program
        found: dict[int, list[int]] = {}
        for number, name in enumerate(program.names):
            if name in (_CONSTRAINT, _MANUAL_COMPUTATION, SHARDING_GROUP):
                for operand in program.operands[number]:
                    if program.slots[operand] != NOWHERE:
                        found.setdefault(program.slots[operand], []).append(number)
        return found


def tensors_of(record: Record) -> Iterator[int]:
    """Yield the tensors of a program of rank 1 or more, in its order; results of functions last.

    Tensors that share a sharding, as those of a loop, are one.
    """
    engine = record.engine
    program = engine.program
    for slot in dict.fromkeys(program.slots):
        if slot == NOWHERE or program.rank(slot) == 0:
            continue
        maker = program.makers[slot]
        if not engine.is_erased[maker]:
            yield slot
    for slot in range(program.num_values, len(engine.state)):
        tensor = record.tensor_type(slot)
        if tensor is not None and tensor.rank:
            yield slot


def dims_with(sharding: TensorSharding | None, axis: str) -> tuple[int, ...]:
    """Return the dimensions that an axis, or a part of it, shards."""
    dims = () if sharding is None else sharding.dim_axes
    return tuple(dim for dim, axes in enumerate(dims) if any(each.name == axis for each in axes))


def _is_closed(sharding: TensorSharding, dim: int) -> bool:
    return sharding.dim_shardings[dim].is_closed
