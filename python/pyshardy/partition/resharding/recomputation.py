# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that devices compute again, along other axes, instead of sending them."""

from __future__ import annotations

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import identity, ir
from mlir_sdy.model import AxisTuple, TensorSharding, are_equivalent
from mlir_sdy.uses import defining_operation
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.irtools.stablehlo_views import BroadcastView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.record import record_of
from pyshardy.propagation.elementwise import ELEMENTWISE_OPERATIONS

_RESHARD = "sdy.reshard"
_BROADCAST = "stablehlo.broadcast_in_dim"

_MOST_REPEATED = 16
_TOO_MANY, _IMPOSSIBLE = _MOST_REPEATED + 1, _MOST_REPEATED + 2
_REPEATABLE = frozenset(
    [name for name in ELEMENTWISE_OPERATIONS if name.startswith("stablehlo.")] + [_BROADCAST]
)
"""The operations that devices may repeat instead of sending their results."""


class Recomputation:
    """Says whether devices can compute any shard of a value by themselves.

    1. It is a constant, an iota, a broadcast scalar, or another value without tensors as operands.
    2. It is computed from such values by at most 16 elementwise operations and broadcasts.

    Each value is read once, so that the function must not change meanwhile.
    """

    def __init__(self) -> None:
        self._repeated: dict[int, int] = {}

    def is_possible(self, value: ir.Value) -> bool:
        """Whether devices can compute a value."""
        return self._count(value, _MOST_REPEATED) <= _MOST_REPEATED

    def _count(self, value: ir.Value, most: int) -> int:
        """Return the number of operations to repeat; more than 16 if these are more than a limit.

        It is known for good unless the limit was exceeded.
        """
        key = identity(value)
        count = self._repeated.get(key)
        if count is None:
            maker = defining_operation(value)
            count = _IMPOSSIBLE if maker is None else self._count_of(maker, most)
            if count != _TOO_MANY:
                self._repeated[key] = count
        return count

    def _count_of(self, maker: ir.Operation, most: int) -> int:
        if record_of(maker.name).creates_any_shard:
            return 0
        if maker.name not in _REPEATABLE or len(maker.results) != 1:
            return _IMPOSSIBLE
        count = 1
        for operand in maker.operands:
            if count > most:
                return _TOO_MANY
            if shape_of(operand.type):
                below = self._count(operand, most - count)
                if below > _MOST_REPEATED:
                    return below
                count += below
        return count if count <= most else _TOO_MANY


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
