# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of shards, as manual computations."""

from __future__ import annotations

from collections.abc import Sequence

from mlir_sdy import sdy
from mlir_sdy.attributes import attribute_of
from mlir_sdy.host import ir
from mlir_sdy.model import DimensionSharding, ManualAxes, TensorSharding, TensorShardingPerValue
from pyshardy.frontends.torch.local_maps import map_of
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, lowering
from pyshardy.frontends.torch.lowerings.control_flow import call
from pyshardy.irtools.tensor_types import shape_of, with_shape


@lowering("pyshardy.local_map")
def local_map(
    build: LoweringBuilder, body: str, number: int, operands: Sequence[ir.Value]
) -> Sequence[ir.Value]:
    """Compute a graph on the shards of each device."""
    made = map_of(number)
    stacked = [_stacked(sharding) for sharding in made.out_shardings]
    types: list[ir.Type] = []
    for result, sharding in zip(build.result_types, made.out_shardings, strict=True):
        count = [made.mesh.axes_size(sharding.unreduced_axes)] if sharding.unreduced_axes else []
        types.append(with_shape(result, [*count, *shape_of(result)]))
    computation = sdy.ManualComputationOp(
        types,
        operands,
        attribute_of(TensorShardingPerValue(tuple(made.in_shardings))),
        attribute_of(TensorShardingPerValue(tuple(stacked))),
        attribute_of(ManualAxes(made.mesh.axis_names)),
    )
    shards = [
        with_shape(value.type, made.shard_shape(shape_of(value.type), sharding))
        for value, sharding in zip(operands, made.in_shardings, strict=True)
    ]
    locations = [ir.Location.current] * len(shards)
    block = computation.regions[0].blocks.append(*shards, arg_locs=locations)
    with ir.InsertionPoint(block):
        results = [
            build.reshape(value, [1, *shape_of(value.type)]) if sharding.unreduced_axes else value
            for value, sharding in zip(
                call(build, body, list(block.arguments)), made.out_shardings, strict=True
            )
        ]
        sdy.ReturnOp(results)
    return [
        _summed(build, value) if sharding.unreduced_axes else value
        for value, sharding in zip(computation.results, made.out_shardings, strict=True)
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
