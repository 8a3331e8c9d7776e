# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-convert-global-to-local`: the program of one device.

Every value gets the type of its shard, and every operation the form that computes it:

    func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
      %0 = sdy.all_gather [{"x"}, {}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x4xf32>

becomes, on 2 devices,

    func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
      %0 = "stablehlo.all_gather"(%x) {replica_groups = dense<[[0, 1]]>, ...}
          : (tensor<4x4xf32>) -> tensor<8x4xf32>

Functions are changed in place: all types first, then one operation after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.model import Mesh, TensorSharding, mesh_of
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.values import argument_shardings, result_shardings
from pyshardy.partition.channels import first_free_channel
from pyshardy.partition.device_kind import are_replicas
from pyshardy.partition.local import CONVERSIONS, DIFFERING, LocalBuilder
from pyshardy.partition.local.builder import sharding_of
from pyshardy.partition.local_checks import STAY, LocalChecks, check_no_inner_modules


def convert_global_to_local(
    module: ir.Module,
    *,
    per_dim_all_gather: bool = False,
    combine_multi_dimension_reduce_scatter: bool = False,
    enable_rgv3: bool = False,
    replica_count: int = 1,
    partition_count: int = 1,
) -> None:
    """Convert all functions of a module to their local form.

    Args:
        module: a module in which the tensors of each operation agree (see `explicit_reshards`)
            and reshards are collectives.
        per_dim_all_gather: gather one dimension after the other instead of all at once.
        combine_multi_dimension_reduce_scatter: reduce and scatter several dimensions at once,
            instead of reducing them and taking a slice.
        enable_rgv3: name the axes that replica groups are along, where these are whole axes,
            instead of listing the groups.
        replica_count: the number of replicas, if devices are the replicas of one program.
        partition_count: the number of partitions, if devices are the partitions of one.

    Raises:
        PassError: a dimension is not divisible by its axes, an operation has no local form, or
            both counts are above one. Divisibility is checked before anything is changed.
    """
    replicas = are_replicas(replica_count, partition_count, module.operation)
    operations = [view.operation for view in operations_in(module.operation)]
    check_no_inner_modules(operations[1:])
    builder = LocalBuilder(
        meshes_of(module),
        replicas=replicas,
        first_channel=first_free_channel(operations),
        per_dim_all_gather=per_dim_all_gather,
        combined_reduce_scatter=combine_multi_dimension_reduce_scatter,
        groups_by_axes=enable_rgv3,
    )
    with module.context:
        _ModuleConverter(operations, builder, LocalChecks(module, builder.meshes)).run()


class _ModuleConverter:
    """One run over a module."""

    def __init__(
        self, operations: Sequence[ir.Operation], builder: LocalBuilder, checks: LocalChecks
    ):
        self.operations = operations
        self.builder = builder
        self.meshes = builder.meshes
        self.checks = checks
        self._local_types: dict[tuple[int, int], ir.Type | None] = {}

    def run(self) -> None:
        new_types: list[tuple[ir.Value, ir.Type]] = []
        for value, place in self._values():
            sharding = self.checks.shardings[value] = sharding_of(value)
            if sharding is not None:
                local = self._local_type(value.type, sharding, place)
                if local is not None:
                    new_types.append((value, local))
        functions = [operation for operation in self.operations if _is_function(operation)]
        function_types = [self._function_type(function) for function in functions]
        to_convert = self._to_convert([value for value, _ in new_types])
        for value, local in new_types:
            value.set_type(local)
        for function, function_type in zip(functions, function_types, strict=True):
            function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        # Backwards, so that an operation still sees how its operands were sharded.
        for operation in reversed(to_convert):
            with operation.location, ir.InsertionPoint(operation):
                CONVERSIONS[operation.name](operation, self.builder)

    def _to_convert(self, new_values: list[ir.Value]) -> list[ir.Operation]:
        """The operations of the dialect, and those that make or use values of a new type.

        They are sorted out before any type changes, as the hash of an operation changes with it.
        """
        changed = {value.owner.operation for value in new_values if _is_result(value)}
        changed |= {use.owner.operation for value in new_values for use in value.uses}
        to_convert: list[ir.Operation] = []
        for operation in self.operations:
            if operation.name.startswith("sdy.") and operation.name not in STAY:
                self.checks.check_own(operation)
        for operation in self.operations:
            name = operation.name
            self.checks.check_flow(operation)
            if name in STAY:
                continue
            if name.startswith("sdy."):
                to_convert.append(operation)
            elif operation in changed or name in DIFFERING:
                self.checks.check_form(operation)
                to_convert.append(operation)
        return to_convert

    def _values(self) -> Iterator[tuple[ir.Value, ir.Operation]]:
        """All values, each with the operation to name when something is wrong with it."""
        for operation in self.operations:
            for result in operation.results:
                yield result, operation
            for region in operation.regions:
                for block in region.blocks:
                    for argument in block.arguments:
                        yield argument, operation

    def _local_type(
        self, value_type: ir.Type, sharding: TensorSharding, place: ir.Operation
    ) -> ir.Type | None:
        """The type on each device; None if it is the same. Found once for type and sharding."""
        key = (hash(value_type), id(sharding))  # both live as long as the context
        if key not in self._local_types:
            local = self._make_local_type(value_type, sharding, place)
            self._local_types[key] = None if local == value_type else local
        return self._local_types[key]

    def _make_local_type(
        self, value_type: ir.Type, sharding: TensorSharding, place: ir.Operation
    ) -> ir.Type:
        if sharding.is_fully_replicated:
            return value_type
        mesh = mesh_of(sharding, self.meshes)
        if mesh is None or mesh.is_maximal or not isinstance(value_type, ir.RankedTensorType):
            return value_type
        self.checks.check_mesh(sharding, place)
        shape = list(value_type.shape)
        for dim, dim_sharding in enumerate(sharding.dim_shardings):
            if dim_sharding.axes and not value_type.is_dynamic_dim(dim):
                shape[dim] = _local_size(shape[dim], dim, sharding, mesh, place)
        unknown = ir.Location.unknown(value_type.context)
        return ir.RankedTensorType.get(
            shape, value_type.element_type, value_type.encoding, loc=unknown
        )

    def _function_type(self, function: ir.Operation) -> ir.FunctionType:
        """The local type of a function, which may be a declaration."""
        types = function.attributes["function_type"].value
        inputs, results = (
            [
                value_type
                if sharding is None
                else self._local_type(value_type, sharding, function) or value_type
                for value_type, sharding in zip(values, shardings, strict=True)
            ]
            for values, shardings in (
                (types.inputs, argument_shardings(function)),
                (types.results, result_shardings(function)),
            )
        )
        return ir.FunctionType.get(inputs, results, context=function.context)


def _local_size(
    size: int, dim: int, sharding: TensorSharding, mesh: Mesh, place: ir.Operation
) -> int:
    axes = sharding.dim_shardings[dim].axes
    pieces = mesh.axes_size(axes)
    if size % pieces:
        listed = ", ".join(map(str, axes))
        raise PassError(
            error(
                f"'{place.name}' op dimension {dim} of size {size} is not divisible by its axes "
                f"{listed} of size {pieces}: pad the dimension, or constrain the value to a "
                "sharding that divides it",
                location_of(place.location),
            )
        )
    return size // pieces


def _is_function(operation: ir.Operation) -> bool:
    return operation.name == "func.func"


def _is_result(value: ir.Value) -> bool:
    return not isinstance(value, ir.BlockArgument)
