# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions of operations whose tensors could have axes along other dimensions.

A reshard from `[{}, {"x"}]` to `[{"x"}, {}]` can move across the operations before or after it:

    %1 = stablehlo.slice %0 [0:8, 0:4]      // [{}, {"x"}]; a halo exchange
    %2 = sdy.reshard %1 <@mesh, [{"x"}, {}]>

In `[{"x"}, {}]` the slice sends nothing. Its operand needs these axes, too, and through it the
operation that defines the operand, and its other users. These operations are a region.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, Mesh, OpShardingRule, Shape, lists_overlap, mesh_of
from mlir_sdy.values import get_sharding
from pyshardy.irtools.tensor_types import is_even, shape_of
from pyshardy.partition.op_facts.forms import Form, Forms
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.resharding.region_boundary import (
    defining_operation,
    is_made_by_each_device,
    is_plain,
)
from pyshardy.partition.types.factor_axes import FactorAxes
from pyshardy.partition.types.planned_axes import has_planned_axes
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts

_ALL_REDUCE = "sdy.all_reduce"
_MOST_STEPS = 32

_CHEAP = (
    frozenset(name for name in ELEMENTWISE_OPERATIONS if not name.startswith("sdy."))
    | {
        f"stablehlo.{name}"
        for name in ("broadcast_in_dim", "concatenate", "pad", "reduce", "reshape", "reverse")
    }
    | {"stablehlo.slice", "stablehlo.transpose"}
)
"""The operations in regions. They read and write each element a few times at most."""

_Keyed = tuple[int, ir.Operation]
"""An operation after the identity of its first result."""


@dataclass(frozen=True, slots=True)
class RegionCandidate:
    """An operation that can be in regions, read once.

    Attributes:
        operation: the operation.
        rule: its rule.
        all_reduce: the all-reduce that completes its result, if there is one.
        values: its operands, then the complete result.
        keys: the identities of these values.
        shapes: their shapes.
        given: the axes of the factors that tensors have.
        form: its form, if it has one.
        before: the axes of each factor.
        axes_before: the axes of its operands, then of the result.
    """

    operation: ir.Operation
    rule: OpShardingRule
    all_reduce: ir.Operation | None
    values: Sequence[ir.Value]
    keys: Sequence[int]
    shapes: Sequence[Shape]
    given: Mapping[int, AxisTuple]
    form: Form | None
    before: FactorAxes
    axes_before: Sequence[AxesPerDim]


@dataclass(frozen=True, slots=True)
class Member(RegionCandidate):
    """An operation in a region.

    Attributes:
        after: the axes of each factor in the region.
        axes_after: the axes of the operands, then of the result, in the region.
        is_completed: whether the all-reduce is still needed.
    """

    after: FactorAxes
    axes_after: Sequence[AxesPerDim]
    is_completed: bool

    @property
    def result(self) -> ir.Value:
        """The complete result."""
        return self.values[-1]

    def reduced(self, factors: FactorAxes) -> AxisTuple:
        """Return the axes along which the result is partial."""
        return tuple(axis for factor in self.rule.reduction_factors for axis in factors[factor])


_FIELDS = tuple(field.name for field in fields(RegionCandidate))


@dataclass(slots=True)
class AxisRegion:
    """Operations of a block, with other axes of their tensors.

    Attributes:
        mesh_or_ref: the mesh in the shardings of all tensors.
        mesh: the mesh.
        members: the operations, by the identity of their results.
        after: the axes of their tensors in the region, by the identity of the value.
    """

    mesh_or_ref: str | Mesh
    mesh: Mesh
    members: dict[int, Member] = field(default_factory=dict[int, Member])
    after: dict[int, AxesPerDim] = field(default_factory=dict[int, AxesPerDim])

    def copy(self) -> AxisRegion:
        """Return a copy, which doesn't grow with the region."""
        return replace(self, members=dict(self.members), after=dict(self.after))

    def contains(self, operation: ir.Operation) -> bool:
        """Whether an operation, or the all-reduce of its result, is in the region."""
        if operation.name == _ALL_REDUCE:
            maker = defining_operation(operation.operands[0])
            return maker is not None and _key(maker) in self.members
        return _key(operation) in self.members

    def defines(self, value: ir.Value) -> bool:
        """Whether a value is the complete result of an operation in the region."""
        member = self.members.get(identity(value))
        if member is not None:
            return member.all_reduce is None
        maker = defining_operation(value)
        if maker is None or maker.name != _ALL_REDUCE:
            return False
        return self.contains(maker) and _all_reduce_of(maker) is None

    def inputs(self) -> Iterator[ir.Value]:
        """Yield the values from outside that have other axes in the region."""
        seen: set[int] = set()
        for member in self.members.values():
            operands = zip(member.values[:-1], member.keys, member.axes_before, strict=False)
            for value, key, axes in operands:
                if key not in seen and self.after[key] != axes and not self.defines(value):
                    seen.add(key)
                    yield value

    def outputs(self) -> Iterator[tuple[Member, list[ir.Operation]]]:
        """Yield the members whose results have other axes in the region, with users outside."""
        for member in self.members.values():
            if self.after[member.keys[-1]] != member.axes_before[-1]:
                users = dict.fromkeys(use.owner.operation for use in member.result.uses)
                outside = [user for user in users if not self.contains(user)]
                if outside:
                    yield member, outside


class AxisRegions:
    """Finds regions.

    1. In the region, the tensors of each operation are compatible by its rule. Those of the value
       that the region begins with determine the others, from operation to operation. Axes that the
       operation doesn't get from there stay, unless they would shard two factors.
    2. The operations are cheap, have one result and no axes that a plan has chosen, and are in one
       block. All their tensors are on one mesh and have static shapes.
    3. Factors that must not be sharded aren't sharded in the region. A reduced factor isn't either,
       so that the all-reduce of the result goes away; or it keeps its axes, with the all-reduce.
    4. Dimensions with several factors aren't sharded, before and in the region.
    5. The axes of a tensor that changes divide its dimensions.
    6. The region ends at tensors that keep their axes, at reshards, and at operations that violate
       a condition.

    Args:
        meshes: the meshes by their names.
        rules: finds the rules of operations.
    """

    def __init__(self, meshes: Mapping[str, Mesh], rules: ShardingRuleLookup):
        self._meshes = meshes
        self._rules = rules
        self._forms = Forms(rules)
        self._candidates: dict[tuple[int, str | Mesh], RegionCandidate | None] = {}
        self._users_of: dict[int, list[_Keyed]] = {}
        self._definition_of: dict[int, list[_Keyed]] = {}

    def forget(self) -> None:
        """Read operations again, since the function changes."""
        self._candidates.clear()
        self._users_of.clear()
        self._definition_of.clear()

    def before(self, reshard: ir.Operation, *, with_users: bool) -> Iterator[AxisRegion]:
        """Yield the regions with the definition of the operand of a reshard, in its sharding.

        They contain the operations up to 1, 2, 4 and more steps away. The last one is complete, if
        no operation in it is more than 32 steps away.

        Args:
            reshard: the reshard.
            with_users: whether to include other users of inputs of the region, which can share the
                reshards of these.
        """
        first: ir.Value = reshard.operands[0]
        start = self._definition(first, identity(first))
        return self._grown(first, start, reshard.results[0], with_users)

    def after(self, reshard: ir.Operation, *, with_users: bool) -> Iterator[AxisRegion]:
        """Yield the regions with the users of a reshard, in the sharding of its operand.

        They are as those of `before`.
        """
        first: ir.Value = reshard.results[0]
        start = self._users(first, identity(first))
        return self._grown(first, start, reshard.operands[0], with_users)

    def _grown(
        self, first: ir.Value, start: Iterable[_Keyed], like: ir.Value, with_users: bool
    ) -> Iterator[AxisRegion]:
        """Yield the regions that begin with some operations, and a value in another's sharding."""
        sharding = get_sharding(like)
        assert sharding is not None, "reshards that move axes have two shardings"
        mesh = mesh_of(sharding, self._meshes)
        assert mesh is not None, "the verifier refuses shardings without a mesh"
        region = AxisRegion(sharding.mesh_or_ref, mesh)
        region.after[identity(first)] = sharding.dim_axes
        block = like.owner if isinstance(like, ir.BlockArgument) else like.owner.operation.block
        waiting, step = [*start], 0
        seen: set[int] = set()  # values with many users are operands of many members
        while waiting and step < _MOST_STEPS:
            step += 1
            following: list[_Keyed] = []
            while waiting:
                own_key, operation = waiting.pop()
                if own_key in region.members or operation.block != block:
                    continue
                member = self._member(operation, own_key, region)
                if member is None:
                    continue
                region.members[own_key] = member
                result = member.keys[-1]
                changes = zip(member.axes_before, member.axes_after, strict=True)
                for value, key, (old, new) in zip(member.values, member.keys, changes, strict=True):
                    region.after[key] = new
                    if old == new or key in seen:
                        continue
                    seen.add(key)
                    if key == result:
                        following += self._users(value, key)
                    else:
                        following += self._definition(value, key)
                        waiting += self._users(value, key) if with_users else ()
            waiting = following
            if region.members and (step.bit_count() == 1 or not waiting):
                yield region

    def _users(self, value: ir.Value, key: int) -> list[_Keyed]:
        """Return the operations that use a value of some identity, as far as regions have such."""
        found = self._users_of.get(key)
        if found is None:
            users = (use.owner.operation for use in value.uses)
            found = self._users_of[key] = [(_key(user), user) for user in users if _is_cheap(user)]
        return found

    def _definition(self, value: ir.Value, key: int) -> list[_Keyed]:
        """Return the operation that computes a value of some identity, if regions have such.

        It is the one before the all-reduce that completes the value. Values that each device can
        compute don't count: they would connect regions that have nothing else in common.
        """
        found = self._definition_of.get(key)
        if found is None:
            maker = defining_operation(value)
            if maker is not None and maker.name == _ALL_REDUCE:
                maker = defining_operation(maker.operands[0])
            is_found = maker is not None and _is_cheap(maker) and not is_made_by_each_device(value)
            found = [(_key(maker), maker)] if maker is not None and is_found else []
            self._definition_of[key] = found
        return found

    def _member(self, operation: ir.Operation, key: int, region: AxisRegion) -> Member | None:
        """Return an operation as a member of a region; None if a condition is violated."""
        candidate = self._candidate(operation, key, region.mesh_or_ref)
        if candidate is None:
            return None
        rule = candidate.rule
        chosen = _axes_of_factors(rule, [region.after.get(key) for key in candidate.keys])
        if chosen is None:
            return None
        taken = [*chosen.values()]
        for factor, axes in candidate.given.items():
            if factor not in chosen:
                chosen[factor] = () if any(lists_overlap(axes, each) for each in taken) else axes
        after = tuple([chosen.get(factor, ()) for factor in range(rule.num_factors)])
        member = Member(
            *map(candidate.__getattribute__, _FIELDS),
            after=after,
            axes_after=axes_of_tensors(rule, after),
            is_completed=any(chosen.get(factor) for factor in rule.reduction_factors),
        )
        return member if self._is_valid(member, region.mesh) else None

    def _candidate(
        self, operation: ir.Operation, key: int, mesh_or_ref: str | Mesh
    ) -> RegionCandidate | None:
        """Return an operation that can be in regions on a mesh; None for another one."""
        both = key, mesh_or_ref
        if both not in self._candidates:
            self._candidates[both] = self._read(operation, mesh_or_ref)
        return self._candidates[both]

    def _read(self, operation: ir.Operation, mesh_or_ref: str | Mesh) -> RegionCandidate | None:
        rule = self._rules.rule(operation)
        if rule is None or rule.is_custom_rule or has_planned_axes(operation):
            return None
        all_reduce = _all_reduce_of(operation)
        operands: list[ir.Value] = list(operation.operands)
        own: ir.Value = operation.results[0]
        known = [_axes_of(value, mesh_or_ref) for value in (*operands, own)]
        old = [axes for axes in known if axes is not None]
        given = _axes_of_factors(rule, old) if len(old) == len(known) else None
        if given is None:
            return None
        values = [*operands, own if all_reduce is None else all_reduce.results[0]]
        keys = [identity(value) for value in values]
        shapes = [shape_of(value.type) for value in values]
        form = self._forms.of(OperationParts(operation, operation.name, operands, [own]))
        before = tuple([given.get(factor, ()) for factor in range(rule.num_factors)])
        tensors = axes_of_tensors(rule, before)
        return RegionCandidate(
            operation, rule, all_reduce, values, keys, shapes, given, form, before, tensors
        )

    @staticmethod
    def _is_valid(member: Member, mesh: Mesh) -> bool:
        """Whether a member satisfies conditions 1, 3 and 5."""
        rule, after = member.rule, member.after
        if any(after[factor] for factor in blocked_factors(member.operation, rule)):
            return False
        reduced = member.reduced(member.before)
        if bool(reduced) != (member.all_reduce is not None):
            return False  # the operation completes itself, or the user has added an all-reduce
        if member.is_completed and member.reduced(after) != reduced:
            return False
        sharded = [axes for axes in after if axes]
        for index, axes in enumerate(sharded):
            if any(lists_overlap(axes, other) for other in sharded[:index]):
                return False
        pairs = zip(member.axes_before, member.axes_after, strict=True)
        return all(
            old == new or is_even(shape, new, mesh)
            for shape, (old, new) in zip(member.shapes, pairs, strict=True)
        )


def axes_of_tensors(rule: OpShardingRule, factors: FactorAxes) -> list[AxesPerDim]:
    """Return the axes of the operands, then of the result, for axes of the factors of a rule."""
    return [
        tuple(
            [
                factors[dim.factor_indices[0]] if len(dim.factor_indices) == 1 else ()
                for dim in mapping.dim_mappings
            ]
        )
        for mapping in rule.mappings
    ]


def _axes_of_factors(
    rule: OpShardingRule, tensors: list[AxesPerDim] | list[AxesPerDim | None]
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


def _axes_of(value: ir.Value, mesh_or_ref: str | Mesh) -> AxesPerDim | None:
    """Return the axes of a tensor's dimensions; None if it isn't on a mesh, or of another kind."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    shape, sharding = shape_of(value.type), get_sharding(value)
    if any(size <= 0 for size in shape):
        return None
    if sharding is None:
        return ((),) * len(shape)
    if not is_plain(sharding) or (sharding.mesh_or_ref != mesh_or_ref and any(sharding.dim_axes)):
        return None
    return sharding.dim_axes


def _all_reduce_of(operation: ir.Operation) -> ir.Operation | None:
    """Return the all-reduce that is the only user of an operation's result."""
    users = [use.owner.operation for use in operation.results[0].uses]
    return users[0] if len(users) == 1 and users[0].name == _ALL_REDUCE else None


def _is_cheap(operation: ir.Operation) -> bool:
    """Whether an operation can be in regions, and has one result."""
    return operation.name in _CHEAP and len(operation.results) == 1


def _key(operation: ir.Operation) -> int:
    """Return the identity of the first result of an operation; 0 without results."""
    return identity(operation.results[0]) if len(operation.results) else 0
