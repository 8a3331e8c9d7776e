# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments and results of a static program that are padded to even sizes.

An argument is sliced at the beginning of the entry, a result is padded at its end:

    func.func @main(%x: tensor<10x4xf32> {sdy.sharding = <@mesh, [{"data"}, {}]>})

becomes, for 4 devices along "data",

    func.func @main(%x: tensor<12x4xf32> {sdy.sharding = <@mesh, [{"data"}, {}]>}) {
      %0 = stablehlo.slice %x [0:10, 0:4] {sdy.sharding = <@mesh, [{"data"}, {}]>}

The partitioner masks uneven shards, and needs no communication for the slice.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy.host import ir
from mlir_sdy.model import TensorSharding
from mlir_sdy.traversal import terminator_of
from mlir_sdy.values import argument_shardings, result_shardings, set_sharding
from pyshardy.irtools.stablehlo_builder import StablehloBuilder
from pyshardy.irtools.stablehlo_views import FunctionView, function_type_of
from pyshardy.irtools.tensor_types import shape_of, with_shape

Shape = tuple[int, ...]


def pad_ports(
    entry: ir.Operation, arguments: Mapping[int, Shape], results: Mapping[int, Shape]
) -> None:
    """Give arguments and results of a static program larger shapes, in place.

    Args:
        entry: the entry.
        arguments: the new shapes of arguments, by their indices.
        results: the new shapes of results.
    """
    block, builder = entry.regions[0].blocks[0], StablehloBuilder()
    function_type = function_type_of(entry)
    inputs, outputs = list(function_type.inputs), list(function_type.results)
    given, returned = argument_shardings(entry), result_shardings(entry)
    with entry.context, entry.location:
        with ir.InsertionPoint.at_block_begin(block):
            for index, shape in arguments.items():
                argument = block.arguments[index]
                before = shape_of(argument.type)
                argument.set_type(with_shape(argument.type, shape))
                inputs[index] = argument.type
                used = builder.slice_prefix(argument, before)
                argument.replace_all_uses_except(used, used.owner.operation)
                _shard(used, given[index])
        terminator = terminator_of(block)
        with ir.InsertionPoint(terminator):
            for index, shape in results.items():
                value = terminator.operands[index]
                before = shape_of(value.type)
                zero = builder.splat(with_shape(value.type, ()), 0)
                low, more = [0] * len(shape), [n - m for n, m in zip(shape, before, strict=True)]
                padded = builder.pad(value, zero, low, more)
                _shard(padded, returned[index])
                terminator.operands[index] = padded
                outputs[index] = padded.type
        FunctionView(entry).function_type = ir.FunctionType.get(inputs, outputs)


def _shard(value: ir.Value, sharding: TensorSharding | None) -> None:
    if sharding is not None:
        set_sharding(value, sharding)
