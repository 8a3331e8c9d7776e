# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `convert-shard-to-sdy`: convert grids to meshes, and annotations to shardings.

The module is checked before anything changes.

1. A grid becomes a mesh of the same name.
2. An annotation of the definition of a value becomes the value's sharding, or a constraint
   where there is no attribute for it, as for an argument of most regions.
3. An annotation of the uses of a value becomes the sharding of a function's result for uses
   that return it, and a constraint for other uses. It is dropped if the value has that
   sharding.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.discardable import as_text, get_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import ModelError, TensorSharding
from mlir_sdy.shard.reading import has_flag, is_shard_operation, read_grid, read_sharding
from mlir_sdy.shard.values import DYNAMIC, Grid, GridSharding
from mlir_sdy.traversal import operations_in
from mlir_sdy.uses import producer
from mlir_sdy.values import (
    get_sharding,
    result_shardings,
    set_result_shardings,
    set_sharding,
    shardable_value,
)
from pyshardy.irtools.stablehlo_views import symbol_name
from pyshardy.irtools.tensor_types import padded_size
from pyshardy.partition.local.preconditions import check_no_inner_modules
from pyshardy.pipeline import register_pass
from pyshardy.shard.errors import SHARD_TO_SDY, refusal
from pyshardy.shard.refinement import (
    AXIS_NAMES,
    Refinement,
    coarsen,
    copy_other_attributes,
    offsets_rounded_up,
    origin_of,
    uneven_dim,
)


@register_pass("convert-shard-to-sdy")
def convert_shard_to_sdy(module: ir.Module) -> None:
    """Convert grids and annotations to meshes and shardings.

    Converts a program that is annotated with the `shard` dialect to a program that Shardy can
    propagate and partition.

    - A `shard.grid` becomes an `sdy.mesh`. The attribute `sdy.axis_names` of the grid names its
      axes; without it, they are `axis0`, `axis1` and so on.
    - An annotation of a definition (`shard.shard` without `annotate_for_users`) becomes the
      sharding of the value, closed in every dimension.
    - An annotation of a use becomes an `sdy.sharding_constraint`, or the sharding of a function
      result if the use is a return. It is dropped if the value already has the sharding.

    ```mlir
    shard.grid @grid(shape = 2x4)
    func.func @f(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
      %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
      %0 = shard.shard %a to %s : tensor<8x4xf32>
    ```

    becomes

    ```mlir
    sdy.mesh @grid = <["axis0"=2, "axis1"=4]>
    func.func @f(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@grid, [{"axis0"}, {"axis1"}]>})
    ```

    Halos, offsets other than those of equal shards, grids of dynamic size, contradictory
    annotations, and collectives have no equivalent and are errors.

    Raises:
        PassError: something has no equivalent. The module is not changed then.
    """
    operations = [view.operation for view in operations_in(module.operation)][1:]
    found = [operation for operation in operations if is_shard_operation(operation)]
    if found:
        check_no_inner_modules(operations)
        _Conversion(module, found).run()


@dataclass(frozen=True)
class _Annotation:
    """A `shard.shard` operation.

    Attributes:
        operation: the operation.
        sharding: its sharding.
        of_users: whether it annotates the uses of its result.
        origin: the sdy operation from which it was converted, if known.
    """

    operation: ir.Operation
    sharding: TensorSharding
    of_users: bool
    origin: str | None


class _Conversion:
    """One run of the pass."""

    def __init__(self, module: ir.Module, found: list[ir.Operation]):
        self.module = module
        self.cache = AttributeCache(module.context)
        self.grids = [operation for operation in found if operation.name == "shard.grid"]
        self.definitions = [op for op in found if op.name == "shard.sharding"]
        for operation in found:
            if operation.name not in {"shard.grid", "shard.sharding", "shard.shard"}:
                raise refusal(SHARD_TO_SDY, _without_equivalent(operation.name), operation)
        self.meshes = self._read_meshes()
        shardings: dict[ir.Value, GridSharding] = {
            op.results[0]: self._read(op) for op in self.definitions
        }
        self.annotations = [
            self._annotation(op, shardings) for op in found if op.name == "shard.shard"
        ]
        self._check_uses_of_definitions()
        self._check_chains()

    def run(self) -> None:
        """Convert the module, after all checks."""
        for grid in self.grids:
            with ir.InsertionPoint(grid), grid.location:
                name = symbol_name(grid)
                mesh = sdy.mesh(name, self.cache[self.meshes[name].mesh])
            copy_other_attributes(grid, mesh.operation)
        # Annotations are in the order of the text: operands have been resolved already.
        for annotation in self.annotations:
            self._convert(annotation)
        for operation in (*self.definitions, *self.grids):
            operation.erase()

    # --- Reading ------------------------------------------------------------------------------

    def _read_meshes(self) -> dict[str, Refinement]:
        meshes: dict[str, Refinement] = {}
        sizes: dict[int, str] = {}
        for operation in self.grids:
            grid, name = read_grid(operation), symbol_name(operation)
            if not grid.is_static:
                reason = f"grid '@{name}' has axes of unknown size ({grid}); give their sizes"
                raise refusal(SHARD_TO_SDY, reason, operation)
            sizes[grid.size] = name
            if len(sizes) > 1:
                counts = " and ".join(f"{size} ('@{which}')" for size, which in sizes.items())
                reason = f"all grids must have as many devices, but there are {counts}"
                raise refusal(SHARD_TO_SDY, reason, operation)
            try:
                meshes[name] = coarsen(grid, _axis_names(operation, grid))
            except ModelError as reason:
                raise refusal(SHARD_TO_SDY, str(reason), operation) from None
        return meshes

    def _read(self, operation: ir.Operation) -> GridSharding:
        sharding = read_sharding(operation)
        if any(sharding.halo_sizes):
            reason = f"'{operation.name}' with halos ({sharding}) has no equivalent"
            raise refusal(SHARD_TO_SDY, reason, operation)
        if DYNAMIC in sharding.sharded_dims_offsets:
            reason = f"'{operation.name}' with dynamic offsets has no equivalent"
            raise refusal(SHARD_TO_SDY, reason, operation)
        return sharding

    def _annotation(
        self, operation: ir.Operation, shardings: Mapping[ir.Value, GridSharding]
    ) -> _Annotation:
        sharding = shardings.get(operation.operands[1])
        if sharding is None:
            reason = "the sharding of 'shard.shard' must be the result of a 'shard.sharding'"
            raise refusal(SHARD_TO_SDY, reason, operation)
        refinement = self.meshes[sharding.grid]
        shape = ir.RankedTensorType(operation.operands[0].type).shape
        if (dim := uneven_dim(sharding, shape, refinement.grid)) is not None:
            raise refusal(SHARD_TO_SDY, _uneven(sharding, dim, shape[dim], refinement), operation)
        axes = [refinement.mesh_axes(sharding.axes(dim)) for dim in range(len(shape))]
        return _Annotation(
            operation,
            TensorSharding.from_axes(sharding.grid, axes),
            has_flag(operation, "annotate_for_users"),
            origin_of(operation),
        )

    # --- Checks -------------------------------------------------------------------------------

    def _check_uses_of_definitions(self) -> None:
        for definition in self.definitions:
            for use in definition.results[0].uses:
                user = use.owner.operation
                if user.name != "shard.shard":
                    reason = f"a sharding may be used by 'shard.shard' only, not by '{user.name}'"
                    raise refusal(SHARD_TO_SDY, reason, user)

    def _check_chains(self) -> None:
        """Check that no value has different annotations, which have no meaning in the dialect."""
        producing: dict[ir.Value, _Annotation] = {}
        using: dict[ir.Value, _Annotation] = {}
        for annotation in self.annotations:
            operation = annotation.operation
            operand = operation.operands[0]
            outer = using.get(operand)
            if annotation.of_users:
                using[operation.results[0]] = annotation
                if outer is None or outer.origin is not None:
                    continue  # the result of another operation
                if outer.sharding != annotation.sharding:
                    reason = "an annotation of uses follows a different one"
                    raise refusal(SHARD_TO_SDY, reason, operation)
            else:
                if outer is not None:
                    reason = "an annotation of a definition follows one of uses"
                    raise refusal(SHARD_TO_SDY, reason, operation)
                root = _root(operand)
                known = producing.setdefault(root, annotation)
                if known.sharding != annotation.sharding and annotation.origin is None:
                    reason = "two annotations of one definition differ"
                    raise refusal(SHARD_TO_SDY, reason, operation)
                held = None if annotation.origin else get_sharding(root)
                if held is not None and held != annotation.sharding:
                    reason = f"an annotation differs from the sharding that the value has: {held}"
                    raise refusal(SHARD_TO_SDY, reason, operation)

    # --- Converting ---------------------------------------------------------------------------

    def _convert(self, annotation: _Annotation) -> None:
        operation = annotation.operation
        operand, result = operation.operands[0], operation.results[0]
        with ir.InsertionPoint(operation), operation.location:
            if not annotation.of_users:
                self._convert_producing(annotation, operand)
            elif annotation.origin == "sdy.reshard":
                moved = sdy.reshard(operand, self.cache[annotation.sharding])
                result.replace_all_uses_with(moved)
            elif annotation.origin is None:
                self._convert_using(annotation)
            else:
                result.replace_all_uses_with(self._constraint(annotation))
        operation.erase()

    def _convert_producing(self, annotation: _Annotation, operand: ir.Value) -> None:
        result = annotation.operation.results[0]
        if annotation.origin is not None:
            self._constraint(annotation)  # an unused one annotates its operand
        elif shardable_value(operand) is None:
            operand = self._constraint(annotation)
        else:
            set_sharding(operand, annotation.sharding, self.cache)
        result.replace_all_uses_with(operand)

    def _convert_using(self, annotation: _Annotation) -> None:
        operation = annotation.operation
        operand, result = operation.operands[0], operation.results[0]
        uses = [(use.owner.operation, use.operand_number) for use in result.uses]
        others: list[tuple[ir.Operation, int]] = []
        for user, number in uses:
            if user.name == "func.return" and self._set_result(user, number, annotation.sharding):
                user.operands[number] = operand
            else:
                others.append((user, number))
        if others and get_sharding(operand) != annotation.sharding:
            operand = self._constraint(annotation)
        for user, number in others:
            user.operands[number] = operand

    def _set_result(self, end: ir.Operation, number: int, sharding: TensorSharding) -> bool:
        """Set the sharding of a function's result; return whether it has that sharding then."""
        parent = end.parent
        assert parent is not None, "a return is in a function"
        function = parent.operation
        held = result_shardings(function)[number]
        if held is None:
            set_result_shardings(function, {number: sharding}, self.cache)
        return held in {None, sharding}

    def _constraint(self, annotation: _Annotation) -> ir.Value:
        operand = annotation.operation.operands[0]
        return sdy.sharding_constraint(operand, self.cache[annotation.sharding])


def _root(value: ir.Value) -> ir.Value:
    """Return the value before its annotations."""
    while (annotation := producer(value, "shard.shard")) is not None:
        value = annotation.operands[0]
    return value


def _axis_names(operation: ir.Operation, grid: Grid) -> list[str]:
    """Return the recorded names of the axes of a grid, or numbered ones."""
    remembered = get_discardable(operation, AXIS_NAMES)
    if remembered is None:
        return [f"axis{number}" for number in range(grid.rank)]
    if not isinstance(remembered, ir.ArrayAttr):
        remembered = ir.ArrayAttr.get([])
    names = [name for each in remembered if (name := as_text(each)) is not None]
    if len(names) != grid.rank:
        reason = f"'{AXIS_NAMES}' has {len(names)} names for {grid.rank} axes"
        raise refusal(SHARD_TO_SDY, reason, operation)
    return names


def _without_equivalent(name: str) -> str:
    fix = "lower it by 'shard-to-stablehlo', in a program for one device"
    return f"'{name}' has no equivalent in a program of global tensors; {fix}"


def _uneven(sharding: GridSharding, dim: int, size: int, refinement: Refinement) -> str:
    num_shards = refinement.grid.axes_size(sharding.split_axes[dim])
    if size < 0:
        return f"dimension {dim} has offsets ({sharding}), but its size is not known"
    fix = f"pad it to {padded_size(size, num_shards)}"
    if all(len(axes) <= 1 for axes in sharding.split_axes):
        fix += f", or give it the offsets {list(offsets_rounded_up(size, num_shards))}"
    how = "with these offsets" if sharding.sharded_dims_offsets else "evenly"
    return (
        f"dimension {dim} of size {size} is not divided into {num_shards} shards {how} as in "
        f"Shardy: {fix}"
    )
