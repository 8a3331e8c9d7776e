# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-unshard-size-one-dims`: remove axes from dimensions of size 1.

1. A dimension of size 1 isn't sharded: one device would hold its only element, and others padding.
2. A slice that takes one element of a sharded dimension becomes a `stablehlo.dynamic_slice`, so
   that its device broadcasts it, where shards would be gathered or exchanged. Slices that are
   concatenated or padded are not changed: halo exchange is cheaper for them. With %0 sharded by
   [{"x"}, {}] in four,

       %1 = stablehlo.slice %0 [3:4, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>

   becomes

       %c = sdy.constant dense<[3, 0]> ...                                  // one constant for each
       %1 = stablehlo.dynamic_slice %0, %c, %c_0, sizes = [1, 8] : ... -> tensor<1x8xf32>

Arguments and results of the function keep their shardings, and so do those of calls and of manual
computations.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding, TensorShardingPerValue, mesh_of
from mlir_sdy.uses import replace_by
from mlir_sdy.values import (
    SHARDING,
    get_sharding,
    result_shardings_of,
    set_result_shardings_of,
    sharded_operations,
)
from pyshardy.irtools.analyses import UNCHANGED, Changes
from pyshardy.irtools.shardings import result_kinds
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import SliceView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import may_occur_at_start, operations_named
from pyshardy.partition.function_context import FunctionContext
from pyshardy.pipeline import register_pass

_SLICE = "stablehlo.slice"
_REARRANGING = frozenset({"stablehlo.concatenate", "stablehlo.pad"})


@register_pass("sdy-unshard-size-one-dims", anchor="func.func", release="pyshardy")
def unshard_size_one_dims(function: ir.OpView) -> Changes | None:
    """Unshard dimensions of size 1.

    Removes the axes from dimensions of size 1. A slice that takes one element of a sharded
    dimension becomes a `stablehlo.dynamic_slice`, so that the device that holds the element
    broadcasts it to the others.

    ```mlir
    // %0 is sharded as <@mesh, [{"x"}, {}]> on <["x"=4]>
    %1 = stablehlo.slice %0 [3:4, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>
    ```

    becomes

    ```mlir
    %2 = sdy.constant dense<3> : tensor<i64>
    %3 = sdy.constant dense<0> : tensor<i64>
    %1 = stablehlo.dynamic_slice %0, %2, %3, sizes = [1, 8]
        : (tensor<16x8xf32>, tensor<i64>, tensor<i64>) -> tensor<1x8xf32>
    ```
    """
    context = FunctionContext.of(function)
    meshes, cache = context.meshes, context.cache
    has_short_dims = context.module is None or any(
        _short_dims(kind.types, value_of(kind.shardings)) for kind in result_kinds(context.module)
    )
    if not has_short_dims and not may_occur_at_start({_SLICE}, function):
        return UNCHANGED
    has_changed = has_short_dims
    if has_short_dims:
        _take_axes(function, cache)
    for operation in operations_named({_SLICE}, function):
        source = get_sharding(operation.operands[0])
        mesh = None if source is None else mesh_of(source, meshes)
        if source is None or mesh is None or not source.dim_shardings:
            continue
        shapes = shape_of(operation.operands[0].type), shape_of(operation.results[0].type)
        num_shards = source.sharded_sizes(mesh)
        short = [
            dim
            for dim, (before, after) in enumerate(zip(*shapes, strict=True))
            if before != after == 1 and num_shards[dim] > 1
        ]
        is_contiguous = all(stride == 1 for stride in SliceView(operation).strides)
        if short and is_contiguous and not _is_rearranged(operation):
            _take_dynamically(operation, short, cache)
            has_changed = True
    return None if has_changed else UNCHANGED


def _take_axes(function: ir.OpView, cache: AttributeCache) -> None:
    """Remove axes from the results of operations in a function, except those of calls."""
    known: dict[Hashable, dict[int, TensorSharding]] = {}  # layers of a model repeat
    for operation, name, key in sharded_operations(function):
        changed = known.get(key)
        if changed is None:
            types = [result.type for result in operation.results]
            shardings = value_of(get_discardable(operation, SHARDING))
            changed = known[key] = {
                index: _without_axes(shardings.shardings[index], dims)
                for index, dims in _short_dims(types, shardings).items()
            }
        if changed and name != "func.call":
            set_result_shardings_of(operation, changed, cache)


def _short_dims(
    types: Sequence[ir.Type], shardings: TensorShardingPerValue
) -> dict[int, list[int]]:
    """Return for results, by index, the dimensions of size 1 that have axes."""
    # Operations with effects only, and no results, may have the sharding of a device.
    found = {
        index: [
            dim
            # A sharding on a single device has no dimensions, for any rank.
            for dim, (size, of_dim) in enumerate(
                zip(shape_of(value_type), sharding.dim_shardings, strict=False)
            )
            if size == 1 and of_dim.axes
        ]
        for index, (value_type, sharding) in enumerate(
            zip(types, shardings.shardings, strict=False)
        )
    }
    return {index: dims for index, dims in found.items() if dims}


def _is_rearranged(operation: ir.Operation) -> bool:
    """Whether the result of a slice is put into a larger tensor."""
    return any(use.owner.operation.name in _REARRANGING for use in operation.results[0].uses)


def _take_dynamically(
    operation: ir.Operation, short: Collection[int], cache: AttributeCache
) -> None:
    """Replace a slice by a dynamic one with constant indices."""
    starts = SliceView(operation).start_indices
    sizes = shape_of(operation.results[0].type)
    with operation.location, ir.InsertionPoint(operation):
        constants = _constants(starts)
        sliced = StablehloBuilder().dynamic_slice(operation.operands[0], constants, sizes)
    made = sliced.owner.operation
    bounds = (SliceView.start_indices, SliceView.limit_indices, SliceView.strides)
    own = {bound.name for bound in bounds}
    for name, attribute in operation.attributes.items():
        if name not in own:
            set_discardable(made, name, attribute)
    given = result_shardings_of(operation)
    if given:
        set_result_shardings_of(made, {0: _without_axes(given[0], short)}, cache)
    replace_by(operation, made.results[0])


def _constants(numbers: Sequence[int]) -> list[ir.Value]:
    """Build scalars at the current insertion point."""
    return [
        sdy.constant(literal, results=[literal.type])
        for literal in (ir.DenseElementsAttr.get(np.array(each, np.int64)) for each in numbers)
    ]


def _without_axes(sharding: TensorSharding, dims: Collection[int]) -> TensorSharding:
    return sharding.with_dims_replaced(
        {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
    )
