# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Replacement of an operation by a manual computation with local code.

    %1 = stablehlo.slice %0 [1:7] {sdy.sharding = ...} : (tensor<8xf32>) -> tensor<6xf32>

on 4 devices becomes

    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}]>]
        out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%arg0: tensor<2xf32>) { ... }
        : (tensor<8xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %1 [0:6] {sdy.sharding = ...} : (tensor<8xf32>) -> tensor<6xf32>

A dimension that its axes don't divide is padded before, and the padding of the result is sliced off
after it, both without communication.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import (
    AxisTuple,
    ManualAxes,
    Mesh,
    Shape,
    TensorSharding,
    TensorShardingPerValue,
)
from mlir_sdy.values import get_sharding, look_through_barriers, rank_of
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.partition.halo.merging import merge_slices
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_form import Body, ExchangeForm
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.padding_builder import PaddingBuilder


def replace_with_manual_computation(
    form: ExchangeForm,
    axes: Mapping[int, AxisTuple],
    mesh_name: str | Mesh,
    mesh: Mesh,
    builder: LocalBuilder,
    cache: AttributeCache,
) -> None:
    """Replace the operation of a form by a manual computation.

    Args:
        form: the form, whose tensors have compatible shardings.
        axes: the axes of each factor of the form that is sharded.
        mesh_name: the mesh of the tensors' shardings, as these refer to it.
        mesh: the mesh.
        builder: builds local operations.
        cache: makes attributes.
    """
    operation = form.operation
    padding = PaddingBuilder(cache)
    with operation.location, ir.InsertionPoint(operation):
        operands = [
            _Port.of(look_through_barriers(value), mesh_name, mesh) for value in form.operands
        ]
        results = [_Port.of(value, mesh_name, mesh) for value in operation.results]
        used = {axis.name for port in (*operands, *results) for axis in port.sharding.all_axes()}
        computation = sdy.ManualComputationOp(
            [with_shape(port.value.type, port.padded_shape) for port in results],
            [padding.resized(port.value, port.padded_shape) for port in operands],
            _shardings(operands, cache),
            _shardings(results, cache),
            cache[ManualAxes(tuple(name for name in mesh.axis_names if name in used))],
        ).operation
        block = computation.regions[0].blocks.append(
            *(port.local_type for port in operands), arg_locs=[operation.location] * len(operands)
        )
        with ir.InsertionPoint(block):
            device_axes = {
                factor: DeviceAxis(builder, mesh, of_factor) for factor, of_factor in axes.items()
            }
            body = Body(
                block.arguments, device_axes, builder, [port.local_type for port in results]
            )
            made = form.build(body)
            merge_slices(made, block.arguments)
            sdy.ReturnOp(made)
        for port, new in zip(results, computation.results, strict=True):
            port.value.replace_all_uses_with(padding.resized(new, shape_of(port.value.type)))
    operation.erase()


@dataclass(frozen=True, slots=True)
class _Port:
    """An operand or a result.

    Attributes:
        value: the value outside, which may be uneven.
        sharding: its axes, all of which are manual in the computation.
        padded_shape: its global shape as an operand or a result of the computation.
        local_type: its type inside.
    """

    value: ir.Value
    sharding: TensorSharding
    padded_shape: Shape
    local_type: ir.RankedTensorType

    @classmethod
    def of(cls, value: ir.Value, mesh_name: str | Mesh, mesh: Mesh) -> _Port:
        """Return the port of a value."""
        given = get_sharding(value)
        axes = ((),) * rank_of(value.type) if given is None else given.dim_axes
        sharding = TensorSharding.from_axes(mesh_name, axes)
        if given is not None and given.unreduced_axes:
            kind = given.reduction_kind
            sharding = replace(sharding, unreduced_axes=given.unreduced_axes, reduction_kind=kind)
        local_shape = sharding.local_shape(shape_of(value.type), mesh)
        padded_shape = sharding.global_shape(local_shape, mesh)
        return cls(value, sharding, padded_shape, with_shape(value.type, local_shape))


def _shardings(ports: list[_Port], cache: AttributeCache) -> ir.Attribute:
    return cache[TensorShardingPerValue(tuple(port.sharding for port in ports))]
