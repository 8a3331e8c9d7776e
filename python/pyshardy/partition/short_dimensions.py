# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-unshard-short-dimensions`: no axes where there is nothing to spread.

1. A dimension of size 1 isn't sharded: one device would hold its only element, and others padding.
2. A slice that takes one element of a sharded dimension becomes a `stablehlo.dynamic_slice`, so
   that the device that has it hands it to all others, where shards would be gathered or exchanged.
   Slices that are put together again or padded stay what they are: shards do exchange them. With
   %0 sharded by [{"x"}, {}] in four,

       %1 = stablehlo.slice %0 [3:4, 0:8] : (tensor<16x8xf32>) -> tensor<1x8xf32>

   becomes

       %c = sdy.constant dense<[3, 0]> ...                                  // one constant for each
       %1 = stablehlo.dynamic_slice %0, %c, %c_0, sizes = [1, 8] : ... -> tensor<1x8xf32>
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

import numpy as np

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding, mesh_of
from mlir_sdy.symbols import enclosing_module, meshes_of
from mlir_sdy.values import (
    get_sharding,
    result_shardings_of,
    set_result_shardings_of,
)
from pyshardy.partition.agreement import shape_of
from pyshardy.passes.shardings import sharded_operations
from pyshardy.passes.walks import operations_named

_SLICE = "stablehlo.slice"
_REARRANGING = frozenset({"stablehlo.concatenate", "stablehlo.pad"})


def unshard_short_dimensions(function: ir.OpView) -> None:
    """Take axes from the dimensions in a function that have one element only.

    Args:
        function: the `func.func`. Its arguments and results keep their shardings, and so do those
            of calls and of manual computations.
    """
    module = enclosing_module(function)
    meshes = {} if module is None else meshes_of(module)
    cache = AttributeCache(function.context)
    known: dict[Hashable, dict[int, TensorSharding]] = {}  # layers repeat
    for operation, name, key in sharded_operations(function):
        changed = known.get(key)
        if changed is None:
            changed = known[key] = _shorter(operation)
        if changed and name != "func.call":
            set_result_shardings_of(operation, changed, cache)
    for operation in operations_named({_SLICE}, function):
        source = get_sharding(operation.operands[0])
        mesh = None if source is None else mesh_of(source, meshes)
        if source is None or mesh is None or not source.dim_shardings:
            continue
        shapes = shape_of(operation.operands[0]), shape_of(operation.results[0])
        pieces = source.sharded_sizes(mesh)
        short = [
            dim
            for dim, (before, after) in enumerate(zip(*shapes, strict=True))
            if before != after == 1 and pieces[dim] > 1
        ]
        is_contiguous = all(stride == 1 for stride in operation.attributes["strides"])
        if short and is_contiguous and not _is_rearranged(operation):
            _take_dynamically(operation, short, cache)


def _shorter(operation: ir.Operation) -> dict[int, TensorSharding]:
    """The shardings of results that have axes on dimensions of one element, without these."""
    changed: dict[int, TensorSharding] = {}
    # What only has effects, and no results, may still say on which device.
    given = zip(operation.results, result_shardings_of(operation), strict=False)
    for index, (result, sharding) in enumerate(given):
        sizes = shape_of(result)
        short = [dim for dim, size in enumerate(sizes) if size == 1]
        if any(sharding.dim_shardings[dim].axes for dim in short):
            changed[index] = _without_axes(sharding, short)
    return changed


def _is_rearranged(operation: ir.Operation) -> bool:
    """Whether what a slice takes is put somewhere else in a larger tensor."""
    return any(use.owner.operation.name in _REARRANGING for use in operation.results[0].uses)


def _take_dynamically(
    operation: ir.Operation, short: Collection[int], cache: AttributeCache
) -> None:
    """Replace a slice by a dynamic one with constant indices."""
    attributes = operation.attributes
    starts = list(attributes["start_indices"])
    sizes = shape_of(operation.results[0])
    with operation.location, ir.InsertionPoint(operation):
        made = ir.Operation.create(
            "stablehlo.dynamic_slice",
            results=[operation.results[0].type],
            operands=[operation.operands[0], *_constants(starts)],
            attributes={"slice_sizes": ir.DenseI64ArrayAttr.get(sizes)},
        )
    for named in attributes:
        if named not in ("start_indices", "limit_indices", "strides"):
            made.attributes[named] = attributes[named]
    given = result_shardings_of(operation)
    if given:
        set_result_shardings_of(made, {0: _without_axes(given[0], short)}, cache)
    operation.results[0].replace_all_uses_with(made.results[0])
    operation.erase()


def _constants(numbers: Sequence[int]) -> list[ir.Value]:
    """Scalars at the current insertion point."""
    return [
        ir.Operation.create(
            "sdy.constant",
            results=[ir.RankedTensorType.get([], ir.IntegerType.get_signless(64))],
            attributes={"value": ir.DenseElementsAttr.get(np.array(number, np.int64))},
        ).results[0]
        for number in numbers
    ]


def _without_axes(sharding: TensorSharding, dims: Collection[int]) -> TensorSharding:
    return sharding.with_dims_replaced(
        {dim: sharding.dim_shardings[dim].with_axes(()) for dim in dims}
    )
