# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-reshard-to-collectives`: convert reshards to collectives.

A reshard is kept if it is between meshes of different numbers of devices, or, with
`keep_redundant_reshards`, if it changes nothing. One to or from a single device is kept, too,
but for a replicated tensor: a sharded one is gathered before it, or sliced after it. The same
holds between meshes of the same devices with different axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import (
    AllToAllParamList,
    AxisRefList,
    AxisTuple,
    ListOfAxisRefLists,
    Mesh,
    TensorSharding,
    are_equivalent,
    mesh_of,
)
from mlir_sdy.model.mesh_change import sharding_on
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding, look_through_barriers
from pyshardy.irtools.analyses import OF_SHARDINGS, UNCHANGED, Changes
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.resharding.plan import plan_reshard
from pyshardy.partition.types.steps import (
    AllGather,
    AllSlice,
    AllToAll,
    CollectivePermute,
    ReshardStep,
)
from pyshardy.pipeline import register_pass

_INSERTED = frozenset(
    {"sdy.all_gather", "sdy.all_slice", "sdy.all_to_all", "sdy.collective_permute"}
)


@register_pass("sdy-reshard-to-collectives", anchor="func.func", release="0.10.2")
def reshard_to_collectives(
    function: ir.OpView, *, keep_redundant_reshards: bool = False
) -> Changes:
    """Convert reshards to collectives.

    Replaces each `sdy.reshard` by a chain of `sdy.all_slice`, `sdy.collective_permute`,
    `sdy.all_to_all` and `sdy.all_gather` from the sharding of the input to that of the result.

    Reshards from or to a single device, and between meshes with different numbers of devices, are
    kept. Values are replicated before they move to a single device, and sliced after they move from
    one. For meshes with the same devices but different axes, the value is first resharded to
    a layout that both meshes can express; the remaining reshard changes nothing on the devices.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}]>
    %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]> : tensor<8x16xf32>
    ```

    becomes

    ```mlir
    %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<8x16xf32>
    ```

    Options:
        keep_redundant_reshards: whether to keep reshards that have no effect.

    Raises:
        PassError: a reshard has another rank than its operand.
    """
    reshards = operations_named({"sdy.reshard"}, function)
    if not reshards:
        return UNCHANGED
    context = FunctionContext.of(function)
    built = _StepAttributes(context.cache)
    for reshard in reshards:
        conversion = _Conversion(reshard, context.meshes, context.cache, built)
        conversion.run(keep_redundant=keep_redundant_reshards)
    return Changes(_INSERTED, OF_SHARDINGS)


class _StepAttributes:
    """The attributes of the operations of steps, built once for equal reshards."""

    def __init__(self, cache: AttributeCache):
        self._cache = cache
        self._built: dict[tuple[ReshardStep, str | Mesh, TensorSharding], tuple[Any, Any]] = {}

    def of(self, step: ReshardStep, mesh: str | Mesh, target: TensorSharding) -> tuple[Any, Any]:
        """Return the attribute of a step, None for a permute, and the sharding after it."""
        key = step, mesh, target
        attributes = self._built.get(key)
        if attributes is None:
            attributes = self._built[key] = self._build(*key)
        return attributes

    def _build(
        self, step: ReshardStep, mesh: str | Mesh, target: TensorSharding
    ) -> tuple[Any, Any]:
        cache = self._cache
        sharding = cache[_closed(mesh, step.result, target)]
        match step:
            case AllSlice(axes) | AllGather(axes):
                return cache[_lists(axes)], sharding
            case AllToAll(param):
                return cache[AllToAllParamList((param,))], sharding
            case CollectivePermute():
                return None, sharding


class _Conversion:
    """The conversion of one reshard."""

    def __init__(
        self,
        reshard: ir.Operation,
        meshes: Mapping[str, Mesh],
        cache: AttributeCache,
        built: _StepAttributes,
    ):
        self.reshard = reshard
        self.meshes = meshes
        self.cache = cache
        self.built = built
        self.input = look_through_barriers(reshard.operands[0])
        self.target = get_sharding(reshard.results[0])

    def run(self, *, keep_redundant: bool) -> None:
        target = self.target
        assert target is not None, "a reshard has a sharding"
        source = get_sharding(self.input)
        if source is None:
            source = TensorSharding.fully_closed(target.rank, target.mesh_or_ref)
        if keep_redundant and are_equivalent(source, target):
            return
        source_mesh, target_mesh = (mesh_of(s, self.meshes) for s in (source, target))
        if source_mesh is None or target_mesh is None:
            return  # the verifier reports unknown meshes
        if source_mesh.is_maximal or target_mesh.is_maximal:
            self._hand_over_replicated(source, target)
            return
        if source.is_fully_replicated and target.is_fully_replicated:
            self._replace(self.input)
            return
        if target.is_fully_replicated:
            target = target.with_mesh(source.mesh_or_ref)
        elif source.is_fully_replicated:
            source = source.with_mesh(target.mesh_or_ref)
        elif source_mesh.axes != target_mesh.axes:
            if source_mesh.total_size == target_mesh.total_size:
                self._change_mesh(source, target)
            return
        if source.rank != target.rank:
            raise PassError(
                error(
                    f"'sdy.reshard' op has a sharding of rank {target.rank}, but its operand "
                    f"has one of rank {source.rank}",
                    location_of(self.reshard.location),
                )
            )
        self._replace(self._chain(self.input, source, target))

    def _hand_over_replicated(self, source: TensorSharding, target: TensorSharding) -> None:
        """Gather before a reshard to a single device, and slice after a reshard from one."""
        if not source.is_fully_replicated:
            self.reshard.operands[0] = self._chain(self.input, source, _replicated(source))
        elif not target.is_fully_replicated:
            replicated = _replicated(target)
            with ir.InsertionPoint(self.reshard), self.reshard.location:
                everywhere = sdy.reshard(self.input, self.cache[replicated])
            self._replace(self._chain(everywhere, replicated, target))

    def _change_mesh(self, source: TensorSharding, target: TensorSharding) -> None:
        """Convert to another mesh of the same devices, by a layout that both meshes can express.

        That is the one before, the one afterwards, or else the replicated one. A reshard between
        equal layouts is kept: it has no effect on devices.
        """
        mesh, other = mesh_of(source, self.meshes), mesh_of(target, self.meshes)
        assert mesh is not None, "the caller has found the meshes"
        assert other is not None, "the caller has found the meshes"
        before, after = source, sharding_on(source, mesh, other, target.mesh_or_ref)
        if after is None:
            earlier = sharding_on(target, other, mesh, source.mesh_or_ref)
            before = earlier or _replicated(source)
            after = target if earlier else _replicated(target)
        value = self._chain(self.input, source, before)
        with ir.InsertionPoint(self.reshard), self.reshard.location:
            value = sdy.reshard(value, self.cache[after])
        self._replace(self._chain(value, after, target))

    def _chain(self, value: ir.Value, source: TensorSharding, target: TensorSharding) -> ir.Value:
        """Build the collectives from one sharding to another."""
        mesh = mesh_of(source, self.meshes)
        assert mesh is not None
        shape = tuple(-1 if size < 0 else size for size in ir.ShapedType(value.type).shape)
        reorder = mesh_of(target, self.meshes) != mesh
        steps = plan_reshard(source.dim_axes, target.dim_axes, shape, mesh, reorder=reorder)
        written = source.mesh_or_ref
        with ir.InsertionPoint(self.reshard), self.reshard.location:
            for step in steps:
                written, value = self._emit(step, value, written, target)
        return value

    def _emit(
        self, step: ReshardStep, value: ir.Value, mesh: str | Mesh, target: TensorSharding
    ) -> tuple[str | Mesh, ir.Value]:
        """Build the operation of a step; return its mesh and its result."""
        if isinstance(step, CollectivePermute):
            mesh = target.mesh_or_ref
        what, sharding = self.built.of(step, mesh, target)
        match step:
            case AllSlice():
                return mesh, sdy.all_slice(value, what, sharding)
            case AllGather():
                return mesh, sdy.all_gather(value, what, sharding)
            case AllToAll():
                return mesh, sdy.all_to_all(value, what, sharding)
            case CollectivePermute():
                return mesh, sdy.collective_permute(value, sharding)

    def _replace(self, value: ir.Value) -> None:
        replace_by(self.reshard, value)


def _replicated(sharding: TensorSharding) -> TensorSharding:
    dims = (dim.with_axes(()) for dim in sharding.dim_shardings)
    return sharding.with_dims(tuple(dims))


def _closed(mesh: str | Mesh, axes: Sequence[AxisTuple], target: TensorSharding) -> TensorSharding:
    sharding = TensorSharding.from_axes(mesh, axes, target.unreduced_axes)
    return replace(sharding, reduction_kind=target.reduction_kind)


def _lists(axes: Sequence[AxisTuple]) -> ListOfAxisRefLists:
    return ListOfAxisRefLists(tuple(map(AxisRefList, axes)))
