# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The form of operations with windows: each shard of windows needs the elements they cover."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, Shape, TensorSharding
from mlir_sdy.values import SHARDING
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.irtools.stablehlo_views import FieldValues, set_fields
from pyshardy.irtools.tensor_types import size_of_shard
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.halo.window import Window, WindowFootprint
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.trailing_resize import does_nothing
from pyshardy.partition.types.device_axis import FillValue, PaddingContents
from pyshardy.partition.types.exchange_form import Body, ExchangeForm
from pyshardy.partition.types.exchange_plan import ExchangePlan, RequiredRange, plan_exchange


@dataclass(frozen=True, slots=True)
class WindowedDim:
    """A dimension over which windows move.

    Attributes:
        dim: the dimension of the operands that windows cover.
        size: its size.
        window: the movement of windows over it.
        count: the number of windows.
    """

    dim: int
    size: int
    window: Window
    count: int

    def footprint(self, num_shards: int) -> WindowFootprint:
        """Return the elements that each shard of the windows covers."""
        return self.window.footprint(self.count, num_shards)

    def exchange_plan(self, num_shards: int) -> ExchangePlan:
        """Return the plan for the elements that each shard of the windows covers."""
        footprint = self.footprint(num_shards)
        shard_size = size_of_shard(self.size, num_shards)
        required = RequiredRange(footprint.starts, footprint.lengths, range(self.size), shard_size)
        return plan_exchange(footprint.length, (required,), num_shards)


def is_resizing_profitable(size: int, wanted: int, num_shards: int) -> bool:
    """Whether padding or slicing the end of a dimension receives no more than gathering it.

    Args:
        size: its size before.
        wanted: its size afterwards.
        num_shards: its number of shards, before and afterwards.
    """
    plan = resizing_plan(size, wanted, num_shards)
    return plan.received <= plan.gathered


def resizing_plan(size: int, wanted: int, num_shards: int) -> ExchangePlan:
    """Return the plan for padding or slicing the end of a dimension.

    Args:
        size: its size before.
        wanted: its size afterwards.
        num_shards: its number of shards, before and afterwards.
    """
    return WindowedDim(0, size, Window(), wanted).exchange_plan(num_shards)


def resizing_permutes(
    before: Shape, after: Shape, nbytes: int, sharding: TensorSharding, mesh: Mesh
) -> Iterator[PlannedCollective]:
    """Yield the permutes for padding or slicing the ends of dimensions.

    Args:
        before: the shape.
        after: the shape afterwards.
        nbytes: the bytes of an element.
        sharding: the sharding of both.
        mesh: its mesh.
    """
    shards_per_dim = sharding.sharded_sizes(mesh)
    for dim, (size, wanted) in enumerate(zip(before, after, strict=True)):
        if size == wanted:
            continue
        plan = resizing_plan(size, wanted, shards_per_dim[dim])
        local = list(sharding.local_shape(after, mesh))
        del local[dim]
        axes, rest = sharding.dim_axes[dim], math.prod(local) * nbytes
        for permute in plan.permutes:
            if not permute.is_local:
                sent = permute.length * rest
                yield PlannedCollective.along("collective_permute", axes, sent, mesh)


@dataclass(frozen=True, slots=True)
class LocalDim:
    """The window of the local operation along a dimension, after the exchange.

    Attributes:
        length: the number of elements.
        low: the padding before the first one.
        high: the padding after the last one.
        dilation: the distance from one element to the next.
    """

    length: int
    low: int = 0
    high: int = 0
    dilation: int = 1


WriteAttributes = Callable[[Mapping[int, LocalDim]], FieldValues]
"""Builds the attributes of the local operation from the local dimensions by factor."""

FillFunction = Callable[[Body, int], FillValue]
"""Returns the fill value around the elements of an operand."""


class WindowedForm(ExchangeForm):
    """An operation with windows over one or several operands.

    Attributes:
        dims: the dimensions over which windows move, by their factors.

    Args:
        operation: the operation.
        rule: the rule of its compatible shardings.
        dims: the dimensions that windows move over, by their factors.
        covered: the positions of the operands over which windows move.
        fill: returns the fill value around the elements of an operand.
        attributes: builds the attributes of the local operation.
    """

    def __init__(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        dims: Mapping[int, WindowedDim],
        covered: range,
        fill: FillFunction,
        attributes: WriteAttributes,
    ):
        self.operation = operation
        self.rule = rule
        self.factors = frozenset(dims)
        self.dims = dims
        self._covered = covered
        self._fill = fill
        self._attributes = attributes

    def exchange_plans(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the plan for the elements that the windows of each shard cover."""
        return (self.dims[factor].exchange_plan(num_shards),)

    def size_after(self, factor: int, num_shards: int, shard_size: int, /) -> int:  # noqa: ARG002
        """Return the number of elements that the windows of a shard cover, with the holes."""
        footprint = self.dims[factor].footprint(num_shards)
        return footprint.extent if _has_holes(footprint, self.dims[factor]) else footprint.length

    @property
    def details(self) -> Hashable:
        """Return the fill function."""
        return self._fill

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Exchange the dimensions in turn, corners included; then apply the operation."""
        values = list(body.values)
        local_dims: dict[int, LocalDim] = {}
        for index in self._covered:
            fill = self._fill(body, index)
            for factor in body.device_axes:
                values[index], local_dims[factor] = self._exchanged(
                    values[index], factor, fill, body
                )
        local = local_copy(self.operation, body, values, self._attributes(local_dims))
        if does_nothing(local):
            local.erase()
            return values[:1]
        return list(local.results)

    def _exchanged(
        self, value: ir.Value, factor: int, fill: FillValue, body: Body
    ) -> tuple[ir.Value, LocalDim]:
        """Build the elements that a shard's windows cover; with holes if shards differ in them."""
        windowed, device_axis = self.dims[factor], body.device_axes[factor]
        dim, dilation = windowed.dim, windowed.window.dilation
        footprint = windowed.footprint(device_axis.num_shards)
        plan = windowed.exchange_plan(device_axis.num_shards)
        value = emit_exchange(plan, {0: value}, dim, device_axis, fill)
        if not _has_holes(footprint, windowed):
            phase = footprint.phases[0]
            return value, LocalDim(footprint.length, phase, _high(footprint, dilation), dilation)
        value = device_axis.pad(value, dim, fill, 0, 0, dilation - 1)
        value = device_axis.place(value, dim, fill, footprint.phases, footprint.extent)
        return value, LocalDim(footprint.extent)


def _high(footprint: WindowFootprint, dilation: int) -> int:
    """Return the padding of the local window after the last element."""
    return footprint.extent - footprint.phases[0] - (footprint.length - 1) * dilation - 1


def _has_holes(footprint: WindowFootprint, windowed: WindowedDim) -> bool:
    """Whether the elements of shards begin at different places, so that their holes are filled."""
    return _high(footprint, windowed.window.dilation) < 0 or len({*footprint.phases}) > 1


@cache
def operand_fill(first: int) -> FillFunction:
    """Return fill values from the scalar operands from position `first` on."""
    return lambda body, index: FillValue(lambda: body.values[first + index], PaddingContents.SCALAR)


def zero_fill(body: Body, index: int) -> FillValue:
    """Return a fill value of zero."""
    return FillValue(lambda: body.zero(body.values[index]), PaddingContents.ZERO)


def any_fill(body: Body, index: int) -> FillValue:
    """Return a fill value for positions that are not used."""
    return FillValue(lambda: body.zero(body.values[index]), PaddingContents.UNDEFINED)


def local_copy(
    operation: ir.Operation,
    body: Body,
    operands: Sequence[ir.Value],
    attributes: FieldValues,
    result_types: Sequence[ir.Type] | None = None,
) -> ir.Operation:
    """Build an operation on other operands, with attributes replaced.

    Sizes in other attributes are set by the local types.

    Args:
        operation: the operation, which has a local form that is not built of other operations.
        body: the computation of the device.
        operands: the operands.
        attributes: the attributes to replace.
        result_types: the types of the results; those of the computation by default.
    """
    copy = operation.clone(ip=ir.InsertionPoint.current).operation
    for index, operand in enumerate(operands):
        copy.operands[index] = operand
    set_fields(copy, attributes)
    remove_discardable(copy, SHARDING)
    for result, result_type in zip(copy.results, result_types or body.result_types, strict=True):
        result.set_type(result_type)
    fit_sizes = record_of(copy.name).fit_sizes
    if fit_sizes is not None:
        fit_sizes(copy)
    return copy
