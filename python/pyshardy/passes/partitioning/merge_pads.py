# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-merge-pads`: merge pads and slices of a sharded dimension.

The result of a pad is as a rule not as large as its operand, so that shards of both begin at other
elements: a pad and a slice of it exchange elements twice, and one pad by the difference once.

1. Two pads, a slice of a pad, a pad of a slice, or two slices become a pad, by a negative amount
   where elements are removed, or a slice if nothing is added. There is none of both with strides.
2. Both change the size of a dimension along which the operand, the result or the value between
   them is sharded.
3. No element that the first one removes would come back. If both add elements, they add the same.
4. The value between them isn't needed any more: its uses are slices of a pad that are all merged,
   or a single one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import Shape
from mlir_sdy.uses import replace_by
from mlir_sdy.values import get_sharding
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.stablehlo_views import PadView, SliceView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.partition.partial.reductions import is_positive_zero
from pyshardy.partition.types.padding_builder import PaddingBuilder
from pyshardy.pipeline import register_pass

_PAD, _SLICE = "stablehlo.pad", "stablehlo.slice"


@dataclass(frozen=True)
class _Edges:
    """The numbers of elements that a pad or a slice adds; negative if it removes elements.

    Attributes:
        low: their number before the dimension.
        high: their number behind it.
        interior: their number between two others.
        fill: the value of these elements; None if there are none.
        strides: the distances of the elements of which the result consists.
    """

    low: Shape
    high: Shape
    interior: Shape
    fill: ir.Value | None
    strides: Shape

    def changes(self, dim: int) -> bool:
        """Whether elements are added to a dimension, or removed."""
        edges = self.low[dim], self.high[dim], self.interior[dim]
        return any(edges) or self.strides[dim] != 1

    @property
    def is_strided(self) -> bool:
        """Whether elements between others are removed."""
        return any(stride != 1 for stride in self.strides)


@register_pass("sdy-merge-pads", anchor="func.func", release="pyshardy")
def merge_pads(function: ir.OpView) -> Changes | None:
    """Merge pads and slices of a sharded dimension.

    Merges a `stablehlo.pad` or `stablehlo.slice` with one of its result, along a sharded dimension,
    so that shards exchange elements once.

    ```mlir
    // %0 and %2 are sharded by [{"x"}]
    %1 = stablehlo.pad %0, %zero, low = [1], high = [0], interior = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<9xf32>
    %2 = stablehlo.slice %1 [0:8] : (tensor<9xf32>) -> tensor<8xf32>
    ```

    becomes

    ```mlir
    %2 = stablehlo.pad %0, %zero, low = [1], high = [-1], interior = [0]
        : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    ```
    """
    if not may_occur_at_start({_PAD, _SLICE}, function):
        return UNCHANGED
    builder = PaddingBuilder(FunctionContext.of(function).cache)
    has_changed = False
    for first in reversed(operations_named({_PAD, _SLICE}, function)):
        users = [use.owner.operation for use in first.results[0].uses]
        merged = [edges for user in users if (edges := _merged(first, user)) is not None]
        is_cut = first.name == _PAD and all(user.name == _SLICE for user in users)
        if not merged or len(merged) < len(users) or not (is_cut or len(users) == 1):
            continue
        for user, edges in zip(users, merged, strict=True):
            replace_by(user, _built(first.operands[0], user, edges, builder))
        first.erase()
        has_changed = True
    return None if has_changed else UNCHANGED


def _merged(first: ir.Operation, second: ir.Operation) -> _Edges | None:
    """Return the edges of two operations together; None if they can't, or need not, be merged."""
    if second.name not in (_PAD, _SLICE) or second.operands[0] != first.results[0]:
        return None
    inner, outer = _edges_of(first), _edges_of(second)
    if any(outer.interior):
        return None
    values = first.operands[0], first.results[0], second.results[0]
    given = [sharding for sharding in map(get_sharding, values) if sharding is not None]
    dims = range(len(inner.low))
    if not any(
        inner.changes(dim) and outer.changes(dim) and any(each.dim_axes[dim] for each in given)
        for dim in dims
    ):
        return None
    ends = [*zip(inner.low, outer.low, strict=True), *zip(inner.high, outer.high, strict=True)]
    if any(before < 0 < after for before, after in ends):
        return None
    if inner.fill and outer.fill and not _are_equal(inner.fill, outer.fill):
        return None
    columns = zip(inner.low, outer.low, inner.strides, strict=True)
    low = tuple([before + after * stride for before, after, stride in columns])
    high = tuple([before + after for before, after in zip(inner.high, outer.high, strict=True)])
    strides = tuple(map(math.prod, zip(inner.strides, outer.strides, strict=True)))
    merged = _edges((low, high, inner.interior), inner.fill or outer.fill, strides)
    is_strided_pad = (inner.is_strided and outer.fill) or (merged.is_strided and merged.fill)
    return None if is_strided_pad else merged


def _edges(
    amounts: tuple[Shape, Shape, Shape], fill: ir.Value | None, strides: Shape | None = None
) -> _Edges:
    """Return edges without a value if nothing is added."""
    is_filled = any(each > 0 for amount in amounts for each in amount)
    return _Edges(*amounts, fill if is_filled else None, strides or (1,) * len(amounts[0]))


def _edges_of(operation: ir.Operation) -> _Edges:
    """Return the edges of a pad or a slice."""
    if operation.name == _PAD:
        return _edges(PadView(operation).amounts, operation.operands[1])
    view = SliceView(operation)
    sizes = shape_of(operation.operands[0].type)
    low = tuple([-start for start in view.start_indices])
    high = tuple([end - size for end, size in zip(view.limit_indices, sizes, strict=True)])
    return _edges((low, high, (0,) * len(sizes)), None, view.strides)


def _are_equal(left: ir.Value, right: ir.Value) -> bool:
    return left == right or (is_positive_zero(left) and is_positive_zero(right))


def _built(
    operand: ir.Value, replaced: ir.Operation, edges: _Edges, builder: PaddingBuilder
) -> ir.Value:
    """Build the pad or slice that takes the place of two operations, unless it changes nothing."""
    result = replaced.results[0]
    sharding = get_sharding(result)
    is_whole = edges.fill is None and operand.type == result.type
    if is_whole and get_sharding(operand) == sharding:
        return operand
    with replaced.location, ir.InsertionPoint(replaced):
        if edges.fill is not None:
            return builder.sharded(sharding).pad(
                operand, edges.fill, edges.low, edges.high, edges.interior
            )
        starts, sizes = [-low for low in edges.low], shape_of(result.type)
        strides = [
            1 if size == 1 else stride for size, stride in zip(sizes, edges.strides, strict=True)
        ]
        columns = zip(starts, sizes, strides, strict=True)
        ends = [start + max((size - 1) * stride + 1, 0) for start, size, stride in columns]
        return builder.sharded(sharding).slice(operand, starts, ends, strides)
