# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Branches, loops and functions of shards; functions for their graphs are inlined afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of
from mlir_sdy.host import ir
from mlir_sdy.model import DimensionSharding, ManualAxes, TensorSharding, TensorShardingPerValue
from pyshardy.frontends.torch.local_maps import map_of
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.irtools.stablehlo_views import function_type_of
from pyshardy.irtools.tensor_types import shape_of, with_shape


@lowering("cond")
def branch(
    build: LoweringBuilder,
    predicate: ir.Value | bool,
    then: str,
    otherwise: str,
    operands: Sequence[ir.Value],
) -> Sequence[ir.Value]:
    """Compute one of two graphs."""
    if isinstance(predicate, bool):
        return call(build, then if predicate else otherwise, operands)
    predicate = build.reshape(predicate, ())
    operation = build.create("stablehlo.if", (predicate,), build.result_types, regions=2)
    for region, name in zip(operation.regions, (then, otherwise), strict=True):
        with ir.InsertionPoint(region.blocks.append()):
            build.return_values(call(build, name, operands))
    return list(operation.results)


@lowering("while_loop")
def loop(
    build: LoweringBuilder,
    condition: str,
    body: str,
    carried: Sequence[ir.Value],
    constants: Sequence[ir.Value],
) -> Sequence[ir.Value]:
    """Compute a graph while another one returns true."""

    def is_repeated(values: Sequence[ir.Value]) -> ir.Value:
        return build.reshape(call(build, condition, [*values, *constants])[0], ())

    def repeated(values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        return call(build, body, [*values, *constants])

    return _while(build, carried, is_repeated, repeated)


@lowering("scan")
def scan(
    build: LoweringBuilder,
    body: str,
    initial: Sequence[ir.Value],
    sequences: Sequence[ir.Value],
    constants: Sequence[ir.Value],
) -> Sequence[ir.Value]:
    """Compute a graph for each element of sequences, with values carried along.

    Results that aren't carried are stacked.
    """
    count = shape_of(sequences[0].type)[0]
    stacked = [build.filled(each, 0) for each in build.result_types[len(initial) :]]
    end = len(initial) + 1

    def is_repeated(values: Sequence[ir.Value]) -> ir.Value:
        return build.compare("LT", values[0], build.index(count))

    def repeated(values: Sequence[ir.Value]) -> Sequence[ir.Value]:
        index, carried, stacks = values[0], values[1:end], values[end:]
        elements = [_element(build, sequence, index) for sequence in sequences]
        results = call(build, body, [*carried, *elements, *constants])
        updated = [
            _with_element(build, stack, element, index)
            for stack, element in zip(stacks, results[len(initial) :], strict=True)
        ]
        next_index = build.binary("add", index, build.index(1))
        return [next_index, *results[: len(initial)], *updated]

    return _while(build, [build.index(0), *initial, *stacked], is_repeated, repeated)[1:]


@lowering("map_impl")
def map_elements(
    build: LoweringBuilder,
    body: str,
    sequences: Sequence[ir.Value],
    constants: Sequence[ir.Value],
) -> Sequence[ir.Value]:
    """Compute a graph for each element of sequences."""
    return scan(build, body, (), sequences, constants)


def _while(
    build: LoweringBuilder,
    initial: Sequence[ir.Value],
    is_repeated: Callable[[Sequence[ir.Value]], ir.Value],
    repeated: Callable[[Sequence[ir.Value]], Sequence[ir.Value]],
) -> Sequence[ir.Value]:
    types = [value.type for value in initial]
    operation = build.create("stablehlo.while", initial, types, regions=2)
    condition, body = (
        region.blocks.append(*types, arg_locs=[ir.Location.current] * len(types))
        for region in operation.regions
    )
    with ir.InsertionPoint(condition):
        build.return_values([is_repeated(list(condition.arguments))])
    with ir.InsertionPoint(body):
        build.return_values(repeated(list(body.arguments)))
    return list(operation.results)


def _element(build: LoweringBuilder, sequence: ir.Value, index: ir.Value) -> ir.Value:
    shape = shape_of(sequence.type)
    starts = [index, *(build.index(0) for _ in shape[1:])]
    element = build.dynamic_slice(sequence, starts, [1, *shape[1:]])
    return build.reshape(element, shape[1:])


def _with_element(
    build: LoweringBuilder, sequence: ir.Value, element: ir.Value, index: ir.Value
) -> ir.Value:
    shape = shape_of(sequence.type)
    starts = [index, *(build.index(0) for _ in shape[1:])]
    return build.dynamic_update_slice(sequence, build.reshape(element, [1, *shape[1:]]), starts)


def call(build: LoweringBuilder, name: str, operands: Sequence[ir.Value]) -> Sequence[ir.Value]:
    """Call the function for a graph."""
    function = build.functions[name]
    results = function_type_of(function).results
    attributes = {"callee": ir.FlatSymbolRefAttr.get(name)}
    return list(build.create("func.call", operands, results, attributes).results)


@lowering("pyshardy.local_map")
def local_map(
    build: LoweringBuilder, body: str, number: int, operands: Sequence[ir.Value]
) -> Sequence[ir.Value]:
    """Compute a graph on the shards of each device."""
    output = map_of(number)
    stacked = [_stacked(sharding) for sharding in output.out_shardings]
    types: list[ir.Type] = []
    for result, sharding in zip(build.result_types, output.out_shardings, strict=True):
        count = [output.mesh.axes_size(sharding.unreduced_axes)] if sharding.unreduced_axes else []
        types.append(with_shape(result, [*count, *shape_of(result)]))
    computation = sdy.ManualComputationOp(
        types,
        operands,
        attribute_of(TensorShardingPerValue(tuple(output.in_shardings))),
        attribute_of(TensorShardingPerValue(tuple(stacked))),
        attribute_of(ManualAxes(output.mesh.axis_names)),
    )
    shards = [
        with_shape(value.type, output.shard_shape(shape_of(value.type), sharding))
        for value, sharding in zip(operands, output.in_shardings, strict=True)
    ]
    locations = [ir.Location.current] * len(shards)
    block = computation.regions[0].blocks.append(*shards, arg_locs=locations)
    with ir.InsertionPoint(block):
        results = [
            build.reshape(value, [1, *shape_of(value.type)]) if sharding.unreduced_axes else value
            for value, sharding in zip(
                call(build, body, list(block.arguments)), output.out_shardings, strict=True
            )
        ]
        sdy.ReturnOp(results)
    return [
        _summed(build, value) if sharding.unreduced_axes else value
        for value, sharding in zip(computation.results, output.out_shardings, strict=True)
    ]


def _summed(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    zero = build.filled(with_shape(value.type, []), 0)
    return build.reduce(value, zero, [0], "stablehlo.add")


def _stacked(sharding: TensorSharding) -> TensorSharding:
    """Return the sharding with the unreduced axes in one more dimension, in front."""
    if not sharding.unreduced_axes:
        return sharding
    front = DimensionSharding(sharding.unreduced_axes)
    return TensorSharding(sharding.mesh_or_ref, (front, *sharding.dim_shardings))
