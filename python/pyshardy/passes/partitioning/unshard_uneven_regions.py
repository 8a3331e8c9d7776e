# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-unshard-uneven-regions`: replicate operations whose shards are gathered again.

Arguments and results of a program must divide evenly. Where the sharding of an argument was dropped
for that, the shardings that propagation derived from it are left, and only add communication.

1. A region is a set of operations with results that are sharded unevenly, connected by such
   results. The uneven dimensions lose their axes.
2. Operands from outside of the region, and the results of operations outside that use it, have
   none of these axes. Reshards and constraints, calls, and operations with regions are never
   part of it: the user's shardings are kept, and so are those of plans (`sdy-auto-shard`).
3. Gathering the results that are used outside costs more than the additional computation on
   each device. See `cost`.

The arguments and results of the function divide evenly.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, TensorSharding, mesh_of
from mlir_sdy.traversal import SCALAR_BODIES, may_have_regions
from mlir_sdy.uses import defining_operation
from mlir_sdy.values import get_sharding, set_result_shardings_of, sharded_operations
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import Hardware, load_hardware
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.collectives import COLLECTIVES_WITH_GROUPS
from pyshardy.irtools.functions import has_static_shape
from pyshardy.irtools.shardings import result_kinds
from pyshardy.irtools.tensor_types import tensor_bytes
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.resharding.cost import Reshard, reshard_cost
from pyshardy.partition.types.planned_axes import has_planned_axes
from pyshardy.pipeline import register_pass
from pyshardy.rules import ShardingRuleLookup

_CONSTANT = "sdy.constant"

_NEVER_INSIDE = frozenset(
    {
        "func.call",
        "stablehlo.collective_permute",
        "stablehlo.composite",
        "stablehlo.custom_call",
        "stablehlo.rng",  # replicated random numbers must be broadcast
        *COLLECTIVES_WITH_GROUPS,
    }
)
"""Operations that depend on more than their operands, or on the device."""


@register_pass("sdy-unshard-uneven-regions", anchor="func.func", release="pyshardy")
def unshard_uneven_regions(
    function: ir.Operation | ir.OpView, *, hardware: HardwareOption = DEFAULT_HARDWARE
) -> Changes | None:
    """Drop uneven shardings that only add communication.

    If the sharding of an argument was dropped because it is not divisible, the shardings that
    propagation derived from it remain. The pass replicates a region of operations whose inputs and
    outputs are not sharded along these axes, unless computing the region on all devices costs more
    than the gathers. On 4 devices,

    ```mlir
    %0 = stablehlo.negate %a
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<9x4xf32>
    return %0 : tensor<9x4xf32>
    ```

    becomes

    ```mlir
    %0 = stablehlo.negate %a
        {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {}]>]>} : tensor<9x4xf32>
    return %0 : tensor<9x4xf32>
    ```

    Raises:
        UsageError: there is no such hardware.
    """
    context, devices = FunctionContext.of(function), load_hardware(hardware)
    module, meshes = context.module, context.meshes
    kinds = () if module is None else result_kinds(module)
    if not any(
        _uneven_dims(value_type, sharding, meshes)
        for kind in kinds
        for value_type, sharding in kind.results()
    ):
        return UNCHANGED
    for region in _regions(function, meshes):
        if region.is_closed() and region.saved(devices) > region.work(context.rules, devices):
            region.unshard(context.cache)
    return None


@dataclass
class _Region:
    """Operations that are connected by values with uneven dimensions.

    Attributes:
        meshes: the meshes of the module by name.
        operations: the operations, in the order of the text.
    """

    meshes: Mapping[str, Mesh]
    operations: list[ir.Operation] = field(default_factory=list[ir.Operation])

    def is_closed(self) -> bool:
        """Whether no value around the region is sharded along its axes (rule 2)."""
        axes = {
            axis.name
            for operation in self.operations
            for result in operation.results
            for axis in self._lost_axes(result)
        }
        inside = set(self.operations)
        for operation in self.operations:
            if not _may_be_inside(operation) or has_planned_axes(operation):
                return False
            outside = [
                operand
                for operand in operation.operands
                if defining_operation(operand) not in inside
            ]
            users = {
                use.owner.operation: None for result in operation.results for use in result.uses
            }
            outside += [result for user in users if user not in inside for result in user.results]
            if any(_names(get_sharding(value)) & axes for value in outside):
                return False
        return True

    def saved(self, hardware: Hardware) -> float:
        """Return the seconds in which the results that are used outside are gathered."""
        inside = set(self.operations)
        cost = 0.0
        for operation in self.operations:
            for result in operation.results:
                sharding = get_sharding(result)
                is_used = any(use.owner.operation not in inside for use in result.uses)
                if sharding is None or not is_used or not self._lost_axes(result):
                    continue
                mesh = mesh_of(sharding, self.meshes)
                assert mesh is not None, "the verifier refuses shardings without a mesh"
                kept = self._without_axes(result, sharding).dim_axes
                reshard = Reshard.of(result, sharding.dim_axes, kept, mesh)
                cost += reshard_cost(reshard, hardware)
        return cost

    def work(self, rules: ShardingRuleLookup, hardware: Hardware) -> float:
        """Return the seconds of the additional computation on a device without the axes."""
        cost = 0.0
        for operation in self.operations:
            if operation.name == _CONSTANT:
                continue
            values = (*operation.operands, *operation.results)
            accessed = sum(tensor_bytes(value.type) for value in values)
            rule = rules.rule(operation)
            count = math.prod(rule.factor_sizes) if rule else _elements(operation.results[0])
            shards = max(self._shards(result) for result in operation.results)
            cost += hardware.work_seconds(2 * count, accessed) * (1 - 1 / shards)
        return cost

    def unshard(self, cache: AttributeCache) -> None:
        """Remove the axes from the uneven dimensions."""
        for operation in self.operations:
            changed = {
                index: self._without_axes(result, sharding)
                for index, result in enumerate(operation.results)
                if (sharding := get_sharding(result)) is not None and self._lost_axes(result)
            }
            set_result_shardings_of(operation, changed, cache)

    def _lost_axes(self, value: ir.Value) -> list[AxisRef]:
        sharding = get_sharding(value)
        if sharding is None:
            return []
        dims = _uneven_dims(value.type, sharding, self.meshes)
        return [axis for dim in dims for axis in sharding.dim_axes[dim]]

    def _without_axes(self, value: ir.Value, sharding: TensorSharding) -> TensorSharding:
        dims = _uneven_dims(value.type, sharding, self.meshes)
        return sharding.with_dims_replaced(
            {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
        )

    def _shards(self, value: ir.Value) -> int:
        sharding = get_sharding(value)
        mesh = None if sharding is None else mesh_of(sharding, self.meshes)
        return 1 if mesh is None else mesh.axes_size(self._lost_axes(value))


def _regions(function: ir.Operation | ir.OpView, meshes: Mapping[str, Mesh]) -> Iterable[_Region]:
    """Return the regions of a function, by the first operation of each."""
    region_of: dict[ir.Operation, _Region] = {}
    order: dict[ir.Operation, int] = {}
    for operation, _, _ in sharded_operations(function):
        order[operation] = len(order)
        shardings = [get_sharding(result) for result in operation.results]
        if not any(
            sharding is not None and _uneven_dims(result.type, sharding, meshes)
            for result, sharding in zip(operation.results, shardings, strict=True)
        ):
            continue
        joined = _Region(meshes, [operation])
        region_of[operation] = joined
        for operand in operation.operands:
            maker = defining_operation(operand)
            other = None if maker is None else region_of.get(maker)
            if other is None or other is joined:
                continue
            if len(other.operations) > len(joined.operations):
                joined, other = other, joined
            for each in other.operations:
                region_of[each] = joined
            joined.operations += other.operations
    regions = list({id(region): region for region in region_of.values()}.values())
    for region in regions:
        region.operations.sort(key=order.__getitem__)
    return regions


def _may_be_inside(operation: ir.Operation) -> bool:
    name = operation.name
    if name.startswith("sdy.") and name != _CONSTANT:
        return False
    if name in _NEVER_INSIDE:
        return False
    return name in SCALAR_BODIES or not may_have_regions(name)


def _uneven_dims(
    value_type: ir.Type, sharding: TensorSharding, meshes: Mapping[str, Mesh]
) -> list[int]:
    """Return the dimensions that their axes don't divide."""
    mesh = mesh_of(sharding, meshes)
    if mesh is None or mesh.is_maximal or not has_static_shape(value_type):
        return []
    sizes = zip(ir.RankedTensorType(value_type).shape, sharding.sharded_sizes(mesh), strict=False)
    return [dim for dim, (size, shards) in enumerate(sizes) if size % shards]


def _elements(value: ir.Value) -> int:
    return math.prod(ir.RankedTensorType(value.type).shape) if has_static_shape(value.type) else 0


def _names(sharding: TensorSharding | None) -> set[str]:
    return set() if sharding is None else {axis.name for axis in sharding.all_axes()}
