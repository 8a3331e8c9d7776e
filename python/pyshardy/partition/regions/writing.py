# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing the axes of a graph to its function: shardings, and the reshards of values."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.uses import replace_by
from mlir_sdy.values import set_result_shardings_of
from pyshardy.irtools.walks import in_block
from pyshardy.partition.regions.graph import (
    RegionGraph,
    RegionOperation,
    ValueUse,
)
from pyshardy.partition.resharding.recomputation import made_in
from pyshardy.partition.types.steps import AxesPerDim


class RegionWriter:
    """Writes the axes of operations and values that have changed.

    1. An operation gets the sharding of its result, and its all-reduce, too, unless the result is
       complete without.
    2. An operand keeps the reshard that it has, if that is still the one to its axes.
    3. A value that each device can compute is computed again along other axes.
    4. Other operands share a reshard, in the block of the value and before the first of them.

    Args:
        graph: the graph.
        cache: makes attributes.
    """

    def __init__(self, graph: RegionGraph, cache: AttributeCache):
        self._graph = graph
        self._cache = cache

    def write(self, operations: Collection[RegionOperation]) -> None:
        """Write the axes of some operations, and of their operands and results."""
        values = dict.fromkeys(use.value for each in operations for use in each.uses)
        for operation in operations:
            self._write_result(operation)
        for value in values:
            for use in value.uses.values():
                self._write_use(use)

    def _sharding(self, axes: AxesPerDim) -> TensorSharding:
        return TensorSharding.from_axes(self._graph.mesh_or_ref, axes)

    def _write_result(self, operation: RegionOperation) -> None:
        value, all_reduce = operation.result, operation.all_reduce
        sharding = self._sharding(value.axes)
        set_result_shardings_of(operation.operation, {0: sharding}, self._cache)
        if all_reduce is None:
            return
        if value.reduced:
            set_result_shardings_of(all_reduce, {0: sharding}, self._cache)
        else:
            value.value = operation.operation.results[0]
            replace_by(all_reduce, value.value)

    def _write_use(self, use: ValueUse) -> None:
        users = [user for user in use.users if user.reshard != use.axes or not use.is_resharded]
        if not users:
            return
        value = use.value.value
        if use.is_resharded:
            value = self._brought(use, [user.operation.operation for user in users])
        for user in users:
            user.operation.operation.operands[user.index] = value

    def _brought(self, use: ValueUse, users: Sequence[ir.Operation]) -> ir.Value:
        """Return a value along the axes of a use, before operations that use it."""
        value = use.value.value
        owner = value.owner
        block = owner if isinstance(owner, ir.Block) else owner.operation.block
        first = _first([in_block(user, block) for user in users])
        sharding = self._sharding(use.axes)
        if use.value.is_made_by_each_device:
            return made_in(value, sharding, first, self._cache)
        place = ir.InsertionPoint(first)
        return sdy.reshard(value, self._cache[sharding], loc=first.location, ip=place)


def _first(operations: Sequence[ir.Operation]) -> ir.Operation:
    """Return the first of several operations of a block in the order of the text."""
    first = operations[0]
    for operation in operations[1:]:
        if operation.is_before_in_block(first):
            first = operation
    return first
