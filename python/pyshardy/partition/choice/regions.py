# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions of operations whose tensors could have other axes.

A reshard from `[{}, {"x"}]` to `[{"x"}, {}]` can move across the operations before or after it:

    %1 = stablehlo.slice %0 [0:8, 0:4]      // [{}, {"x"}]; a halo exchange
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]>

In `[{"x"}, {}]` the slice sends nothing. Its operand needs these axes, too, and through it the
operation that defines the operand, and its other users. These operations are a region.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from mlir_sdy.fold.pattern import has_one_use
from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule, Shape, lists_overlap, mesh_of
from mlir_sdy.values import get_sharding
from pyshardy.irtools.tensor_types import is_even, shape_of
from pyshardy.partition.partial.blocked_factors import blocked_factors
from pyshardy.partition.resharding.region_boundary import is_made_by_each_device, is_plain, maker_of
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.planned_axes import has_planned_axes
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules import ShardingRuleLookup

_ALL_REDUCE = "sdy.all_reduce"
_MOST_STEPS = 32

Keyed = tuple[int, ir.Operation]
"""An operation after the identity of its first result; an all-reduce after that of its operand."""


class _Tensor(NamedTuple):
    """A tensor that can be in regions.

    Attributes:
        key: its identity.
        shape: its shape.
        kind: the identity of its type.
        axes: the axes of each dimension.
    """

    key: int
    shape: Shape
    kind: int
    axes: AxesPerDim


@dataclass(frozen=True, slots=True)
class RegionOperation:
    """An operation that can be in regions, read once.

    Attributes:
        operation: the operation.
        rule: its rule.
        all_reduce: the all-reduce that completes its result, if there is one.
        values: its operands, then the complete result.
        keys: the identities of these values.
        users: the operations that use the complete result.
        shapes: their shapes.
        kind: the name, the identity of the rule, whether there is no all-reduce, and the identities
            of the types of the values.
        blocked: the factors that must not be sharded.
        factors: the axes of each factor.
        axes: the axes of each value.
    """

    operation: ir.Operation
    rule: OpShardingRule
    all_reduce: ir.Operation | None
    values: Sequence[ir.Value]
    keys: Sequence[int]
    users: Sequence[Keyed]
    shapes: Sequence[Shape]
    kind: tuple[str | int, ...]
    blocked: frozenset[int]
    factors: FactorAxes
    axes: Sequence[AxesPerDim]

    @property
    def result(self) -> ir.Value:
        """The complete result."""
        return self.values[-1]

    def axes_by(self, factors: FactorAxes) -> list[AxesPerDim]:
        """Return the axes of each value, for axes of the factors."""
        return [
            tuple(
                factors[dim.factor_indices[0]] if len(dim.factor_indices) == 1 else ()
                for dim in mapping.dim_mappings
            )
            for mapping in self.rule.mappings
        ]

    def reduced(self, factors: FactorAxes) -> AxisTuple:
        """Return the axes along which the result is partial."""
        return tuple(axis for factor in self.rule.reduction_factors for axis in factors[factor])


@dataclass(frozen=True, slots=True)
class Member:
    """An operation in a region.

    Attributes:
        own: the operation, as it is.
        factors: the axes of each factor in the region.
        axes: the axes of the operands, then of the complete result, in the region.
    """

    own: RegionOperation
    factors: FactorAxes
    axes: Sequence[AxesPerDim]

    @property
    def is_completed(self) -> bool:
        """Whether the result is completed in the region."""
        return bool(self.own.reduced(self.factors))


@dataclass(slots=True)
class Region:
    """Operations of a block, with other axes of their tensors.

    Attributes:
        mesh_or_ref: the mesh in the shardings of all tensors.
        mesh: the mesh.
        members: the operations, by the identity of their results.
        after: the axes of their tensors in the region, by the identity of the value.
        defined: the identities of the complete results of the operations.
    """

    mesh_or_ref: str | Mesh
    mesh: Mesh
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    after: dict[int, AxesPerDim] = field(default_factory=dict[int, AxesPerDim])
    defined: set[int] = field(default_factory=set[int])

    def copy(self) -> Region:
        """Return a copy, which doesn't grow with the region."""
        return replace(self, members=dict(self.members), defined=set(self.defined))

    def contains(self, operation: ir.Operation) -> bool:
        """Whether an operation, or the all-reduce of its result, is in the region."""
        return _key(operation) in self.members

    def inputs(self) -> Iterator[tuple[ir.Value, int, AxesPerDim, AxesPerDim]]:
        """Yield the values from outside that change, with their identities and axes.

        The latter are those that they have, and those in the region.
        """
        seen: set[int] = set()
        for member in self.members.values():
            own = member.own
            for value, key, old, new in zip(
                own.values[:-1], own.keys, own.axes, member.axes, strict=False
            ):
                if new != old and key not in seen and key not in self.defined:
                    seen.add(key)
                    yield value, key, old, new

    def outputs(self) -> Iterator[tuple[Member, list[Keyed]]]:
        """Yield the members whose results have other axes in the region, with users outside."""
        for member in self.members.values():
            if member.axes[-1] != member.own.axes[-1]:
                outside = [each for each in member.own.users if each[0] not in self.members]
                if outside:
                    yield member, outside


class Regions:
    """Finds regions.

    1. In the region, the tensors of each operation are compatible by its rule. Those of the value
       that the region begins with determine the others, from operation to operation. Axes that the
       operation doesn't get from there stay, unless they would shard two factors.
    2. The operations have one result and no axes that a plan has chosen, and are in one block. All
       their tensors are on one mesh and have static shapes.
    3. Factors that must not be sharded aren't sharded in the region. A reduced factor isn't either,
       so that the all-reduce of the result goes away; or it keeps its axes, with the all-reduce.
    4. Dimensions with several factors aren't sharded, before and in the region.
    5. The axes of a tensor that changes divide its dimensions, but for elementwise operations.
    6. The region ends at tensors that keep their axes, at reshards, and at operations that violate
       a condition.

    Args:
        meshes: the meshes by their names.
        rules: finds the rules of operations.
        may_contain: whether an operation can be in regions.
    """

    def __init__(
        self,
        meshes: Mapping[str, Mesh],
        rules: ShardingRuleLookup,
        may_contain: Callable[[ir.Operation], bool],
    ):
        self._meshes = meshes
        self._rules = rules
        self._may_contain = may_contain
        self.sent: set[int] = set()
        """The identities of values that devices can't compute by themselves, as far as known."""
        self._known: dict[tuple[int, str | Mesh], RegionOperation | None] = {}
        self._tensors: dict[tuple[int, str | Mesh], _Tensor | None] = {}
        # By types, as layers repeat; addresses are valid as long as the context.
        self._answers: dict[Hashable, tuple[FactorAxes, Sequence[AxesPerDim]] | None] = {}
        self._possible: dict[int, bool] = {0: False}
        self._users_of: dict[int, list[Keyed]] = {}
        self._possible_users_of: dict[int, list[Keyed]] = {}
        self._definition_of: dict[int, list[Keyed]] = {}

    def forget(self) -> None:
        """Read operations again, since the function changes."""
        self.sent.clear()
        self._known.clear()
        self._tensors.clear()
        self._possible = {0: False}
        self._users_of.clear()
        self._possible_users_of.clear()
        self._definition_of.clear()

    def beside(
        self, reshard: ir.Operation, *, is_before: bool, with_users: bool
    ) -> Iterator[Region]:
        """Yield the regions beside a reshard, in the sharding at its other end.

        They begin with the definition of its operand, or with the users of its result, and contain
        the operations up to 1, 2, 4 and more steps away. The last one is complete, if no operation
        in it is more than 32 steps away.

        Args:
            reshard: the reshard.
            is_before: whether the regions are before the reshard.
            with_users: whether to include other users of inputs of the region, which can share the
                reshards of these.
        """
        operand, result = reshard.operands[0], reshard.results[0]
        if is_before:
            start = self._definition(operand, identity(operand))
            return self._grown(operand, start, result, with_users)
        return self._grown(result, self._users(result, identity(result)), operand, with_users)

    def _grown(
        self, first: ir.Value, start: Iterable[Keyed], like: ir.Value, with_users: bool
    ) -> Iterator[Region]:
        """Yield the regions that begin with some operations, and a value in another's sharding."""
        sharding = get_sharding(like)
        assert sharding is not None, "reshards that move axes have two shardings"
        mesh = mesh_of(sharding, self._meshes)
        assert mesh is not None, "the verifier refuses shardings without a mesh"
        region = Region(sharding.mesh_or_ref, mesh)
        region.after[identity(first)] = sharding.dim_axes
        block = like.owner if isinstance(like, ir.BlockArgument) else like.owner.operation.block
        waiting, step, visited = [*start], 0, set[tuple[int, bool]]()
        while waiting and step < _MOST_STEPS:
            step += 1
            following: list[Keyed] = []
            while waiting:
                own_key, operation = waiting.pop()
                if own_key in region.members or operation.block != block:
                    continue
                member = self._member(operation, own_key, region)
                if member is None:
                    continue
                region.members[own_key] = member
                own = member.own
                region.defined.add(own.keys[-1])
                for value, key, old, new in zip(
                    own.values, own.keys, own.axes, member.axes, strict=True
                ):
                    region.after[key] = new
                    is_result = key == own.keys[-1]
                    if old == new or (key, is_result) in visited:
                        continue
                    visited.add((key, is_result))
                    if is_result:
                        following += self._users(value, key)
                    else:
                        following += self._definition(value, key)
                        waiting += self._users(value, key) if with_users else ()
            waiting = following
            if region.members and (step.bit_count() == 1 or not waiting):
                yield region

    def _users(self, value: ir.Value, key: int) -> list[Keyed]:
        """Return the operations that use a value of some identity, as far as regions have such."""
        found = self._possible_users_of.get(key)
        if found is None:
            found = [each for each in self._all_users(value, key) if self._is_possible(*each)]
            self._possible_users_of[key] = found
        return found

    def _all_users(self, value: ir.Value, key: int) -> list[Keyed]:
        """Return the operations that use a value of some identity, read once."""
        found = self._users_of.get(key)
        if found is None:
            users = [use.owner.operation for use in value.uses]
            found = [*{(own := _key(user)) or user: (own, user) for user in users}.values()]
            self._users_of[key] = found
        return found

    def _definition(self, value: ir.Value, key: int) -> list[Keyed]:
        """Return the operation that computes a value of some identity, if regions have such.

        It is the one before the all-reduce that completes the value. Values that each device can
        compute don't count: they would connect regions that have nothing else in common.
        """
        found = self._definition_of.get(key)
        if found is None:
            maker = maker_of(value)
            if maker is not None and maker.name == _ALL_REDUCE:
                maker = maker_of(maker.operands[0])
            found = [] if maker is None else [(_key(maker), maker)]
            found = [each for each in found if self._is_possible(*each)]
            if found and is_made_by_each_device(value, self.sent):
                found = []
            self._definition_of[key] = found
        return found

    def _is_possible(self, key: int, operation: ir.Operation) -> bool:
        """Whether an operation of some key can be in regions, found once."""
        found = self._possible.get(key)
        if found is None:
            found = self._possible[key] = self._may_contain(operation)
        return found

    def _member(self, operation: ir.Operation, key: int, region: Region) -> Member | None:
        """Return an operation as a member of a region; None if a condition is violated."""
        both = key, region.mesh_or_ref
        if both not in self._known:
            self._known[both] = self._read(operation, region.mesh_or_ref)
        own = self._known[both]
        if own is None:
            return None
        given = tuple([region.after.get(each) for each in own.keys])
        question = region.mesh_or_ref, own.kind, own.blocked, own.factors, given
        if question not in self._answers:
            self._answers[question] = _compatible_with(given, own, region.mesh)
        answer = self._answers[question]
        return None if answer is None else Member(own, *answer)

    def _read(self, operation: ir.Operation, mesh_or_ref: str | Mesh) -> RegionOperation | None:
        """Return an operation that can be in regions on a mesh; None for another one."""
        rule = self._rules.rule(operation)
        if rule is None or rule.is_custom_rule or has_planned_axes(operation):
            return None
        operands: list[ir.Value] = list(operation.operands)
        own: ir.Value = operation.results[0]
        tensors: list[_Tensor] = []
        for value in (*operands, own):
            tensor = self._tensor(value, mesh_or_ref)
            if tensor is None:
                return None
            tensors.append(tensor)
        axes = [each.axes for each in tensors]
        before = _axes_of_factors(rule, axes)
        if before is None:
            return None
        keys = [each.key for each in tensors]
        users, all_reduce = self._all_users(own, keys[-1]), None
        if len(users) == 1 and users[0][1].name == _ALL_REDUCE:
            all_reduce = users[0][1]
            own = all_reduce.results[0]
            keys[-1] = identity(own)
            users = self._all_users(own, keys[-1])
        return RegionOperation(
            operation,
            rule,
            all_reduce,
            [*operands, own],
            keys,
            users,
            [each.shape for each in tensors],
            (operation.name, id(rule), all_reduce is None, *[each.kind for each in tensors]),
            blocked_factors(operation, rule),
            tuple(before.get(factor, ()) for factor in range(rule.num_factors)),
            axes,
        )

    def _tensor(self, value: ir.Value, mesh_or_ref: str | Mesh) -> _Tensor | None:
        """Return a static tensor on a mesh, read once; None if it isn't, or of another kind."""
        both = identity(value), mesh_or_ref
        if both not in self._tensors:
            self._tensors[both] = _read_tensor(value, both[0], mesh_or_ref)
        return self._tensors[both]


def _compatible_with(
    given: Sequence[AxesPerDim | None], own: RegionOperation, mesh: Mesh
) -> tuple[FactorAxes, Sequence[AxesPerDim]] | None:
    """Return the axes of factors and values if some values have given axes.

    Args:
        given: the axes of each value; None for those that have no say.
        own: the operation.
        mesh: the mesh.

    Returns:
        None if condition 1, 3 or 5 of `Regions` is violated.
    """
    chosen = _axes_of_factors(own.rule, given)
    if chosen is None:
        return None
    taken = [*chosen.values()]
    for factor, axes in enumerate(own.factors):
        if factor not in chosen:
            chosen[factor] = () if any(lists_overlap(axes, each) for each in taken) else axes
    factors = tuple(chosen[factor] for factor in range(own.rule.num_factors))
    if any(factors[factor] for factor in own.blocked):
        return None
    reduced = own.reduced(own.factors)
    if bool(reduced) != (own.all_reduce is not None):
        return None  # the operation completes itself, or the user has added an all-reduce
    if own.reduced(factors) not in ((), reduced):
        return None
    if any(lists_overlap(*two) for two in itertools.combinations(filter(None, factors), 2)):
        return None
    after = own.axes_by(factors)
    if own.operation.name not in ELEMENTWISE_OPERATIONS and not all(
        old == new or is_even(shape, new, mesh)
        for shape, old, new in zip(own.shapes, own.axes, after, strict=True)
    ):
        return None
    return factors, after


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


def _read_tensor(value: ir.Value, key: int, mesh_or_ref: str | Mesh) -> _Tensor | None:
    kind = value.type
    if not isinstance(kind, ir.RankedTensorType):
        return None
    shape, sharding = shape_of(kind), get_sharding(value)
    if any(size <= 0 for size in shape):
        return None
    axes: AxesPerDim = ((),) * len(shape)
    if sharding is not None:
        axes = sharding.dim_axes
        if not is_plain(sharding) or (sharding.mesh_or_ref != mesh_or_ref and any(axes)):
            return None
    return _Tensor(key, shape, identity(kind), axes)


def _key(operation: ir.Operation) -> int:
    """Return the identity of the first result of an operation; 0 without results."""
    if operation.name == _ALL_REDUCE and has_one_use(operation.operands[0]):
        return identity(operation.operands[0])
    return identity(operation.results[0]) if len(operation.results) else 0
