# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-convert-global-to-local`: convert a program to that of one device.

Every value gets the type of its shard, and every operation its local form.
Partial results without a completing collective get a `stablehlo.all_reduce`.

Functions are changed in place: all types first, then one operation after the other.

The tensors of each operation are compatible (see `insert_explicit_reshards`), and reshards are
collectives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from mlir_sdy.attributes import attribute_of
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.discardable import has_discardable, set_discardable
from mlir_sdy.host import identity, ir, location_of
from mlir_sdy.model import Mesh, TensorSharding, TensorShardingPerValue, mesh_of
from mlir_sdy.ods.tables import OPERATIONS
from mlir_sdy.traversal import SCALAR_BODIES, may_have_regions, named_operations_in
from mlir_sdy.values import (
    SHARDING,
    argument_shardings,
    body_argument_shardings,
    rank_of,
    result_shardings,
)
from pyshardy.cost.default_hardware import DEFAULT_HARDWARE, HardwareOption
from pyshardy.cost.hardware import load_hardware
from pyshardy.irtools.collectives import (
    first_free_channel,
    renumber_channels,
    with_channels_from,
)
from pyshardy.irtools.constants import share_large_constants
from pyshardy.irtools.functions import functions_of, has_body
from pyshardy.irtools.shardings import MODULE_SHARDING_METADATA
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of, symbol_name
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.choice.quick_checks import is_compatible_already
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.local.device_kind import are_replicas, check_number_of_devices
from pyshardy.partition.local.preconditions import FLOWS, STAY, LocalChecks, check_no_inner_modules
from pyshardy.partition.op_facts.record import (
    Conversion,
    operations_where,
    record_of,
)
from pyshardy.partition.partial.completion import (
    MissingCompletion,
    PartialResults,
    complete,
    missing_completions,
)
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.one_mesh import device_mesh_of
from pyshardy.passes.options import PartitionCount, ReplicaCount
from pyshardy.pipeline import register_pass
from pyshardy.pipeline.options import Help
from pyshardy.rules.signature import OperationParts
from pyshardy.sizes.signature import check_static

_MANUAL = "sdy.manual_computation"


@register_pass("sdy-convert-global-to-local", release="0.10.2")
def convert_global_to_local(
    module: ir.Module,
    *,
    per_dim_all_gather: bool = False,
    combine_multi_dimension_reduce_scatter: bool = False,
    enable_rgv3: bool = True,
    static_only: Annotated[bool, Help(release="pyshardy")] = False,
    replica_count: ReplicaCount = 1,
    partition_count: PartitionCount = 1,
    hardware: HardwareOption = DEFAULT_HARDWARE,
) -> None:
    """Convert the global program to the local program.

    Gives every value its local type, in which each dimension is divided by its number of shards,
    and converts sdy collectives to StableHLO collectives. Partial results that no collective
    completes, such as those of a product that is sharded along a contracting dimension, get an
    all-reduce.

    Precondition: each operation can be computed on shards, and every sharded dimension is
    divisible. Postcondition: all types are local, and no sdy collectives remain; operations keep
    their shardings. The pass fails if an operation has no local form.

    The module gets the shardings of the arguments and results of `@main` as
    `sdy.parameters_shardings` and `sdy.output_shardings`, with inlined meshes; a value without
    a sharding is replicated.

    ```mlir
    // on a mesh of size 2
    %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x16xf32>
    ```

    becomes

    ```mlir
    %1 = "stablehlo.all_gather"(%0) {all_gather_dim = 0, replica_groups = dense<[[0, 1]]>, ...}
        : (tensor<4x16xf32>) -> tensor<8x16xf32>
    ```

    Options:
        per_dim_all_gather: whether to emit one all-gather per dimension.
        combine_multi_dimension_reduce_scatter: whether to emit a single reduce-scatter for several
            dimensions instead of an all-reduce and a slice.
        enable_rgv3: whether to express replica groups along full axes by mesh axes.
        static_only: whether to refuse arguments of dynamic sizes, which stay as they are otherwise.

    Raises:
        PassError: an argument has a dynamic size although that is refused, a dimension is not
            divisible by its axes, an operation has no local form, or both counts are above one.
            Sizes are checked before anything is changed.
        UsageError: there is no such hardware.
    """
    replicas = are_replicas(replica_count, partition_count, module.operation)
    check_no_inner_modules(operations_named({"builtin.module"}, module))
    if static_only:
        check_static(module)
    check_number_of_devices(module)
    context = FunctionContext.of(module)
    first_channel = first_free_channel(module)
    builder = LocalBuilder(
        context.meshes,
        replicas=replicas,
        first_channel=first_channel,
        per_dim_all_gather=per_dim_all_gather,
        combined_reduce_scatter=combine_multi_dimension_reduce_scatter,
        groups_by_axes=enable_rgv3,
        hardware=load_hardware(hardware),
    )
    with module.context:
        _ModuleConverter(module, context, builder, LocalChecks(module, builder.meshes)).run()
        # Operations are converted from the last to the first.
        renumber_channels(with_channels_from(module, first_channel), first_channel)


class _ModuleConverter:
    """One run over a module."""

    def __init__(
        self,
        module: ir.Module,
        context: FunctionContext,
        builder: LocalBuilder,
        checks: LocalChecks,
    ):
        self.module = module
        self.builder = builder
        self.meshes = context.meshes
        self.cache = context.cache
        self.checks = checks
        self.known = context.shardings
        self.device_dependent = operations_where(lambda record: record.is_device_dependent)
        self.incomplete: list[tuple[int, PartialResults, MissingCompletion]] = []

    def run(self) -> None:
        new_types, operations = self._new_types()
        functions = operations_named({"func.func"}, self.module)
        function_types = [self._function_type(function) for function in functions]
        to_convert = self._to_convert(new_types, operations)
        self._complete(to_convert, new_types)
        for value, local in new_types.items():
            value.set_type(local)
        for function, function_type in zip(functions, function_types, strict=True):
            FunctionView(function).function_type = function_type
        # In reverse, so that an operation still sees the shardings of its operands.
        for operation, conversion in reversed(to_convert):
            with operation.location, ir.InsertionPoint(operation):
                conversion(operation, self.builder)
        for function in functions:
            share_large_constants(function)
        _write_module_metadata(self.module, self.meshes)

    def _new_types(self) -> tuple[dict[ir.Value, ir.Type], list[tuple[ir.Operation, str]]]:
        """Return the local types of all values whose type changes.

        Also return the operations that may have to be converted.
        """
        known = self.known
        new_types: dict[ir.Value, ir.Type] = {}
        local_types: dict[tuple[int, TensorSharding], ir.Type | None] = {}
        to_look_at: list[tuple[ir.Operation, str]] = []
        same_on_shards = operations_where(lambda record: record.local_form is retype_only)

        def note(
            values: Sequence[ir.Value],
            shardings: Sequence[TensorSharding | None],
            place: ir.Operation,
        ) -> None:
            for value, sharding in zip(values, shardings, strict=False):
                if sharding is not None:
                    if self.checks.compares_meshes:
                        self.checks.check_mesh(sharding, place)
                    value_type = value.type
                    key = identity(value_type), sharding  # types live as long as the context
                    local = local_types.get(key, value_type)
                    if local is value_type:
                        local = local_types[key] = self._local_type(value_type, sharding, place)
                    if local is not None:
                        new_types[value] = local

        for operation, name in self._operations():
            results = list(operation.results)
            shardings = known.read(operation, name, results)
            note(results, shardings, operation)
            if name in same_on_shards and is_compatible_already(operation, name, shardings, known):
                continue
            to_look_at.append((operation, name))
            if name == "func.func":
                known.read_arguments(operation)
            if may_have_regions(name) and name not in SCALAR_BODIES:
                for region in operation.regions:
                    for block in region.blocks:
                        arguments = list(block.arguments)
                        note(arguments, [known[argument] for argument in arguments], operation)
        to_look_at += [
            (operation, operation.name)
            for operation in operations_named(
                (OPERATIONS.keys() - STAY) | self.device_dependent, self.module
            )
            if _is_in_scalar_body(operation)
        ]
        return new_types, to_look_at

    def _operations(self) -> Iterator[tuple[ir.Operation, str]]:
        """Yield the operations that may have to be converted, in order.

        A manual computation without shardings inside, as those of exchanges, is local already.
        """
        for operation, name in named_operations_in(
            self.module, leaving_out=SCALAR_BODIES | {_MANUAL}
        ):
            yield operation, name
            if name == _MANUAL:
                inside = named_operations_in(operation, leaving_out=SCALAR_BODIES)[1:]
                arguments = body_argument_shardings(operation)
                is_local = all(sharding.has_no_axes for sharding in arguments) and (
                    not _may_have_shardings(inside)
                )
                for each in inside:
                    if not is_local or each[1] in self.device_dependent:
                        yield each

    def _to_convert(
        self, new_types: Mapping[ir.Value, ir.Type], operations: Sequence[tuple[ir.Operation, str]]
    ) -> list[tuple[ir.Operation, Conversion]]:
        """Return the operations to convert, after checking all of them.

        These are operations of the dialect, those with operands or results of a new type, and those
        whose results differ between devices.
        """
        known, checks = self.known, self.checks
        for operation, name in operations:
            if name in OPERATIONS and name not in STAY:
                checks.check_own(operation)
        to_convert: list[tuple[ir.Operation, Conversion]] = []
        for operation, name in operations:
            if name in FLOWS:
                checks.check_flow(operation)
            if name in STAY:
                continue
            if name not in OPERATIONS:
                asked = OperationParts.of(operation, name)
                values = asked.values
                if name not in self.device_dependent and new_types.keys().isdisjoint(values):
                    continue
                form = checks.local_form(asked, tuple([known[value] for value in values]))
                if form.partial is not None:
                    place = len(to_convert) + form.changes  # after the operation
                    missing = missing_completions(operation, form.partial, self.meshes)
                    self.incomplete += [(place, form.partial, each) for each in missing]
                if not form.changes:
                    continue
                if form.in_shards is not None:
                    to_convert.append((operation, form.in_shards))
                    continue
            to_convert.append((operation, _conversion(name)))
        return to_convert

    def _complete(
        self,
        to_convert: list[tuple[ir.Operation, Conversion]],
        new_types: dict[ir.Value, ir.Type],
    ) -> None:
        """Insert all-reduces after partial results that are used as complete ones.

        Args:
            to_convert: the operations to convert in order, to which the all-reduces are added.
            new_types: the local types of values, to which those of the all-reduces are added.
        """
        for place, partial, missing in reversed(self.incomplete):
            completed = complete(missing, partial, self.cache)
            if missing.result in new_types:
                new_types[completed.result] = new_types[missing.result]
            to_convert.insert(place, (completed, _conversion(completed.name)))

    def _local_type(
        self, value_type: ir.Type, sharding: TensorSharding, place: ir.Operation
    ) -> ir.Type | None:
        """Return the type on each device; None if it is unchanged and has elements.

        Shards without elements still begin with the initial value of a sum, which counts once.
        """
        if sharding.is_fully_replicated:
            return None
        mesh = mesh_of(sharding, self.meshes)
        if mesh is None or mesh.is_maximal or not isinstance(value_type, ir.RankedTensorType):
            return None
        shape = list(value_type.shape)
        for dim, dim_sharding in enumerate(sharding.dim_shardings):
            if dim_sharding.axes and not value_type.is_dynamic_dim(dim):
                shape[dim] = _local_size(shape[dim], dim, sharding, mesh, place)
        unknown = ir.Location.unknown(value_type.context)
        local = ir.RankedTensorType.get(
            shape, value_type.element_type, value_type.encoding, loc=unknown
        )
        return None if local == value_type and 0 not in shape else local

    def _function_type(self, function: ir.Operation) -> ir.FunctionType:
        """Return the local type of a function, which may be a declaration."""
        types = function_type_of(function)
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


def _conversion(name: str) -> Conversion:
    """Return the conversion of operations of a name, which the checks have found to have one."""
    conversion = record_of(name).local_form
    assert conversion is not None, "operations without a local form are refused"
    return conversion


def _may_have_shardings(operations: Iterable[tuple[ir.Operation, str]]) -> bool:
    names = {name for _, name in operations} - {"sdy.return"}
    are_plain = all(name.startswith("stablehlo.") and not may_have_regions(name) for name in names)
    return not are_plain or any(has_discardable(each, SHARDING) for each, _ in operations)


def _is_in_scalar_body(operation: ir.Operation) -> bool:
    parent = operation.parent
    while parent is not None and parent.operation.name not in SCALAR_BODIES:
        parent = parent.operation.parent
    return parent is not None


def _local_size(
    size: int, dim: int, sharding: TensorSharding, mesh: Mesh, place: ir.Operation
) -> int:
    axes = sharding.dim_shardings[dim].axes
    num_shards = mesh.axes_size(axes)
    if size % num_shards:
        listed = ", ".join(map(str, axes))
        raise PassError(
            error(
                f"'{place.name}' op dimension {dim} of size {size} is not divisible by its axes "
                f"{listed} of size {num_shards}: pad the dimension, or constrain the value to a "
                "sharding that divides it",
                location_of(place.location),
            )
        )
    return size // num_shards


def _write_module_metadata(module: ir.Module, meshes: Mapping[str, Mesh]) -> None:
    """Give a global module with a function `@main` the attributes of `MODULE_SHARDING_METADATA`.

    A local program has the types of shards only. Attributes of the module tell its caller the
    shardings of the global inputs and outputs:

        module attributes {
          sdy.parameters_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{"x"}]>]>,
          sdy.output_shardings = #sdy.sharding_per_value<[<mesh<["x"=2]>, [{}]>]>
        }

    1. Shardings hold their meshes, as the declarations of meshes are dropped later.
    2. A value without a sharding is replicated on the mesh of the function, or on an empty one.
    """
    main = next((f for f in functions_of(module) if symbol_name(f) == "main"), None)
    if main is None or not has_body(main):
        return
    mesh_name = device_mesh_of(main, meshes)
    default = Mesh() if mesh_name is None else meshes[mesh_name]
    signature = function_type_of(main)
    lists = (
        _complete(argument_shardings(main), signature.inputs, meshes, default),
        _complete(result_shardings(main), signature.results, meshes, default),
    )
    for name, shardings in zip(MODULE_SHARDING_METADATA, lists, strict=True):
        attribute = attribute_of(TensorShardingPerValue(shardings), module.context)
        set_discardable(module.operation, name, attribute)


def _complete(
    shardings: Sequence[TensorSharding | None],
    types: Sequence[ir.Type],
    meshes: Mapping[str, Mesh],
    default: Mesh,
) -> tuple[TensorSharding, ...]:
    return tuple(
        TensorSharding.fully_closed(rank_of(value_type), default)
        if sharding is None
        else sharding.with_mesh(mesh_of(sharding, meshes) or default)
        for sharding, value_type in zip(shardings, types, strict=True)
    )
