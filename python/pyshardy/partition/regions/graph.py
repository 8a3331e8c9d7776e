# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values, the axes along which operations use them, and operations, as regions see a function.

Reshards aren't in the graph: a value has the axes along which it is computed, and its uses have
those along which operations want it. Of

    %1 = stablehlo.add %0, %0                     // along [{"x"}, {}]
    %2 = sdy.reshard %1 <@mesh, [{}, {"x"}]>
    %3 = stablehlo.multiply %1, %2

`%1` is a value along `[{"x"}, {}]` with two uses, along `[{"x"}, {}]` and `[{}, {"x"}]`. An
all-reduce that completes the result of an operation is a part of the operation.

Values and operations are read when they are asked for, and the function doesn't change meanwhile:
the graph does, and is written at the end (see `writing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, Mesh, ReductionOp, TensorSharding
from mlir_sdy.uses import defining_operation, has_one_use
from mlir_sdy.values import get_sharding
from pyshardy.partition.function_context import ShardingCache
from pyshardy.partition.partial.completion import reduced_axes, reduction_kind
from pyshardy.partition.partial.joint_sums import JointSums
from pyshardy.partition.partial.reductions import blocked_factors
from pyshardy.partition.regions.kinds import (
    CHEAP,
    OperationKind,
    OperationKinds,
    RegionFit,
    StaticTensor,
)
from pyshardy.partition.resharding.recomputation import Recomputation
from pyshardy.partition.types.steps import AxesPerDim
from pyshardy.rules import ShardingRuleLookup
from pyshardy.rules.signature import OperationParts

_ALL_REDUCE, _RESHARD = "sdy.all_reduce", "sdy.reshard"


@dataclass(frozen=True, slots=True, eq=False)
class ValueUser:
    """An operand of an operation.

    Attributes:
        operation: the operation.
        index: the number of the operand.
        reshard: the axes to which a reshard before it brings the value in the function, if there
            is one.
    """

    operation: RegionOperation
    index: int
    reshard: AxesPerDim | None


@dataclass(slots=True, eq=False)
class ValueUse:
    """A value along the axes that some operations want.

    Attributes:
        value: the value.
        axes: the axes.
        users: the operands of these operations.
    """

    value: RegionValue
    axes: AxesPerDim
    users: list[ValueUser] = field(default_factory=list[ValueUser])

    @property
    def is_resharded(self) -> bool:
        """Whether the value is computed along other axes."""
        return self.axes != self.value.axes


class RegionValue:
    """A value that isn't the result of a reshard.

    Attributes:
        value: the value in the function.
        tensor: its type.
        axes: the axes along which it is computed.
        reduced: the axes along which an all-reduce completes it.
        is_on_mesh: whether it is a static tensor on the mesh of the graph. If not, it has neither
            type nor axes.
    """

    def __init__(
        self, graph: RegionGraph, value: ir.Value, maker: ir.Operation | None, maker_name: str
    ):
        self._graph = graph
        self._maker, self._maker_name = maker, maker_name
        self._uses: dict[AxesPerDim, ValueUse] = {}
        self._is_read = False
        self.value = value
        tensor = graph.tensor_of(value)
        axes = None if tensor is None else graph.axes_of(value, len(tensor.shape))
        self.is_on_mesh = axes is not None
        self.tensor, self.axes = tensor or StaticTensor((), 0), axes or ()
        self.reduced: AxisTuple = ()
        if maker is not None and maker_name == _ALL_REDUCE:
            self.reduced = graph.reduced(maker)

    def along(self, axes: AxesPerDim) -> ValueUse:
        """Return the use of the value along axes."""
        found = self._uses.get(axes)
        if found is None:
            found = self._uses[axes] = ValueUse(self, axes)
        return found

    @property
    def uses(self) -> Mapping[AxesPerDim, ValueUse]:
        """The uses of the value by their axes; some may have no users."""
        self.read_users()
        return self._uses

    def read_users(self) -> None:
        """Read the users of the value, which `uses` does, too."""
        if not self._is_read:
            self._is_read = True
            self.along(self.axes)
            self._read(self.value, None)

    def _read(self, held: ir.Value, reshard: AxesPerDim | None) -> None:
        """Read the users of the value, or of its reshard to axes."""
        users = self._graph.use(held).users
        for each in held.uses:
            operation = each.owner.operation
            name = operation.name
            target = self._graph.target(operation) if name == _RESHARD else None
            if target is not None:
                self._read(operation.results[0], target.dim_axes)
            else:
                user = self._graph.operation(operation, name)
                users.append(ValueUser(user, each.operand_number, reshard))

    @cached_property
    def maker(self) -> RegionOperation | None:
        """The operation in regions that computes the value, if there is such a one.

        Values that each device can compute don't count: they would connect regions that have
        nothing else in common.
        """
        maker, name = self._maker, self._maker_name
        if maker is not None and name == _ALL_REDUCE:
            maker = defining_operation(maker.operands[0])
            name = "" if maker is None else maker.name
        if maker is None or name not in CHEAP or self.is_made_by_each_device:
            return None
        operation = self._graph.operation(maker, name)
        return operation if operation.result is self else None

    @cached_property
    def is_made_by_each_device(self) -> bool:
        """Whether each device can compute its shard of the value by itself."""
        return self._graph.recomputation.is_possible(self.value)

    @cached_property
    def addends(self) -> int:
        """The number of values with the all-reduce of this one that are added up with it.

        `sdy-reassociate-reductions` completes their sum instead of each.
        """
        maker, reduced_by = self._maker, self._graph.reduced
        if not self.reduced or maker is None or not _adds(maker):
            return 1
        others = self._graph.sums.added_to(self.value)
        return 1 + sum(reduced_by(each) == self.reduced for each in others)

    @cached_property
    def needs_replication(self) -> bool:
        """Whether the operation that defines the value has factors that can't be sharded."""
        if self._maker is None or (rule := self._graph.rules.rule(self._maker)) is None:
            return False
        return bool(rule.need_replication_factors or blocked_factors(self._maker, rule))


class RegionOperation:
    """An operation, with the all-reduce of its result.

    Attributes:
        operation: the operation in the function.
        name: its name.
    """

    def __init__(self, graph: RegionGraph, operation: ir.Operation, name: str):
        self._graph = graph
        self.operation = operation
        self.name = name

    @cached_property
    def _parts(self) -> OperationParts:
        return OperationParts.of(self.operation, self.name)

    @cached_property
    def block(self) -> ir.Block:
        """The block of the operation."""
        return self.operation.block

    @cached_property
    def all_reduce(self) -> ir.Operation | None:
        """The all-reduce that is the only user of the result in the function."""
        result = self._parts.results[0]
        user = next(iter(result.uses)).owner.operation if has_one_use(result) else None
        return user if user is not None and user.name == _ALL_REDUCE else None

    @cached_property
    def result(self) -> RegionValue:
        """The complete result."""
        last = self._parts if self.all_reduce is None else self.all_reduce
        return self._graph.use(last.results[0]).value

    @cached_property
    def uses(self) -> tuple[ValueUse, ...]:
        """The operands, then the result along the axes in which it is computed."""
        operands = [self._graph.use(operand) for operand in self._parts.operands]
        return (*operands, self.result.along(self.result.axes))

    @cached_property
    def kind(self) -> OperationKind | None:
        """The kind of the operation; None if it can't be in regions."""
        if not all(use.value.is_on_mesh for use in self.uses):
            return None
        axes = tuple([use.axes for use in self.uses])
        return self._graph.kinds.of(self._parts, axes, is_completed=self.all_reduce is not None)

    def move(self, fit: RegionFit) -> None:
        """Give the operation the axes of a region."""
        *operands, own = self.uses
        moved: list[ValueUse] = []
        for index, (use, axes) in enumerate(zip(operands, fit.axes, strict=False)):
            use.value.read_users()  # before one of them moves
            target = use.value.along(axes)
            if target is not use:
                (own_user,) = (
                    each for each in use.users if each.operation is self and each.index == index
                )
                use.users.remove(own_user)
                target.users.append(own_user)
            moved.append(target)
        value = own.value
        value.read_users()
        value.axes, value.reduced = fit.axes[-1], fit.reduced
        self.uses = (*moved, value.along(value.axes))
        self.kind = self._graph.kinds.inside(self.operation, fit)


class RegionGraph:
    """The values and operations of a function on one mesh.

    Attributes:
        mesh_or_ref: the mesh in the shardings of the values.
        mesh: the mesh.
        meshes: all meshes by their names.
        rules: finds the rules of operations.
        kinds: finds the kinds of operations.
        recomputation: says which values each device can compute.
        sums: says which results of all-reduces are added up.
    """

    def __init__(
        self,
        mesh_or_ref: str | Mesh,
        mesh: Mesh,
        meshes: Mapping[str, Mesh],
        rules: ShardingRuleLookup,
    ):
        self.mesh_or_ref = mesh_or_ref
        self.mesh = mesh
        self.meshes = meshes
        self.rules = rules
        self.kinds = OperationKinds(mesh, rules)
        self.recomputation = Recomputation()
        self.sums = JointSums(_adds, ShardingCache())
        self._uses: dict[int, ValueUse] = {}
        self._operations: dict[int, RegionOperation] = {}
        self._tensors: dict[int, StaticTensor | None] = {}
        self._reduced: dict[int, AxisTuple] = {}

    def use(self, value: ir.Value) -> ValueUse:
        """Return a value along the axes of its sharding, behind the reshards that define it."""
        key = identity(value)
        found = self._uses.get(key)
        if found is None:
            maker = defining_operation(value)
            name = "" if maker is None else maker.name
            target = self.target(maker) if maker is not None and name == _RESHARD else None
            if maker is not None and target is not None:
                found = self.use(maker.operands[0]).value.along(target.dim_axes)
            else:
                own = RegionValue(self, value, maker, name)
                found = own.along(own.axes)
            self._uses[key] = found
        return found

    def operation(self, operation: ir.Operation, name: str) -> RegionOperation:
        """Return an operation of a known name; it is made each time if it can't be in regions."""
        if name not in CHEAP:
            return RegionOperation(self, operation, name)
        key = identity(operation)
        found = self._operations.get(key)
        if found is None:
            found = self._operations[key] = RegionOperation(self, operation, name)
        return found

    def reduced(self, all_reduce: ir.Operation) -> AxisTuple:
        """Return the axes along which an all-reduce completes its operand."""
        key = identity(all_reduce)
        if key not in self._reduced:
            self._reduced[key] = reduced_axes(all_reduce, self.meshes)
        return self._reduced[key]

    def target(self, reshard: ir.Operation) -> TensorSharding | None:
        """Return the sharding of a reshard that isn't in the graph; None for other reshards.

        It moves axes of its mesh from plain shardings to plain ones.
        """
        source, target = get_sharding(reshard.operands[0]), get_sharding(reshard.results[0])
        if source is None or target is None or source.rank != target.rank:
            return None
        is_moving = all(map(self._is_plain, (source, target)))
        return target if is_moving and self.tensor_of(reshard.results[0]) else None

    def tensor_of(self, value: ir.Value) -> StaticTensor | None:
        """Return the type of a value; None if it isn't a static tensor."""
        value_type = value.type
        key = identity(value_type)  # an address: types live as long as their context
        if key not in self._tensors:
            self._tensors[key] = StaticTensor.of(value_type)
        return self._tensors[key]

    def axes_of(self, value: ir.Value, rank: int) -> AxesPerDim | None:
        """Return the axes of a tensor; None if they are on another mesh, or not plain."""
        sharding = get_sharding(value)
        if sharding is None:
            return ((),) * rank
        return sharding.dim_axes if self._is_plain(sharding) or sharding.has_no_axes else None

    def _is_plain(self, sharding: TensorSharding) -> bool:
        """Whether a sharding on the mesh has axes of dimensions only."""
        has_others = sharding.unreduced_axes or sharding.replicated_axes
        return sharding.mesh_or_ref == self.mesh_or_ref and not has_others


def _adds(operation: ir.Operation) -> bool:
    """Whether an operation is an all-reduce that adds up."""
    return operation.name == _ALL_REDUCE and reduction_kind(operation) is ReductionOp.SUM
