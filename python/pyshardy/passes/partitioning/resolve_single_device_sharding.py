# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-resolve-single-device-sharding`: run operations on single devices.

Floating-point numbers are added as integers of the same bits: -0.0 plus 0.0 would be 0.0, and the
payload of a NaN may get lost.

1. The operation is moved into a conditional that all other devices skip. Other operations on
   that device use its results directly.
2. All other uses get the result of an `sdy.all_reduce` over all axes of the mesh of the
   function, to which the other devices contribute zeros.
3. Reshards between the single device and replicated tensors have no effect any more, and are
   erased.

Operands and results of such operations are on their device or replicated (see
`insert_explicit_reshards`).
"""

from __future__ import annotations

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import has_discardable, remove_discardable
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import AxisRef, AxisRefList, TensorSharding, mesh_of
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import replace_by
from mlir_sdy.values import SHARDING, get_sharding, rank_of
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.tensor_types import bytes_of
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.local.device_kind import are_replicas, check_number_of_devices
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.partition.types.single_device import (
    is_on_single_device,
    single_device_sharding,
)
from pyshardy.passes.options import PartitionCount, ReplicaCount
from pyshardy.pipeline import register_pass

_INTEGER_WIDTHS = frozenset({2, 4, 8, 16, 32, 64})
_Computed = dict[tuple[ir.Value, int], ir.Value]


@register_pass("sdy-resolve-single-device-sharding", anchor="func.func", release="0.12")
def resolve_single_device_sharding(
    function: ir.OpView, *, replica_count: ReplicaCount = 1, partition_count: PartitionCount = 1
) -> Changes | None:
    """Run operations with a single-device sharding on that device only.

    Wraps an operation whose result is on a single device in a conditional that only this device
    executes. The result is broadcast by an `sdy.all_reduce` to which the other devices contribute
    zeros, over all axes of the first mesh with axes that the function uses.

    ```mlir
    %1 = sdy.reshard %0 <@device_1, []> : tensor<8xf32>
    %2 = stablehlo.negate %1 {sdy.sharding = #sdy.sharding_per_value<[<@device_1, []>]>}
        : tensor<8xf32>
    %3 = sdy.reshard %2 <@mesh, [{}]> : tensor<8xf32>
    ```

    becomes

    ```mlir
    %1 = "stablehlo.if"(%is_device_1) ({
      %4 = stablehlo.negate %0 : tensor<8xf32>
      stablehlo.return %4 : tensor<8xf32>
    }, {
      %4 = stablehlo.constant dense<0.0> : tensor<8xf32>
      stablehlo.return %4 : tensor<8xf32>
    }) : (tensor<i1>) -> tensor<8xf32>
    %3 = sdy.all_reduce {"x"} %1 out_sharding=<@mesh, [{}]> : tensor<8xf32>
    ```

    Raises:
        PassError: an operation has results on several devices, or on one that is not in the mesh;
            one of its operands is sharded; its type has no sum. The function is not changed then.
    """
    module = enclosing_module(function.operation)
    meshes = {} if module is None else meshes_of(module)
    has_single_devices = any(mesh.is_maximal for mesh in meshes.values())
    mesh_name = device_mesh_of(function, meshes) if has_single_devices else None
    if module is None or mesh_name is None:
        return UNCHANGED
    replicas = are_replicas(replica_count, partition_count, function.operation)
    check_number_of_devices(module)
    with function.context:
        _Resolver(FunctionContext.of(function), mesh_name, replicas=replicas).run(function)
    return None


class _Resolver:
    """One run over a function."""

    def __init__(self, context: FunctionContext, mesh_name: str, *, replicas: bool):
        self.meshes = context.meshes
        self.cache = context.cache
        self.mesh_name = mesh_name
        self.builder = LocalBuilder(context.meshes, replicas=replicas)
        self.broadcasts: list[ir.Operation] = []

    def run(self, function: ir.OpView) -> None:
        cache = self.cache
        devices = [
            (view.operation, device)
            for view in operations_in(function)
            if (device := self._device(view.operation)) is not None
        ]
        for operation, _ in devices:
            self._check_operands(operation)
            for result in operation.results:
                _check_type(result.type, operation)
        computed: _Computed = {}
        for operation, device in devices:
            with operation.location, ir.InsertionPoint(operation):
                self._resolve(operation, device, computed, cache)
        self._drop_reshards(function)
        self._drop_unused_broadcasts()

    def _device(self, operation: ir.Operation) -> int | None:
        """Return the device that an operation runs on; None if it runs on all."""
        if operation.name.startswith("sdy.") or not has_discardable(operation, SHARDING):
            return None
        single = single_device_sharding(operation, self.meshes)
        mesh = None if single is None else mesh_of(single, self.meshes)
        if mesh is None:
            return None
        device, count = mesh.device_ids[0], self.meshes[self.mesh_name].total_size
        if device >= count:
            raise PassError(
                error(
                    f"'{operation.name}' op is on device {device}, but the mesh @{self.mesh_name} "
                    f"has the devices 0 to {count - 1}",
                    location_of(operation.location),
                )
            )
        return device

    def _check_operands(self, operation: ir.Operation) -> None:
        for index, operand in enumerate(operation.operands):
            sharding = get_sharding(operand)
            if sharding is not None and not sharding.is_fully_replicated:
                raise PassError(
                    error(
                        f"'{operation.name}' op runs on a single device, but its operand {index} "
                        f"is sharded as {sharding}: run 'sdy-insert-explicit-reshards"
                        "{enable-full-version=true}' and 'sdy-reshard-to-collectives' first",
                        location_of(operation.location),
                    )
                )

    def _resolve(
        self,
        operation: ir.Operation,
        device: int,
        computed: _Computed,
        cache: AttributeCache,
    ) -> None:
        results = list(operation.results)
        conditional = self._conditional(operation, device, computed)
        for old, new in zip(results, conditional.results, strict=True):
            if isinstance(old.type, ir.RankedTensorType):
                everywhere = self._broadcast(new, cache)
                computed[everywhere, device] = new
                old.replace_all_uses_with(everywhere)
            else:
                old.replace_all_uses_with(new)
        operation.erase()

    def _conditional(
        self, operation: ir.Operation, device: int, computed: _Computed
    ) -> ir.Operation:
        here = self.builder.compare("EQ", self.builder.device_id(), self.builder.index(device))
        types = [result.type for result in operation.results]
        conditional = self.builder.create("stablehlo.if", (here,), types, regions=2)
        blocks = [region.blocks.append() for region in conditional.regions]
        with ir.InsertionPoint(blocks[0]):
            copy = operation.clone().operation
            remove_discardable(copy, SHARDING)
            for index, operand in enumerate(operation.operands):
                value = self._behind_reshards(operand)
                copy.operands[index] = computed.get((value, device), value)
            self.builder.return_values(list(copy.results))
        with ir.InsertionPoint(blocks[1]):
            self.builder.return_values([self._nothing(each) for each in types])
        return conditional

    def _behind_reshards(self, value: ir.Value) -> ir.Value:
        while not isinstance(value, ir.BlockArgument):
            producer = value.owner.operation
            if producer.name != "sdy.reshard" or not self._is_idle(producer):
                break
            value = producer.operands[0]
        return value

    def _nothing(self, value_type: ir.Type) -> ir.Value:
        """Build the result on a device that doesn't compute it."""
        if not isinstance(value_type, ir.RankedTensorType):
            return self.builder.token()
        bits = "00" * bytes_of(value_type.element_type)
        return self.builder.literal(ir.Attribute.parse(f'dense<"0x{bits}"> : {value_type}'))

    def _broadcast(self, value: ir.Value, cache: AttributeCache) -> ir.Value:
        """Broadcast the value of one device, for which the rest have zeros, bit by bit."""
        tensor = ir.RankedTensorType(value.type)
        element = tensor.element_type
        if isinstance(element, ir.ComplexType):
            parts = [
                self._broadcast(self._noted(self.builder.part(name, value)), cache)
                for name in ("real", "imag")
            ]
            return self._noted(self.builder.complex(*parts))
        if isinstance(element, ir.IntegerType):
            return self._sum(value, cache)
        integer = ir.IntegerType.get_signless(ir.FloatType(element).width)
        bits = self._noted(self.builder.bitcast_convert(value, integer))
        return self._noted(self.builder.bitcast_convert(self._sum(bits, cache), element))

    def _sum(self, value: ir.Value, cache: AttributeCache) -> ir.Value:
        axes = tuple(AxisRef(name) for name in self.meshes[self.mesh_name].axis_names)
        replicated = TensorSharding.fully_closed(rank_of(value.type), self.mesh_name)
        return self._noted(sdy.all_reduce(value, cache[AxisRefList(axes)], cache[replicated]))

    def _noted(self, value: ir.Value) -> ir.Value:
        self.broadcasts.append(value.owner.operation)
        return value

    def _drop_unused_broadcasts(self) -> None:
        """Drop broadcasts of values that only the same device uses."""
        for operation in reversed(self.broadcasts):
            if not any(True for _ in operation.results[0].uses):
                operation.erase()

    def _is_idle(self, reshard: ir.Operation) -> bool:
        """Whether a reshard is between a single device and a replicated tensor."""
        ends = [get_sharding(value) for value in (reshard.operands[0], reshard.results[0])]
        return any(is_on_single_device(end, self.meshes) for end in ends) and all(
            end is None or end.is_fully_replicated for end in ends
        )

    def _drop_reshards(self, function: ir.OpView) -> None:
        for reshard in operations_named({"sdy.reshard"}, function):
            source = get_sharding(reshard.operands[0])
            target = get_sharding(reshard.results[0])
            if all(end is None or end.is_fully_replicated for end in (source, target)):
                replace_by(reshard, reshard.operands[0])


def _check_type(value_type: ir.Type, operation: ir.Operation) -> None:
    """Check that bits of a type can be added up."""
    if not isinstance(value_type, ir.RankedTensorType):
        return
    element = value_type.element_type
    if isinstance(element, ir.ComplexType):
        element = element.element_type
    is_number = isinstance(element, ir.IntegerType) or (
        isinstance(element, ir.FloatType) and element.width in _INTEGER_WIDTHS
    )
    if is_number and value_type.has_static_shape:
        return
    raise PassError(
        error(
            f"'{operation.name}' op has a result of {value_type} on a single device, which can't "
            "be broadcast: constrain it to a sharding on all devices",
            location_of(operation.location),
        )
    )
