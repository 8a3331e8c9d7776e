# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shardings of an sdy program in the shard dialect, on grids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir_sdy.host import ir
from mlir_sdy.model import AxisRef, Mesh, ModelError, TensorSharding
from mlir_sdy.shard.values import GridSharding
from mlir_sdy.symbols import meshes_of
from mlir_sdy.values import (
    SHARDING,
    argument_shardings,
    result_shardings,
    result_shardings_of,
)
from pyshardy.irtools.functions import has_body
from pyshardy.irtools.stablehlo_views import function_type_of, symbol_name
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.shard.errors import SDY_TO_SHARD, refusal
from pyshardy.shard.origins import ORIGINS
from pyshardy.shard.refinement import Refinement, refine
from pyshardy.shard.uneven_shards import with_offsets

HINTS = frozenset({"sdy.propagation_barrier", "sdy.sharding_group"})
"""Operations that only affect propagation."""

CONVERTED = frozenset({"sdy.constant", "sdy.mesh", *ORIGINS, *HINTS})
"""Operations that are converted or removed."""


class ShardingsOnGrids:
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
            if name in HINTS and not self._lossy:
                reason = f"'{name}' has no equivalent; 'lossy' drops it"
                raise refusal(SDY_TO_SHARD, reason, operation)
            if name.startswith("sdy.") and name not in CONVERTED:
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
                if sharding is not None and not says_nothing(sharding):
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


def says_nothing(sharding: TensorSharding) -> bool:
    """Whether a sharding is fully open, without axes."""
    return sharding.is_fully_replicated_and_open and sharding.rank > 0 and sharding.has_no_axes


def _shape_or_unknown(value_type: ir.Type) -> tuple[int, ...]:
    """Return the sizes of a type, -1 where they are dynamic."""
    return tuple(max(size, -1) for size in shape_of(value_type))
