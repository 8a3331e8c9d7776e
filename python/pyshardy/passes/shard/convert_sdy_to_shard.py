# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `convert-sdy-to-shard`: convert meshes to grids, and shardings to annotations.

The module is checked before anything changes.

1. A mesh becomes a grid of the same name, with an axis for each part of an axis in use.
2. The sharding of an argument or a result of an operation becomes an annotation of the
   definition of the value, that of a function's result one of the uses of the value that is
   returned.
3. A constraint or reshard becomes an annotation of the uses of its result; an unused constraint
   one of the definition of its operand.
4. Fully open shardings are dropped. Constants of the sdy dialect become constants of StableHLO,
   which are not distinguished by their uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir_sdy.discardable import has_discardable, remove_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, ModelError, TensorSharding
from mlir_sdy.shard import building
from mlir_sdy.shard.values import GridSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import place_behind, producer
from mlir_sdy.values import (
    SHARDING,
    argument_shardings,
    result_shardings,
    result_shardings_of,
    set_argument_shardings,
    set_result_shardings,
)
from pyshardy.irtools.functions import has_body
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import ConstantView, function_type_of, symbol_name
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.local.preconditions import check_no_inner_modules
from pyshardy.pipeline import register_pass
from pyshardy.shard.errors import SDY_TO_SHARD, refusal
from pyshardy.shard.refinement import (
    AXIS_NAMES,
    ORIGIN,
    ORIGINS,
    Refinement,
    copy_other_attributes,
    refine,
    with_offsets,
)

_HINTS = frozenset({"sdy.propagation_barrier", "sdy.sharding_group"})
"""Operations that only affect propagation."""

_CONVERTED = frozenset({"sdy.constant", "sdy.mesh", *ORIGINS, *_HINTS})
"""Operations that are converted or removed."""


@register_pass("convert-sdy-to-shard")
def convert_sdy_to_shard(module: ir.Module, *, lossy: bool = False) -> None:
    """Convert meshes and shardings to grids and annotations.

    The inverse of `convert-shard-to-sdy`. An axis whose sub-axes are used becomes several axes of
    the grid, so that each sub-axis is a list of full grid axes:

    ```mlir
    sdy.mesh @mesh = <["x"=8]>
    func.func @f(%a: tensor<8x4xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>})
    ```

    becomes

    ```mlir
    shard.grid @mesh(shape = 2x4) {sdy.axis_names = ["x", "x"]}
    func.func @f(%a: tensor<8x4xf32>) {
      %s = shard.sharding @mesh split_axes = [[0], [1]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<8x4xf32>
    ```

    Features that annotations cannot express are errors. With `lossy`, open dimensions, priorities,
    explicitly replicated axes, barriers and groups are dropped instead. The following are always
    errors: unreduced axes, device orders, meshes without axes, inlined meshes, dimensions that
    several axes split unevenly, and `sdy` operations other than constants, constraints and
    reshards.

    Options:
        lossy: whether to drop annotations that only affect propagation: open dimensions,
            priorities, explicitly replicated axes, barriers, and groups.

    Raises:
        PassError: something has no equivalent. The module is not changed then.
    """
    operations = [view.operation for view in operations_in(module.operation)][1:]
    check_no_inner_modules(operations)
    shardings = _ShardingsOnGrids(module, operations, lossy)
    _Conversion(operations, shardings).run()


class _Conversion:
    """One run of the pass, after all checks."""

    def __init__(self, operations: Sequence[ir.Operation], shardings: _ShardingsOnGrids):
        self.operations = operations
        self.shardings = shardings
        self.functions = [op for op in operations if op.name == "func.func"]

    def run(self) -> None:
        for operation in self.shardings.mesh_operations:
            self._convert_mesh(operation)
        for function in self.functions:
            if has_body(function):
                self._convert_arguments(function)
        for operation in self.operations:
            if operation.name in ORIGINS:
                self._convert_constraint(operation)
            elif operation.name == "func.return":
                self._convert_returned(operation)
            elif operation.name == "sdy.constant":
                self._convert_constant(operation)
            elif operation.name != "func.func" and has_discardable(operation, SHARDING):
                self._convert_results(operation)
        for function in self.functions:
            _drop(function)
        for operation in self.operations:
            if operation.name in _HINTS and len(operation.results):
                operation.results[0].replace_all_uses_with(operation.operands[0])
            if operation.name in _CONVERTED:
                operation.erase()

    def _convert_mesh(self, operation: ir.Operation) -> None:
        name = symbol_name(operation)
        refinement = self.shardings.refinements[name]
        with ir.InsertionPoint(operation), operation.location:
            grid = building.grid(name, refinement.grid.shape)
            names = [ir.StringAttr.get(name) for name in refinement.names]
            set_discardable(grid, AXIS_NAMES, ir.ArrayAttr.get(names))
        copy_other_attributes(operation, grid)

    def _convert_constant(self, operation: ir.Operation) -> None:
        value = ConstantView(operation).value
        with ir.InsertionPoint(operation), operation.location:
            constant = StablehloBuilder().literal(value, operation.results[0].type)
            operation.results[0].replace_all_uses_with(constant)
            for sharding in result_shardings_of(operation):
                self._annotate_producer(constant, sharding)

    def _convert_arguments(self, function: ir.Operation) -> None:
        block = function.regions[0].blocks[0]
        shardings = argument_shardings(function)
        with ir.InsertionPoint.at_block_begin(block), function.location:
            for argument, sharding in zip(block.arguments, shardings, strict=True):
                self._annotate_producer(argument, sharding)

    def _convert_results(self, operation: ir.Operation) -> None:
        shardings = result_shardings_of(operation)
        remove_discardable(operation, SHARDING)
        with ir.InsertionPoint.after(operation), operation.location:
            for result, sharding in zip(operation.results, shardings, strict=False):
                self._annotate_producer(result, sharding)

    def _annotate_producer(self, value: ir.Value, sharding: TensorSharding | None) -> None:
        if sharding is None or _says_nothing(sharding):
            return
        annotated = self._annotated(value, sharding, of_users=False)
        value.replace_all_uses_except(annotated, annotated.owner.operation)

    def _convert_returned(self, end: ir.Operation) -> None:
        parent = end.parent
        assert parent is not None, "a return is in a function"
        shardings = result_shardings(parent.operation)
        with ir.InsertionPoint(end), end.location:
            for number, sharding in enumerate(shardings):
                if sharding is not None and not _says_nothing(sharding):
                    value = end.operands[number]
                    end.operands[number] = self._annotated(value, sharding, of_users=True)

    def _convert_constraint(self, operation: ir.Operation) -> None:
        """Create an annotation for a constraint or a reshard, which is erased later."""
        operand, result = operation.operands[0], operation.results[0]
        (sharding,) = result_shardings_of(operation)
        # An unused constraint, which annotates the definition of its operand.
        of_users = (
            any(True for _ in result.uses)
            or operation.name != "sdy.sharding_constraint"
            or _is_annotated(operand)
        )
        place = ir.InsertionPoint(operation) if of_users else place_behind(operand)
        with place, operation.location:
            annotated = self._annotated(operand, sharding, of_users=of_users)
            set_discardable(annotated.owner.operation, ORIGIN, ir.StringAttr.get(operation.name))
        if of_users:
            result.replace_all_uses_with(annotated)
        else:
            operand.replace_all_uses_except(annotated, annotated.owner.operation)

    def _annotated(self, value: ir.Value, sharding: TensorSharding, *, of_users: bool) -> ir.Value:
        definition = building.sharding_of(self.shardings.on_grid(sharding, value.type))
        return building.shard(value, definition, annotate_for_users=of_users)


def _is_annotated(value: ir.Value) -> bool:
    return producer(value, "shard.shard") is not None


def _drop(function: ir.Operation) -> None:
    """Remove the shardings of the arguments and results of a function."""
    arguments = {i: None for i, held in enumerate(argument_shardings(function)) if held}
    results = {i: None for i, held in enumerate(result_shardings(function)) if held}
    if arguments:
        set_argument_shardings(function, arguments)
    if results:
        set_result_shardings(function, results)


# --- Shardings on grids --------------------------------------------------------------------------


class _ShardingsOnGrids:
    """The shardings of a module, on grids.

    Args:
        module: the module.
        operations: the operations in it, in order.
        lossy: whether to drop information for propagation that the shard dialect lacks.

    Attributes:
        mesh_operations: the `sdy.mesh` operations.
        refinements: the grid of each mesh, by name.

    Raises:
        PassError: an attribute or operation has no equivalent.
    """

    def __init__(self, module: ir.Module, operations: Sequence[ir.Operation], lossy: bool):
        self._lossy = lossy
        self._operations = operations
        self._meshes = meshes_of(module)
        self.mesh_operations = [op for op in operations if op.name == "sdy.mesh"]
        self._axes_in_use: dict[str, list[AxisRef]] = {name: [] for name in self._meshes}
        self._check_operations()
        self._check_meshes()
        shardings = list(self._shardings())
        for sharding, _, operation in shardings:
            self._check_sharding(sharding, operation)
        self.refinements = self._refine()
        self._converted: dict[TensorSharding, dict[tuple[int, ...], GridSharding]] = {}
        for sharding, value_type, operation in shardings:
            self._convert(sharding, value_type, operation)

    def on_grid(self, sharding: TensorSharding, value_type: ir.Type) -> GridSharding:
        """Return a sharding of the module on its grid, for tensors of a type."""
        return self._converted[sharding][_shape_or_unknown(value_type)]

    # --- Checks -------------------------------------------------------------------------------

    def _check_operations(self) -> None:
        for operation in self._operations:
            name = operation.name
            if name in _HINTS and not self._lossy:
                reason = f"'{name}' has no equivalent; 'lossy' drops it"
                raise refusal(SDY_TO_SHARD, reason, operation)
            if name.startswith("sdy.") and name not in _CONVERTED:
                raise refusal(SDY_TO_SHARD, f"'{name}' has no equivalent", operation)
            for attribute in operation.attributes:
                if attribute.startswith("sdy.") and attribute != SHARDING and not self._lossy:
                    reason = f"attribute '{attribute}' of '{name}' has no equivalent"
                    raise refusal(SDY_TO_SHARD, reason, operation)
        functions = (op for op in self._operations if op.name == "func.func")
        for function in functions:
            if not has_body(function) and any(
                (*argument_shardings(function), *result_shardings(function))
            ):
                reason = f"the declaration '@{symbol_name(function)}' has no body to annotate"
                raise refusal(SDY_TO_SHARD, reason, function)

    def _check_meshes(self) -> None:
        for operation in self.mesh_operations:
            name = symbol_name(operation)
            mesh = self._meshes[name]
            if not mesh.axes:
                reason = f"mesh '@{name}' has no axes, but a grid requires at least one"
                raise refusal(SDY_TO_SHARD, reason, operation)
            if mesh.device_ids:
                reason = f"mesh '@{name}' orders its devices ({mesh}), which grids don't support"
                raise refusal(SDY_TO_SHARD, reason, operation)

    def _shardings(self) -> Iterator[tuple[TensorSharding, ir.Type, ir.Operation]]:
        """Yield the shardings that aren't fully open, with their tensor types and operations."""
        for operation in self._operations:
            if operation.name == "func.func":
                function_type = function_type_of(operation)
                held = (*argument_shardings(operation), *result_shardings(operation))
                types = (*function_type.inputs, *function_type.results)
            else:
                held = result_shardings_of(operation)
                types = tuple(result.type for result in operation.results)
            for sharding, value_type in zip(held, types, strict=False):
                if sharding is not None and not _says_nothing(sharding):
                    yield sharding, value_type, operation

    def _check_sharding(self, sharding: TensorSharding, operation: ir.Operation) -> None:
        mesh = sharding.mesh_or_ref
        if isinstance(mesh, Mesh):
            reason = f"{sharding} has an inlined mesh: run 'sdy-lift-inlined-meshes' first"
            raise refusal(SDY_TO_SHARD, reason, operation)
        if sharding.unreduced_axes:
            reason = f"{sharding} has unreduced axes, which annotations cannot express"
            raise refusal(SDY_TO_SHARD, reason, operation)
        self._axes_in_use[mesh] += [axis for axes in sharding.dim_axes for axis in axes]
        if self._lossy:
            return
        dropped = [
            *(["open dimensions"] if not sharding.is_fully_closed else []),
            *(
                ["priorities"]
                if any(dim.priority is not None for dim in sharding.dim_shardings)
                else []
            ),
            *(["explicitly replicated axes"] if sharding.replicated_axes else []),
        ]
        if dropped:
            reason = f"{sharding} has {dropped[0]}; 'lossy' drops them"
            raise refusal(SDY_TO_SHARD, reason, operation)

    def _refine(self) -> dict[str, Refinement]:
        refinements: dict[str, Refinement] = {}
        for operation in self.mesh_operations:
            name = symbol_name(operation)
            try:
                refinements[name] = refine(self._meshes[name], self._axes_in_use[name])
            except ModelError as reason:
                raise refusal(SDY_TO_SHARD, str(reason), operation) from None
        return refinements

    def _convert(
        self, sharding: TensorSharding, value_type: ir.Type, operation: ir.Operation
    ) -> None:
        """Convert a sharding to its grid, for tensors of a shape, and cache it."""
        mesh = sharding.mesh_or_ref
        assert isinstance(mesh, str), "inlined meshes are refused"
        refinement = self.refinements[mesh]
        shape = _shape_or_unknown(value_type)
        plain = GridSharding(mesh, tuple(map(refinement.grid_axes, sharding.dim_axes)))
        found = with_offsets(plain, shape, refinement.grid)
        if found is None:
            reason = (
                f"{sharding} does not divide {value_type} evenly, and is along several axes of "
                f"the grid {refinement.grid} in one dimension: pad the tensor"
            )
            raise refusal(SDY_TO_SHARD, reason, operation)
        self._converted.setdefault(sharding, {})[shape] = found


def _says_nothing(sharding: TensorSharding) -> bool:
    """Whether a sharding is fully open, without axes."""
    return sharding.is_fully_replicated_and_open and sharding.rank > 0 and sharding.has_no_axes


def _shape_or_unknown(value_type: ir.Type) -> tuple[int, ...]:
    """Return the sizes of a type, -1 where they are dynamic."""
    return tuple(max(size, -1) for size in shape_of(value_type))
