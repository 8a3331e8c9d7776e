# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Putting a form in the place of its operation: local code in a manual computation.

    %1 = stablehlo.slice %0 [1:7] {sdy.sharding = ...} : (tensor<8xf32>) -> tensor<6xf32>

on 4 devices becomes

    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg0: tensor<2xf32>) { ... }
        : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %1 [0:6] {sdy.sharding = ...} : (tensor<8xf32>) -> tensor<6xf32>

A dimension that its axes don't divide is padded before, and what is padding in the result is cut
off behind, both without communication.
"""

from __future__ import annotations

from collections.abc import Mapping

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisTuple,
    ManualAxes,
    Mesh,
    TensorSharding,
    TensorShardingPerValue,
)
from mlir_sdy.values import behind_barriers, get_sharding, rank_of
from pyshardy.partition.halo.form import Body, ExchangeForm
from pyshardy.partition.halo.lanes import Lanes
from pyshardy.partition.local import LocalBuilder
from pyshardy.partition.padding.builder import PaddingBuilder
from pyshardy.partition.padding.shapes import Shape, shape_of, with_shape


def compute_on_shards(
    form: ExchangeForm,
    axes: Mapping[int, AxisTuple],
    mesh_name: str | Mesh,
    mesh: Mesh,
    builder: LocalBuilder,
    cache: AttributeCache,
) -> None:
    """Replace the operation of a form by a manual computation.

    Args:
        form: the form, whose tensors agree on their axes.
        axes: the axes of each factor of the form that is sharded.
        mesh_name: the mesh of the tensors' shardings, as these refer to it.
        mesh: the mesh.
        builder: builds local operations.
        cache: makes attributes.
    """
    operation = form.operation
    padding = PaddingBuilder(cache)
    with operation.location, ir.InsertionPoint(operation):
        operands = [behind_barriers(value) for value in form.operands]
        in_shardings = [_plain(value, mesh_name) for value in operands]
        out_shardings = [_plain(value, mesh_name) for value in operation.results]
        in_local, out_local = (
            [
                sharding.local_shape(shape_of(value.type), mesh)
                for value, sharding in zip(values, shardings, strict=True)
            ]
            for values, shardings in (
                (operands, in_shardings),
                (operation.results, out_shardings),
            )
        )

        def padded(sharding: TensorSharding, local: Shape) -> Shape:
            return sharding.global_shape(local, mesh)

        padded_operands = [
            padding.resized(value, padded(sharding, local))
            for value, sharding, local in zip(operands, in_shardings, in_local, strict=True)
        ]
        used = {
            axis.name
            for sharding in (*in_shardings, *out_shardings)
            for axis in sharding.all_axes()
        }
        computation = sdy.ManualComputationOp(
            [
                with_shape(value.type, padded(sharding, local))
                for value, sharding, local in zip(
                    operation.results, out_shardings, out_local, strict=True
                )
            ],
            padded_operands,
            cache[TensorShardingPerValue(tuple(in_shardings))],
            cache[TensorShardingPerValue(tuple(out_shardings))],
            cache[ManualAxes(tuple(name for name in mesh.axis_names if name in used))],
        ).operation
        local_types = [
            with_shape(value.type, local) for value, local in zip(operands, in_local, strict=True)
        ]
        locations = [operation.location] * len(local_types)
        block = computation.regions[0].blocks.append(*local_types, arg_locs=locations)
        result_types = [
            with_shape(value.type, local)
            for value, local in zip(operation.results, out_local, strict=True)
        ]
        with ir.InsertionPoint(block):
            values = list(block.arguments)
            lanes = {factor: Lanes(builder, mesh, of_factor) for factor, of_factor in axes.items()}
            results = form.build(Body(values, lanes, builder, result_types))
            sdy.ReturnOp(results)
        for old, new in zip(operation.results, computation.results, strict=True):
            old.replace_all_uses_with(padding.resized(new, shape_of(old.type)))
    operation.erase()


def _plain(value: ir.Value, mesh_name: str | Mesh) -> TensorSharding:
    """The axes of a value, all of which are manual in the computation."""
    sharding = get_sharding(value)
    if sharding is None:
        return TensorSharding.fully_closed(rank_of(value.type), mesh_name)
    return TensorSharding.from_axes(mesh_name, sharding.dim_axes)
