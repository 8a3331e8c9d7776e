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
from typing import NamedTuple

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import identity, ir
from mlir_sdy.model import Mesh, TensorSharding, are_equivalent, mesh_of
from mlir_sdy.values import get_sharding, set_result_shardings_of
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.resharding.region_boundary import (
    KeptReshards,
    RegionBoundary,
    defining_operation,
    is_made_by_each_device,
    is_plain,
)
from pyshardy.partition.resharding.share_reshards import Cost
from pyshardy.partition.types.steps import AxesPerDim


class _Member(NamedTuple):
    """An elementwise operation whose tensors have one sharding, read once.

    Attributes:
        key: the identity of its result: the bindings' hash of an operation depends on its operands.
        operation: the operation.
        result: its only result.
        operands: its operands.
        sharding: the sharding of its result.
        kind: the identities of the types of its operands and its result.
    """

    key: int
    operation: ir.Operation
    result: ir.Value
    operands: Sequence[ir.Value]
    sharding: TensorSharding
    kind: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Region:
    """Connected elementwise operations of a block, all in one sharding.

    Attributes:
        members: the operations by their keys.
        sharding: the sharding of their tensors.
        mesh: its mesh.
        inputs: the values that they use from outside, without scalars.
        outputs: for each of their results that is used outside the users there.
    """

    members: Mapping[int, _Member]
    sharding: TensorSharding
    mesh: Mesh
    inputs: Sequence[ir.Value]
    outputs: Sequence[tuple[ir.Value, Sequence[ir.Operation]]]


class _Shardings(dict[ir.Value, TensorSharding | None]):
    """The shardings of values, each read once."""

    def __missing__(self, value: ir.Value) -> TensorSharding | None:
        sharding = self[value] = get_sharding(value)
        return sharding


class ElementwiseRegions:
    """Changes the shardings of regions of elementwise operations, if profitable.

    1. A region is a maximal set of elementwise operations in a block that use each other's results
       and whose tensors all have one sharding.
    2. The candidates are the shardings from which reshards bring its inputs, and those to which
       reshards bring its outputs, if their shards aren't larger, since a sharding may save memory.
       Larger shards are a candidate if the program has them around the region anyway: all inputs
       are slices of results of operations that need them, such as `stablehlo.cholesky`, and an
       output is gathered to them.
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
        needs_replication: whether an operation needs unsharded dimensions.
        cost: returns the cost of a reshard.
        work: returns the cost of an elementwise operation in a sharding.
    """

    def __init__(
        self,
        meshes: Mapping[str, Mesh],
        cache: AttributeCache,
        is_elementwise: Callable[[ir.Operation], bool],
        needs_replication: Callable[[ir.Operation], bool],
        cost: Cost,
        work: Callable[[ir.Operation, TensorSharding, Mesh], float],
    ):
        self._meshes = meshes
        self._cache = cache
        self._is_elementwise = is_elementwise
        self._needs_replication = needs_replication
        self._boundary = RegionBoundary(meshes, cache)
        self._kept = KeptReshards(is_elementwise)
        self._cost = cost
        self._work = work
        self._seen: set[int] = set()
        self._members: dict[int, _Member | None] = {}
        self._known = _Shardings()

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
        start = self._member(first)
        mesh = None if start is None else mesh_of(start.sharding, self._meshes)
        if start is None or mesh is None or mesh.is_maximal:
            return None
        sharding, block = start.sharding, first.block
        seen, known = self._seen, self._known

        def member_of(value: ir.Value, key: int) -> _Member | None:
            """Return the member of the region that defines a value; None if it is outside."""
            if isinstance(value, ir.BlockArgument) or key in seen:
                return None
            if not _has_axes(known[value], sharding):
                return None
            operation = value.owner.operation
            return self._member(operation) if operation.block == block else None

        found, pending, outside = {start.key: start}, [start], set[int]()
        users_of: dict[int, list[tuple[int, ir.Operation]]] = {}
        while pending:
            member = pending.pop()
            around = [(identity(operand), operand) for operand in member.operands]
            users = users_of[member.key] = []
            for use in member.result.uses:
                user = use.owner.operation
                result = _result(user)
                key = 0 if result is None else identity(result)
                users.append((key, user))
                if result is not None:
                    around.append((key, result))
            for key, value in around:
                if key in found or key in outside:
                    continue
                other = member_of(value, key)
                if other is None:
                    outside.add(key)
                    continue
                found[key] = other
                pending.append(other)
        seen.update(found)
        inputs: dict[ir.Value, None] = {}
        outputs: list[tuple[ir.Value, Sequence[ir.Operation]]] = []
        for key, member in found.items():
            for operand in member.operands:
                if identity(operand) not in found and shape_of(operand.type):
                    inputs[operand] = None
            others = [user for user_key, user in users_of[key] if user_key not in found]
            if others:
                outputs.append((member.result, others))
        return _Region(found, sharding, mesh, list(inputs), outputs)

    def _member(self, operation: ir.Operation) -> _Member | None:
        """Return an elementwise operation if its tensors have one sharding; None if not.

        Constants don't count: they would connect regions that have nothing else in common.
        """
        result = _result(operation)
        if result is None:
            return None
        key = identity(result)
        if key not in self._members:
            self._members[key] = self._find_member(operation, result, key)
        return self._members[key]

    def _find_member(self, operation: ir.Operation, result: ir.Value, key: int) -> _Member | None:
        known = self._known
        sharding = known[result]
        if sharding is None or not is_plain(sharding) or len(operation.results) != 1:
            return None
        operands = list(operation.operands)
        types = [operand.type for operand in operands]
        has_tensors = False
        for operand, operand_type in zip(operands, types, strict=True):
            if not shape_of(operand_type):
                continue
            has_tensors = True
            other = known[operand]
            if other is sharding:
                continue
            if other is None or not is_plain(other) or not are_equivalent(other, sharding):
                return None
        result_type = result.type
        is_static = all(size > 0 for size in shape_of(result_type))
        if not (has_tensors and is_static and self._is_elementwise(operation)):
            return None
        kind = tuple([identity(each) for each in (*types, result_type)])
        return _Member(key, operation, result, operands, sharding, kind)

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
        self._members.clear()  # Shardings change.
        self._known.clear()
        self._kept.clear()
        for value in region.inputs:
            uses = [use for use in value.uses if _key(use.owner.operation) in region.members]
            self._boundary.bring(value, best, uses)
        for member in region.members.values():
            set_result_shardings_of(member.operation, {0: best}, self._cache)
        for value, users in region.outputs:
            self._boundary.take(value, users, best, region.sharding)

    def _candidates(self, region: _Region) -> Iterator[TensorSharding]:
        """Yield the shardings that reshards bring inputs from, and outputs to."""
        origins = [self._boundary.origin(value) for value in region.inputs]
        sources = [get_sharding(origin) for origin in origins]
        targets = [self._boundary.target(user) for _, users in region.outputs for user in users]
        gathered = {target.dim_axes for target in targets if target is not None}
        for origin, source in zip(origins, sources, strict=True):
            if not is_made_by_each_device(origin):
                gathered &= self._needed_axes(origin, source)
        seen = {region.sharding.dim_axes}
        least = _num_shards(region.sharding, region.mesh)
        for sharding in filter(None, (*sources, *targets)):
            axes = sharding.dim_axes
            if axes in seen or not (
                _num_shards(sharding, region.mesh) >= least or axes in gathered
            ):
                continue
            seen.add(axes)
            yield TensorSharding.from_axes(region.sharding.mesh_or_ref, axes)

    def _needed_axes(self, value: ir.Value, sharding: TensorSharding | None) -> set[AxesPerDim]:
        """Return the axes of a value whose operation needs unsharded dimensions; else none."""
        maker = defining_operation(value)
        if maker is None or sharding is None or not self._needs_replication(maker):
            return set()
        return {sharding.dim_axes}

    def _total(self, region: _Region, sharding: TensorSharding) -> float:
        """Return the cost of a region, and of the reshards around it, in a sharding."""
        present, mesh = region.sharding, region.mesh
        is_present = sharding is present
        total = self._total_work(region, sharding)
        for value in region.inputs:
            origin = self._boundary.origin(value)
            if is_present:
                # A reshard that others use as well stays in any case.
                if origin != value and self._is_used_only_inside(value, region):
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

    def _total_work(self, region: _Region, sharding: TensorSharding) -> float:
        """Return the cost of the operations of a region in a sharding, each kind looked up once."""
        one_of_kind = {member.kind: member.operation for member in region.members.values()}
        works = {
            kind: self._work(operation, sharding, region.mesh)
            for kind, operation in one_of_kind.items()
        }
        return sum([works[member.kind] for member in region.members.values()])

    def _reshard_cost(self, value: ir.Value, target: TensorSharding, mesh: Mesh) -> float:
        sharding = get_sharding(value)
        assert sharding is not None, "inputs of a region have shardings"
        return (
            0.0 if are_equivalent(sharding, target) else self._cost(value, sharding, target, mesh)
        )

    def _is_used_only_inside(self, value: ir.Value, region: _Region) -> bool:
        """Whether only the region uses a resharded value, and no equal one stays."""
        if any(_key(use.owner.operation) not in region.members for use in value.uses):
            return False
        return not self._kept.has_equal(value.owner.operation)


def _num_shards(sharding: TensorSharding, mesh: Mesh) -> int:
    return mesh.axes_size([axis for axes in sharding.dim_axes for axis in axes])


def _has_axes(sharding: TensorSharding | None, wanted: TensorSharding) -> bool:
    """Whether a sharding has the mesh and the axes of dimensions of another one."""
    return sharding is wanted or (
        sharding is not None
        and sharding.mesh_or_ref == wanted.mesh_or_ref
        and sharding.dim_axes == wanted.dim_axes
    )


def _result(operation: ir.Operation) -> ir.Value | None:
    """Return the first result of an operation; None without results."""
    results = operation.results
    return results[0] if len(results) else None


def _key(operation: ir.Operation) -> int:
    """Return the identity of the first result of an operation; 0 without results."""
    result = _result(operation)
    return 0 if result is None else identity(result)
