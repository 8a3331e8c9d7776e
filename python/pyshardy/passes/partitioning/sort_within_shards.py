# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-sort-within-shards`: sort rows by groups on each device apart.

Sorted rows are gathered from all devices, where a mixture of experts sorts its tokens. If it does
not matter how rows of one group are ordered (`SortedRows`), each shard of the tokens is sorted
apart. Along the axes of the tensor that is sorted,

1. the sort, its inverse, and the gathers and scatters that move rows between the order of tokens
   and that of groups get a batching dimension, whose elements are the shards;
2. each `chlo.ragged_dot` gets the group sizes of each shard;
3. elementwise operations on rows get this dimension, too, so that devices that multiply with some
   groups only keep rows of these groups from one product to the next;
4. rows are sharded.

Everything else stays as it is, and rows keep the axes of other dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import AxisTuple, TensorSharding
from mlir_sdy.values import SHARDING, get_sharding, set_sharding
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.ragged_dots import RAGGED_DOT
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import RaggedDotView
from pyshardy.irtools.tensor_types import element_type_of, shape_of, with_shape
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.op_facts.sorted_rows import SortedRows, is_argsort
from pyshardy.pipeline import register_pass

_SORT = "stablehlo.sort"
_COUNTING = frozenset(
    f"stablehlo.{name}" for name in ("broadcast_in_dim", "compare", "convert", "reduce", "scatter")
)
"""Operations between the groups of tokens and their sizes."""


@register_pass("sdy-sort-within-shards", anchor="func.func", release="pyshardy")
def sort_within_shards(function: ir.OpView) -> Changes | None:
    """Sort the rows of ragged products on each device apart.

    A mixture of experts sorts its tokens by expert, gathers them in this order, multiplies the rows
    of each expert by `chlo.ragged_dot`, and puts the results back. Where that gives the same
    results up to the order of sums, each shard of the tokens is sorted apart, so that no token
    leaves its device. With tokens sharded along `"d"` of size 4,

    ```mlir
    %order:2 = "stablehlo.sort"(%expert, %iota) ... : (tensor<64xi32>, tensor<64xi32>) -> ...
    %rows = "stablehlo.gather"(%x, %order#1) ...
    %y = "chlo.ragged_dot"(%rows, %w, %sizes) ... : (..., tensor<8xi32>) -> tensor<64x32xf32>
    ```

    becomes

    ```mlir
    %order:2 = "stablehlo.sort"(...) <{dimension = 1}> ... : (tensor<4x16xi32>, ...) -> ...
    %rows = "stablehlo.gather"(...) ...  // with a batching dimension of size 4
    %y = "chlo.ragged_dot"(%rows, %w, %sizes) ... : (..., tensor<4x8xi32>) -> tensor<4x16x32xf32>
    ```
    """
    if not may_occur_at_start({RAGGED_DOT}, function):
        return UNCHANGED
    context = FunctionContext.of(function)
    has_changed = False
    while (blocks := _first_blocks(function, context)) is not None:
        blocks.rewrite()
        has_changed = True
    return None if has_changed else UNCHANGED


def _first_blocks(function: ir.OpView, context: FunctionContext) -> _Blocks | None:
    """Return the blocks of the first sort whose order doesn't matter."""
    for sort in operations_named({_SORT}, function):
        sharding = get_sharding(sort.operands[0]) if is_argsort(sort) else None
        if sharding is None or sharding.unreduced_axes or not sharding.dim_axes[0]:
            continue
        (size,), axes = shape_of(sort.operands[0].type), sharding.dim_axes[0]
        (count,) = sharding.sharded_sizes(context.mesh(sharding))
        rows = None if size % count else SortedRows.of(sort, count, axes, context.rules)
        if rows is not None:
            return _Blocks(rows, sharding, count, context.cache)
    return None


class _Blocks:
    """Builds operations on the blocks of rows that the shards have.

    Args:
        sorted_rows: the values and operations that depend on the order.
        sharding: that of the tensor that is sorted, whose axes shard all rows.
        count: the number of shards.
        cache: makes attributes.
    """

    def __init__(
        self, sorted_rows: SortedRows, sharding: TensorSharding, count: int, cache: AttributeCache
    ):
        self._rows = sorted_rows
        self._axes = sharding.dim_axes[0]
        self._mesh = sharding.mesh_or_ref
        self._count = count
        self._cache = cache
        self._sizes: dict[ir.Value, ir.Value] = {}
        self._blocks: dict[ir.Value, ir.Value] = {}
        self._build = StablehloBuilder()

    def rewrite(self) -> None:
        """Shard all rows, and compute the local operations for each block."""
        for value, dim in self._rows.rows.items():
            self._shard(value, value, dim)
        for sizes, group in self._rows.groups.items():
            after = sizes.owner.operation
            with after.location, ir.InsertionPoint.after(after):
                self._sizes[sizes] = self._sizes_of_blocks(sizes, group)
        for operation in self._rows.local:
            with operation.location, ir.InsertionPoint(operation):
                match operation.name:
                    case "stablehlo.sort":
                        self._sort(operation)
                    case "stablehlo.gather":
                        self._gather(operation)
                    case "stablehlo.scatter":
                        self._scatter(operation)
                    case name if name == RAGGED_DOT:
                        self._multiply(operation)
                    case _:
                        self._compute(operation)
        for value in self._blocks:
            if not any(value.uses):
                value.owner.operation.erase()
        for value in self._rows.groups:
            _erase_if_unused(value)

    # --- Values ---------------------------------------------------------------------------------

    def _shard(self, value: ir.Value, like: ir.Value | None = None, dim: int = 0) -> ir.Value:
        """Shard a dimension of a value along the axes of rows, and the last ones as another value.

        Args:
            value: the value.
            like: the value whose dimensions behind the first the last ones are; None for no axes.
            dim: the dimension.
        """
        used = {axis.name for axis in self._axes}
        sharding = None if like is None else get_sharding(like)
        kept = [
            () if any(axis.name in used for axis in each) else each
            for each in (sharding.dim_axes if sharding is not None else ())
        ]
        rank = len(shape_of(value.type))
        if dim == 0:
            kept = kept[1:]
        axes: list[AxisTuple] = [*[()] * (rank - len(kept)), *kept]
        axes[dim] = self._axes
        set_sharding(value, TensorSharding.from_axes(self._mesh, tuple(axes)), self._cache)
        return value

    def _split(self, value: ir.Value) -> ir.Value:
        """Return a tensor with a first dimension of blocks."""
        if value in self._blocks:
            return self._blocks[value]
        size, *others = shape_of(value.type)
        blocks = self._build.reshape(value, (self._count, size // self._count, *others))
        return self._shard(blocks, value)

    def _join(self, blocks: ir.Value, old: ir.Value) -> None:
        """Replace a value by the rows of all blocks."""
        joined = self._build.reshape(blocks, shape_of(old.type))
        self._shard(joined, old)
        self._blocks[joined] = blocks
        old.replace_all_uses_with(joined)

    def _indices(self, indices: ir.Value, size: int) -> ir.Value:
        """Build the indices within blocks for those in a dimension of a size."""
        blocks = self._split(indices)
        numbers = self._shard(self._build.iota(blocks.type, 0))
        step = self._build.splat(blocks.type, size // self._count)
        first = self._shard(self._build.binary("multiply", numbers, step))
        return self._shard(self._build.binary("subtract", blocks, first))

    def _sizes_of_blocks(self, sizes: ir.Value, group: ir.Value) -> ir.Value:
        """Build the group sizes of all blocks, from the groups of tokens."""
        num_tokens = math.prod(shape_of(group.type))
        (num_groups,) = shape_of(sizes.type)
        flat = self._shard(self._build.reshape(group, (num_tokens,)))
        blocks = self._split(flat)
        shape = (*shape_of(blocks.type), num_groups)
        spread = self._build.broadcast_in_dim(blocks, shape, (0, 1))
        self._shard(spread)
        numbers = self._shard(self._build.iota(spread.type, 2))
        is_same = self._shard(self._build.compare("EQ", spread, numbers))
        counted = self._build.convert(is_same, element_type_of(sizes.type))
        zero = self._build.splat(with_shape(sizes.type, ()), 0)
        self._shard(counted)
        return self._shard(self._build.reduce(counted, zero, (1,), "stablehlo.add"))

    # --- Operations -----------------------------------------------------------------------------

    def _sort(self, operation: ir.Operation) -> None:
        operands = [self._split(each) for each in operation.operands]
        attributes = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}
        self._copy(operation, operands, [each.type for each in operands], attributes)

    def _gather(self, operation: ir.Operation) -> None:
        operand, indices = operation.operands
        size, *others = shape_of(operand.type)
        result = operation.results[0]
        window = list(range(2, len(shape_of(result.type)) + 1))
        attributes = {
            "dimension_numbers": ir.Attribute.parse(
                f"#stablehlo.gather<offset_dims = {window}, collapsed_slice_dims = [1], "
                "operand_batching_dims = [0], start_indices_batching_dims = [0], "
                "start_index_map = [1], index_vector_dim = 2>"
            ),
            "slice_sizes": ir.DenseI64ArrayAttr.get([1, 1, *others]),
        }
        operands = (self._split(operand), self._indices(indices, size))
        self._copy(operation, operands, [self._blocks_of(result.type)], attributes)

    def _scatter(self, operation: ir.Operation) -> None:
        operand, indices, updates = operation.operands
        window = list(range(2, len(shape_of(operand.type)) + 1))
        attributes = {
            "scatter_dimension_numbers": ir.Attribute.parse(
                f"#stablehlo.scatter<update_window_dims = {window}, inserted_window_dims = [1], "
                "input_batching_dims = [0], scatter_indices_batching_dims = [0], "
                "scatter_dims_to_operand_dims = [1], index_vector_dim = 2>"
            )
        }
        size = shape_of(operand.type)[0]
        operands = (self._split(operand), self._indices(indices, size), self._split(updates))
        self._copy(operation, operands, [operands[0].type], attributes)

    def _multiply(self, operation: ir.Operation) -> None:
        numbers = RaggedDotView(operation).ragged_dot_dimension_numbers
        lhs, rhs, sizes = operation.operands
        of_lhs = [dim + 1 for dim in numbers.lhs_contracting]
        of_rhs = [*numbers.rhs_contracting]
        result = operation.results[0]
        if numbers.is_contracting:
            at = numbers.lhs_contracting.index(0)
            of_lhs[at : at + 1], of_rhs = [0, 1], [dim + 1 for dim in of_rhs]
            of_rhs[at : at + 1] = [0, 1]
            rhs = self._split(rhs)
        group = f", rhs_group_dimensions = {list(numbers.rhs_group)}" if numbers.rhs_group else ""
        attributes = {
            "ragged_dot_dimension_numbers": ir.Attribute.parse(
                f"#chlo.ragged_dot<lhs_contracting_dimensions = {of_lhs}, "
                f"rhs_contracting_dimensions = {of_rhs}, lhs_ragged_dimensions = [1]{group}>"
            )
        }
        operands = (self._split(lhs), rhs, self._sizes[sizes])
        if not numbers.is_contracting:
            self._copy(operation, operands, [self._blocks_of(result.type)], attributes)
            return
        product = self._build_like(operation, operands, [result.type], attributes)
        sharding = get_sharding(result)
        if sharding is not None:
            set_sharding(product.results[0], sharding, self._cache)
        result.replace_all_uses_with(product.results[0])
        operation.erase()

    def _compute(self, operation: ir.Operation) -> None:
        operands = [
            self._split(each) if shape_of(each.type) else each for each in operation.operands
        ]
        types = [self._blocks_of(each.type) for each in operation.results]
        self._copy(operation, operands, types, {})

    def _blocks_of(self, tensor: ir.Type) -> ir.Type:
        size, *others = shape_of(tensor)
        return with_shape(tensor, (self._count, size // self._count, *others))

    def _copy(
        self,
        operation: ir.Operation,
        operands: Sequence[ir.Value],
        types: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute],
    ) -> None:
        """Replace an operation by one on blocks."""
        new = self._build_like(operation, operands, types, attributes)
        for old, blocks in zip(operation.results, new.results, strict=True):
            self._shard(blocks, old)
            self._join(blocks, old)
        operation.erase()

    def _build_like(
        self,
        operation: ir.Operation,
        operands: Sequence[ir.Value],
        types: Sequence[ir.Type],
        attributes: Mapping[str, ir.Attribute],
    ) -> ir.Operation:
        """Build an operation that takes over the regions and attributes of the old one."""
        kept = dict(operation.attributes.items())
        kept.pop(SHARDING, None)
        new = self._build.create(
            operation.name, operands, types, {**kept, **attributes}, regions=len(operation.regions)
        )
        for region, old in zip(new.regions, operation.regions, strict=True):
            old.blocks[0].append_to(region)
        return new


def _erase_if_unused(value: ir.Value) -> None:
    """Erase the operations that count the tokens of groups, as far as nothing uses them now."""
    if isinstance(value, ir.BlockArgument) or any(value.uses):
        return
    operation = value.owner.operation
    if operation.name in _COUNTING:
        operands = list(dict.fromkeys(operation.operands))
        operation.erase()
        for operand in operands:
            _erase_if_unused(operand)
