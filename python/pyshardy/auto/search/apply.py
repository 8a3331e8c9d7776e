# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writing a choice of shardings into a program, as attributes.

All shardings are closed, so that propagation keeps them. Scalars and values that each device
computes for itself, such as constants, get none. Operations on a single device stay there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mlir_sdy.attributes import AttributeCache, value_of
from mlir_sdy.discardable import get_discardable, set_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import DimensionSharding, TensorSharding, TensorShardingPerValue
from mlir_sdy.symbols import meshes_of
from mlir_sdy.traversal import SCALAR_BODIES, named_operations_in
from mlir_sdy.values import (
    COMPUTATIONS,
    edge_owner,
    rank_of,
    set_argument_shardings,
    set_result_shardings,
    set_result_shardings_of,
)
from pyshardy.irtools.functions import entry_block, functions_of, main_function
from pyshardy.partition.compatibility.single_device import single_device_sharding
from pyshardy.partition.resharding.steps import AxesPerDim


def values_of(module: ir.Module) -> Iterator[ir.Value]:
    """Yield the values of a program in its order, without those of scalar bodies.

    Copies of a program have equal values at equal places.
    """
    for operation, _ in named_operations_in(module, leaving_out=SCALAR_BODIES):
        yield from operation.results
        if operation.name in SCALAR_BODIES:
            continue
        for region in operation.regions:
            for block in region.blocks:
                yield from block.arguments


def closed(axes: AxesPerDim, mesh: str) -> TensorSharding:
    """Return the closed sharding with some axes of each dimension."""
    return TensorSharding(mesh, tuple(DimensionSharding(each, is_closed=True) for each in axes))


def annotate(
    module: ir.Module,
    values: Mapping[ir.Value, AxesPerDim],
    results: Mapping[int, AxesPerDim],
    mesh: str,
) -> None:
    """Write shardings into a program.

    Args:
        module: the program, which is changed.
        values: the axes of each dimension of values of the program.
        results: those of results of `@main`.
        mesh: the name of the mesh.
    """
    cache, meshes = AttributeCache(module.context), meshes_of(module)
    for function in functions_of(module):
        block = entry_block(function)
        if block is not None:
            found = {
                argument.arg_number: closed(values[argument], mesh)
                for argument in block.arguments
                if argument in values
            }
            if found:
                set_argument_shardings(function, found, cache)
    for operation, name in named_operations_in(module, leaving_out=SCALAR_BODIES):
        found = {
            number: closed(values[result], mesh)
            for number, result in enumerate(operation.results)
            if result in values and (edge_owner(result) or result) == result
        }
        if name in COMPUTATIONS:
            arguments = list(operation.regions[0].blocks[0].arguments)
            for attribute, ends in (
                ("in_shardings", arguments),
                ("out_shardings", list(operation.results)),
            ):
                given = get_discardable(operation, attribute)
                chosen = (
                    [closed(values.get(end, ((),) * rank_of(end.type)), mesh) for end in ends]
                    if given is None
                    else [each.closed_like() for each in value_of(given).shardings]
                )
                kept = TensorShardingPerValue(tuple(chosen))
                set_discardable(operation, attribute, cache[kept])
        elif found and single_device_sharding(operation, meshes) is None:
            set_result_shardings_of(operation, found, cache)
    main = main_function(module)
    if main is not None and results:
        shardings = {number: closed(axes, mesh) for number, axes in results.items()}
        set_result_shardings(main, shardings, cache)
