# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regions of elementwise operations that cost less in another sharding.

    %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x8xf32>   // from [{"x"}, {}]
    %2 = stablehlo.tanh %1 : tensor<8x8xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<8x8xf32>
    %4 = sdy.reshard %2 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>
    %5 = sdy.reshard %3 <@mesh, [{"x"}, {}]> : tensor<8x8xf32>

`%2` and `%3` are computed in `[{"x"}, {}]` instead, without reshards. Moving one reshard across one
operation wouldn't find this, as `%2` has two uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Mesh, TensorSharding, are_equivalent, mesh_of
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.resharding.region_boundary import (
    RegionBoundary,
    is_made_by_each_device,
    is_plain,
    maker_of,
)
from pyshardy.partition.resharding.share_reshards import Cost


@dataclass(frozen=True, slots=True)
class _Region:
    """Elementwise operations of a block that use each other's results, all in one sharding.

    Attributes:
        operations: the operations, by the identity of their results: the bindings' hash of an
            operation depends on its operands.
        sharding: the sharding of their tensors.
        mesh: its mesh.
        inputs: the values that they use from outside, without scalars.
        outputs: for each of their results that is used outside the users there.
    """

    operations: Mapping[int, ir.Operation]
    sharding: TensorSharding
    mesh: Mesh
    inputs: Sequence[ir.Value]
    outputs: Sequence[tuple[ir.Value, Sequence[ir.Operation]]]


class ElementwiseRegions:
    """Changes the shardings of regions of elementwise operations, if profitable.

    1. A region is a maximal set of elementwise operations in a block that use each other's results
       and whose tensors all have one sharding.
    2. The candidates are the shardings from which reshards bring its inputs, and those to which
       reshards bring its outputs, if their shards aren't larger, since a sharding may save memory.
    3. In a candidate sharding, an input that a reshard brings starts from the operand of this
       reshard; each other input needs a new one, unless each device can compute the value. An
       output that is used without a reshard needs a new one.
    4. The cheapest candidate is taken if it costs less than the present sharding, in communication
       and computation.

    Args:
        meshes: the meshes by their names.
        cache: makes attributes.
        is_elementwise: whether each element of an operation's only result depends on those at the
            same position only.
        cost: returns the cost of a reshard.
        work: returns the cost of an elementwise operation in a sharding.
    """

    def __init__(
        self,
        meshes: Mapping[str, Mesh],
        cache: AttributeCache,
        is_elementwise: Callable[[ir.Operation], bool],
        cost: Cost,
        work: Callable[[ir.Operation, TensorSharding, Mesh], float],
    ):
        self._meshes = meshes
        self._cache = cache
        self._is_elementwise = is_elementwise
        self._boundary = RegionBoundary(meshes, cache)
        self._cost = cost
        self._work = work
        self._seen: set[int] = set()
        self._shardings: dict[int, TensorSharding | None] = {}

    def visit(self, reshards: Iterable[ir.Operation]) -> None:
        """Change the regions that reshards lead to or from; reshards may be unused afterwards."""
        for reshard in reshards:
            value: ir.Value = reshard.operands[0]
            around = [use.owner.operation for use in reshard.results[0].uses]
            if not isinstance(value, ir.BlockArgument):
                around.append(value.owner.operation)
            for operation in around:
                region = None if _key(operation) in self._seen else self._region(operation)
                if region is not None:
                    self._improve(region)

    # --- Finding ----------------------------------------------------------------------------

    def _region(self, first: ir.Operation) -> _Region | None:
        """Return the region of an operation; None if it can't be in one."""
        sharding = self._plain_sharding(first)
        mesh = None if sharding is None else mesh_of(sharding, self._meshes)
        if sharding is None or mesh is None or mesh.is_maximal:
            return None
        block, axes = first.block, sharding.dim_axes

        def belongs(operation: ir.Operation) -> bool:
            if _key(operation) in self._seen or operation.block != block:
                return False
            other = self._plain_sharding(operation)
            return (
                other is not None
                and other.mesh_or_ref == sharding.mesh_or_ref
                and other.dim_axes == axes
            )

        found, pending = {_key(first): first}, [first]
        while pending:
            for neighbor in _neighbors(pending.pop()):
                if _key(neighbor) not in found and belongs(neighbor):
                    found[_key(neighbor)] = neighbor
                    pending.append(neighbor)
        self._seen.update(found)
        inputs: dict[ir.Value, None] = {}
        outputs: list[tuple[ir.Value, Sequence[ir.Operation]]] = []
        for operation in found.values():
            for operand in operation.operands:
                if shape_of(operand.type) and identity(operand) not in found:
                    inputs[operand] = None
            users = [use.owner.operation for use in operation.results[0].uses]
            outside = [user for user in users if _key(user) not in found]
            if outside:
                outputs.append((operation.results[0], outside))
        return _Region(found, sharding, mesh, list(inputs), outputs)

    def _plain_sharding(self, operation: ir.Operation) -> TensorSharding | None:
        """Return the sharding of all tensors of an elementwise operation; None without one.

        Constants don't count: they would connect regions that have nothing else in common.
        """
        key = _key(operation)
        if key not in self._shardings:
            self._shardings[key] = self._find_plain_sharding(operation)
        return self._shardings[key]

    def _find_plain_sharding(self, operation: ir.Operation) -> TensorSharding | None:
        if not self._is_elementwise(operation):
            return None
        if not any(shape_of(operand.type) for operand in operation.operands):
            return None
        sharding = get_sharding(operation.results[0])
        if sharding is None or not is_plain(sharding):
            return None
        if any(size <= 0 for size in shape_of(operation.results[0].type)):
            return None
        for operand in operation.operands:
            if shape_of(operand.type):
                other = get_sharding(operand)
                if other is None or not is_plain(other) or not are_equivalent(other, sharding):
                    return None
        return sharding

    # --- Changing ---------------------------------------------------------------------------

    def _improve(self, region: _Region) -> None:
        candidates = list(self._candidates(region))
        if not candidates:
            return
        least, best = self._total(region, region.sharding), None
        for candidate in candidates:
            total = self._total(region, candidate)
            if total < least:
                least, best = total, candidate
        if best is None:
            return
        self._shardings.clear()  # They change.
        for value in region.inputs:
            uses = [use for use in value.uses if _key(use.owner.operation) in region.operations]
            self._boundary.bring(value, best, uses)
        for operation in region.operations.values():
            set_result_shardings_of(operation, {0: best}, self._cache)
        for value, users in region.outputs:
            self._boundary.take(value, users, best, region.sharding)

    def _candidates(self, region: _Region) -> Iterator[TensorSharding]:
        """Yield the shardings that reshards bring inputs from, and outputs to."""
        around = [get_sharding(self._boundary.origin(value)) for value in region.inputs]
        around += [self._boundary.target(user) for _, users in region.outputs for user in users]
        seen = {region.sharding.dim_axes}
        least = _num_shards(region.sharding, region.mesh)
        for sharding in filter(None, around):
            if sharding.dim_axes not in seen and _num_shards(sharding, region.mesh) >= least:
                seen.add(sharding.dim_axes)
                yield TensorSharding.from_axes(region.sharding.mesh_or_ref, sharding.dim_axes)

    def _total(self, region: _Region, sharding: TensorSharding) -> float:
        """Return the cost of a region, and of the reshards around it, in a sharding."""
        present, mesh = region.sharding, region.mesh
        is_present = sharding is present
        total = sum(self._work(each, sharding, mesh) for each in region.operations.values())
        for value in region.inputs:
            origin = self._boundary.origin(value)
            if is_present:
                # A reshard that others use as well stays in any case.
                if origin != value and self._is_used_inside(value, region):
                    total += self._reshard_cost(origin, present, mesh)
            elif not is_made_by_each_device(origin):
                total += self._reshard_cost(origin, sharding, mesh)
        for value, users in region.outputs:
            wanted = (self._boundary.target(user) or present for user in users)
            total += sum(
                self._cost(value, sharding, target, mesh)
                for target in {target.dim_axes: target for target in wanted}.values()
                if not are_equivalent(target, sharding)
            )
        return total

    def _reshard_cost(self, value: ir.Value, target: TensorSharding, mesh: Mesh) -> float:
        sharding = get_sharding(value)
        assert sharding is not None, "inputs of a region have shardings"
        return (
            0.0 if are_equivalent(sharding, target) else self._cost(value, sharding, target, mesh)
        )

    def _is_used_inside(self, value: ir.Value, region: _Region) -> bool:
        return all(_key(use.owner.operation) in region.operations for use in value.uses)


def _num_shards(sharding: TensorSharding, mesh: Mesh) -> int:
    return mesh.axes_size([axis for axes in sharding.dim_axes for axis in axes])


def _key(operation: ir.Operation) -> int:
    """Return the identity of the first result of an operation; 0 without results."""
    return identity(operation.results[0]) if len(operation.results) else 0


def _neighbors(operation: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the operations that define operands of an operation, or use its result."""
    for operand in operation.operands:
        maker = maker_of(operand)
        if maker is not None:
            yield maker
    for use in operation.results[0].uses:
        yield use.owner.operation
