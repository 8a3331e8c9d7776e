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

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from mlir_sdy import sdy
from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import identity, ir
from mlir_sdy.model import (
    AxisTuple,
    ManualAxes,
    Mesh,
    Shape,
    TensorSharding,
    TensorShardingPerValue,
)
from mlir_sdy.values import get_sharding, look_through_barriers, rank_of
from pyshardy.irtools.stablehlo_views import COLLECTIVES, CollectiveView
from pyshardy.irtools.tensor_types import shape_of, with_shape
from pyshardy.partition.halo.merging import merge_slices
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_plan import Body, ExchangeForm
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.padding_builder import PaddingBuilder


class ComputationBuilder:
    """Replaces operations by manual computations, and copies those of equal operations.

    A copy differs in its operands, location and channels only. Operations with regions aren't
    compared.

    Args:
        builder: builds local operations.
        cache: makes attributes.
    """

    def __init__(self, builder: LocalBuilder, cache: AttributeCache):
        self._builder = builder
        self._cache = cache
        self._padding = PaddingBuilder(cache)
        self._built: dict[Hashable, ir.Operation] = {}
        self._port_types: dict[Hashable, _PortType] = {}

    def replace(
        self, form: ExchangeForm, axes: Mapping[int, AxisTuple], mesh_name: str | Mesh, mesh: Mesh
    ) -> None:
        """Replace the operation of a form by a manual computation.

        Args:
            form: the form, whose tensors have compatible shardings.
            axes: the axes of each factor of the form that is sharded.
            mesh_name: the mesh of the tensors' shardings, as these refer to it.
            mesh: the mesh.
        """
        operation = form.operation
        values = [look_through_barriers(value) for value in form.operands]
        operands = [self._port_type(value, mesh_name, mesh) for value in values]
        results = [self._port_type(value, mesh_name, mesh) for value in operation.results]
        key = None
        if not len(operation.regions):
            attributes = {name: identity(each) for name, each in operation.attributes.items()}
            ports = *map(id, operands), None, *map(id, results)  # there is one of each type
            key = operation.name, *attributes.items(), ports, *axes.items(), mesh_name, form.details
        with operation.location, ir.InsertionPoint(operation):
            given = [
                self._padding.resized(value, port.padded_shape)
                for value, port in zip(values, operands, strict=True)
            ]
            if key in self._built:
                computation = self._copy(self._built[key], given)
            else:
                computation = self._build(form, axes, mesh, given, operands, results)
            if key is not None:
                self._built[key] = computation
            for value, new in zip(operation.results, computation.results, strict=True):
                resized = self._padding.resized(new, shape_of(value.type))
                value.replace_all_uses_with(resized)
        operation.erase()

    def _build(
        self,
        form: ExchangeForm,
        axes: Mapping[int, AxisTuple],
        mesh: Mesh,
        given: Sequence[ir.Value],
        operands: Sequence[_PortType],
        results: Sequence[_PortType],
    ) -> ir.Operation:
        used = {axis.name for port in (*operands, *results) for axis in port.sharding.all_axes()}
        computation = sdy.ManualComputationOp(
            [port.padded_type for port in results],
            given,
            _shardings(operands, self._cache),
            _shardings(results, self._cache),
            self._cache[ManualAxes(tuple(name for name in mesh.axis_names if name in used))],
        ).operation
        block = computation.regions[0].blocks.append(
            *(port.local_type for port in operands), arg_locs=[ir.Location.current] * len(operands)
        )
        with ir.InsertionPoint(block):
            device_axes = {
                factor: DeviceAxis(self._builder, mesh, of_factor)
                for factor, of_factor in axes.items()
            }
            local_types = [port.local_type for port in results]
            made = form.build(Body(block.arguments, device_axes, self._builder, local_types))
            merge_slices(made, block.arguments)
            sdy.ReturnOp(made)
        return computation

    def _copy(self, built: ir.Operation, given: Sequence[ir.Value]) -> ir.Operation:
        copy = built.clone(ip=ir.InsertionPoint.current).operation
        location = ir.Location.current
        for index, value in enumerate(given):
            copy.operands[index] = value
        copy.location = location
        block = copy.regions[0].blocks[0]
        for argument in block.arguments:
            argument.set_location(location)
        for view in block.operations:
            inner = view.operation
            inner.location = location
            if inner.name in COLLECTIVES:
                CollectiveView(inner).channel_handle = self._builder.new_channel()
        return copy

    def _port_type(self, value: ir.Value, mesh_name: str | Mesh, mesh: Mesh) -> _PortType:
        value_type, given = value.type, get_sharding(value)
        key = identity(value_type), given, mesh_name
        if key not in self._port_types:
            self._port_types[key] = _PortType.of(value_type, given, mesh_name, mesh)
        return self._port_types[key]


@dataclass(frozen=True, slots=True)
class _PortType:
    """The types and sharding of an operand or a result.

    Attributes:
        sharding: its axes, all of which are manual in the computation.
        padded_type: its global type as an operand or a result of the computation.
        local_type: its type inside.
    """

    sharding: TensorSharding
    padded_type: ir.RankedTensorType
    local_type: ir.RankedTensorType

    @property
    def padded_shape(self) -> Shape:
        """Return the global shape as an operand or a result of the computation."""
        return shape_of(self.padded_type)

    @classmethod
    def of(
        cls, value_type: ir.Type, given: TensorSharding | None, mesh_name: str | Mesh, mesh: Mesh
    ) -> _PortType:
        """Return those of a value outside, which may be uneven."""
        axes = ((),) * rank_of(value_type) if given is None else given.dim_axes
        sharding = TensorSharding.from_axes(mesh_name, axes)
        if given is not None and given.unreduced_axes:
            kind = given.reduction_kind
            sharding = replace(sharding, unreduced_axes=given.unreduced_axes, reduction_kind=kind)
        local_shape = sharding.local_shape(shape_of(value_type), mesh)
        padded_shape = sharding.global_shape(local_shape, mesh)
        return cls(
            sharding, with_shape(value_type, padded_shape), with_shape(value_type, local_shape)
        )


def _shardings(ports: Sequence[_PortType], cache: AttributeCache) -> ir.Attribute:
    return cache[TensorShardingPerValue(tuple(port.sharding for port in ports))]
