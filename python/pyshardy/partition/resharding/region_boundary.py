# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reshards between a region of operations and the operations around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, Mesh, TensorSharding, are_equivalent, mesh_of
from mlir_sdy.uses import defining_operation
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.irtools.stablehlo_views import BroadcastView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.record import record_of
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_RESHARD = "sdy.reshard"
_BROADCAST = "stablehlo.broadcast_in_dim"

_MOST_REPEATED = 16
_REPEATABLE = frozenset(
    [name for name in ELEMENTWISE_OPERATIONS if name.startswith("stablehlo.")] + [_BROADCAST]
)
"""The operations that devices may repeat instead of sending their results."""


class RegionBoundary:
    """Reads and changes the reshards of values that a region uses from outside, or that it defines.

    Args:
        meshes: the meshes by their names.
        cache: makes attributes.
    """

    def __init__(self, meshes: Mapping[str, Mesh], cache: AttributeCache):
        self._meshes = meshes
        self._cache = cache

    def origin(self, value: ir.Value) -> ir.Value:
        """Return the operand of the reshard that defines a value, if it only moves axes."""
        maker = defining_operation(value)
        if maker is None or self.target(maker) is None:
            return value
        return maker.operands[0]

    def target(self, operation: ir.Operation) -> TensorSharding | None:
        """Return the sharding to which an operation brings its operand; None if it doesn't."""
        if operation.name != _RESHARD:
            return None
        source, target = (
            get_sharding(each) for each in (operation.operands[0], operation.results[0])
        )
        if source is None or target is None or source.rank != target.rank:
            return None
        if not (is_plain(source) and is_plain(target)):
            return None
        is_same_mesh = mesh_of(source, self._meshes) == mesh_of(target, self._meshes)
        return target if is_same_mesh else None

    def bring(
        self, value: ir.Value, sharding: TensorSharding, uses: Sequence[ir.OpOperand]
    ) -> None:
        """Replace uses of a value in one block by the value in another sharding."""
        origin = self.origin(value)
        first = _first([use.owner.operation for use in uses])
        present = get_sharding(origin)
        if is_made_by_each_device(origin):
            origin = made_in(origin, sharding, first, self._cache)
        elif present is None or not are_equivalent(present, sharding):
            place = ir.InsertionPoint(first)
            origin = sdy.reshard(origin, self._cache[sharding], loc=first.location, ip=place)
        for use in uses:
            use.owner.operation.operands[use.operand_number] = origin

    def take(
        self,
        value: ir.Value,
        users: Sequence[ir.Operation],
        sharding: TensorSharding,
        before: TensorSharding,
    ) -> None:
        """Let the users outside of a region use a result that has another sharding now.

        Args:
            value: the result.
            users: the users.
            sharding: its sharding now.
            before: its sharding before, in which users other than reshards use it.
        """
        targets = {user: self.target(user) for user in users}
        uses = [(use.owner.operation, use.operand_number) for use in value.uses]
        # Found before reshards are replaced, since a user of one may use the value itself as well.
        direct = [use for use in uses if use[0] in targets and targets[use[0]] is None]
        for user, target in targets.items():
            if target is not None and are_equivalent(target, sharding):
                user.results[0].replace_all_uses_with(value)
        if not direct:
            return
        maker = value.owner.operation
        place = ir.InsertionPoint.after(maker)
        brought = sdy.reshard(value, self._cache[before], loc=maker.location, ip=place)
        for user, index in direct:
            user.operands[index] = brought


class KeptReshards:
    """The reshards of a value that stay where they are, read once for each value.

    A reshard stays if an operation uses it that isn't elementwise: it can't move across that. Equal
    ones will be merged with it. A value may have thousands of reshards, each of which is asked for.

    Args:
        is_elementwise: whether reshards can move across an operation.
    """

    def __init__(self, is_elementwise: Callable[[ir.Operation], bool]):
        self._is_elementwise = is_elementwise
        self._kept: dict[int, dict[tuple[TensorSharding | None, ir.Block], list[int]]] = {}

    def has_equal(self, reshard: ir.Operation) -> bool:
        """Whether another reshard of the same value stays, in the same block and sharding."""
        value = reshard.operands[0]
        kept = self._kept.get(identity(value))
        if kept is None:
            kept = self._kept[identity(value)] = self._find(value)
        result = reshard.results[0]
        equal = kept.get((get_sharding(result), reshard.block), ())
        return any(other != identity(result) for other in equal)

    def forget(self, value: ir.Value) -> None:
        """Read the reshards of a value again, after one of them was inserted."""
        self._kept.pop(identity(value), None)

    def clear(self) -> None:
        """Read the reshards of all values again."""
        self._kept.clear()

    def _find(self, value: ir.Value) -> dict[tuple[TensorSharding | None, ir.Block], list[int]]:
        found: dict[tuple[TensorSharding | None, ir.Block], list[int]] = {}
        for use in value.uses:
            user = use.owner.operation
            if user.name != _RESHARD:
                continue
            result = user.results[0]
            if not all(self._is_elementwise(each.owner.operation) for each in result.uses):
                place = get_sharding(result), user.block
                found.setdefault(place, []).append(identity(result))
        return found


def is_made_by_each_device(value: ir.Value) -> bool:
    """Whether devices can compute any shard of a value by themselves.

    1. It is a constant, an iota, a broadcast scalar, or another value without tensors as operands.
    2. It is computed from such values by at most 16 elementwise operations and broadcasts.
    """
    maker = defining_operation(value)
    return maker is not None and _can_repeat(maker, [_MOST_REPEATED])


def _can_repeat(maker: ir.Operation, left: list[int]) -> bool:
    """Whether devices can repeat an operation for any shard; counts down the operations left."""
    if record_of(maker.name).creates_any_shard:
        return True
    left[0] -= 1
    if left[0] < 0 or maker.name not in _REPEATABLE or len(maker.results) != 1:
        return False
    operands = [operand for operand in maker.operands if shape_of(operand.type)]
    makers = map(defining_operation, operands)
    return all(maker is not None and _can_repeat(maker, left) for maker in makers)


def made_in(
    value: ir.Value, sharding: TensorSharding, before: ir.Operation, cache: AttributeCache
) -> ir.Value:
    """Return a value that each device can compute, in another sharding, before an operation."""
    present, maker = get_sharding(value), defining_operation(value)
    assert maker is not None, "an argument isn't computed"
    if present is not None and are_equivalent(present, sharding):
        return value
    clone = maker.clone(ir.InsertionPoint(before)).operation
    set_result_shardings_of(clone, {0: sharding}, cache)
    for index, operand in enumerate(maker.operands):
        if shape_of(operand.type):
            axes = _operand_axes(maker, operand, sharding)
            wanted = TensorSharding.from_axes(sharding.mesh_or_ref, axes)
            clone.operands[index] = made_in(operand, wanted, clone, cache)
    result: ir.Value = clone.results[0]
    return result


def _operand_axes(
    maker: ir.Operation, operand: ir.Value, sharding: TensorSharding
) -> tuple[AxisTuple, ...]:
    """Return the axes of an operand of an elementwise operation or a broadcast."""
    if maker.name != _BROADCAST:
        return tuple(sharding.dim_axes)
    before, after = shape_of(operand.type), shape_of(maker.results[0].type)
    dims = BroadcastView(maker).broadcast_dimensions
    return tuple(
        sharding.dim_axes[dim] if after[dim] == size else ()
        for size, dim in zip(before, dims, strict=True)
    )


def is_plain(sharding: TensorSharding) -> bool:
    """Whether a sharding has axes of dimensions only."""
    return not (sharding.unreduced_axes or sharding.replicated_axes)


def _first(operations: Sequence[ir.Operation]) -> ir.Operation:
    """Return the first of several operations of a block in the order of the text."""
    first = operations[0]
    for operation in operations[1:]:
        if operation.is_before_in_block(first):
            first = operation
    return first
