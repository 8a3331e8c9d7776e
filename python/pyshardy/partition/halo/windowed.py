# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The form of operations with windows: each shard of windows needs the elements they cover.

A pad and a slice are windows of one element; a convolution and a `stablehlo.reduce_window` have
larger ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from mlir_sdy.discardable import remove_discardable
from mlir_sdy.host import ir
from mlir_sdy.model import (
    DimMapping,
    FactorType,
    Mesh,
    OpShardingRule,
    Shape,
    TensorMapping,
    TensorSharding,
)
from mlir_sdy.values import SHARDING
from pyshardy.cost.collectives import PlannedCollective
from pyshardy.irtools.stablehlo_views.fields import FieldValues, set_fields
from pyshardy.irtools.tensor_types import size_of_shard
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.op_facts.trailing_resize import does_nothing
from pyshardy.partition.types.device_axis import FillValue, PaddingContents
from pyshardy.partition.types.exchange_plan import (
    Body,
    ExchangeForm,
    ExchangePlan,
    RequiredRange,
    plan_exchange,
)


@dataclass(frozen=True, slots=True)
class WindowFootprint:
    """The elements of a dimension that the shards of windows cover.

    Attributes:
        starts: for each shard the position of the first element; before the dimension or beyond
            its end there is only padding.
        lengths: for each shard the number of elements.
        phases: for each shard the number of holes between the start of its windows and its first
            element; all zero if there are no holes between elements.
        extent: the length that the windows of a full shard cover, holes included.
        length: the number of elements that fit into the extent.
    """

    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    phases: tuple[int, ...]
    extent: int
    length: int


@dataclass(frozen=True, slots=True)
class Window:
    """The movement of windows over a dimension.

    Attributes:
        low: the distance from the start of the first window to the first element; negative if it
            starts after it.
        stride: the distance from one window to the next.
        size: the number of positions from the first to the last one of a window.
        dilation: the distance from one element to the next; with 2 there is a hole between any two.
    """

    low: int = 0
    stride: int = 1
    size: int = 1
    dilation: int = 1

    def footprint(self, count: int, num_shards: int) -> WindowFootprint:
        """Return the elements that the shards of `count` windows cover.

        1. A shard has s = ceil(count / num_shards) windows. Those of shard t begin at position
           b = t * s * stride - low, and cover (s - 1) * stride + size positions. The last shards
           may have fewer windows, or none.
        2. The elements are at the positions that `dilation` divides. The first one covered is
           f = ceil(b / dilation), which is f * dilation - b positions after b: its phase.

        Example: windows of 3 that move by 1 over 8 elements with one of padding at each end, on
        4 shards: `Window(low=1, size=3).footprint(8, 4)` begins at -1, 1, 3 and 5, with 4 elements.
        """
        shard_size = size_of_shard(count, num_shards)
        extent = (shard_size - 1) * self.stride + self.size
        begins = [shard * shard_size * self.stride - self.low for shard in range(num_shards)]
        starts = tuple(-(-begin // self.dilation) for begin in begins)
        phases = tuple(
            start * self.dilation - begin for start, begin in zip(starts, begins, strict=True)
        )
        counts = [min(count - shard * shard_size, shard_size) for shard in range(num_shards)]
        lengths = tuple(
            max(0, -(-((of_shard - 1) * self.stride + self.size - phase) // self.dilation))
            if of_shard > 0
            else 0
            for of_shard, phase in zip(counts, phases, strict=True)
        )
        length = max(-(-(extent - phase) // self.dilation) for phase in phases)
        return WindowFootprint(starts, lengths, phases, extent, max(length, 1))


# --- Attributes of windows ------------------------------------------------------------------------


Padding = tuple[int, int]
"""The padding before and after a dimension."""


def per_dim(numbers: Sequence[int], count: int, default: int = 1) -> list[int]:
    """Return the numbers for each dimension, or the default if there are none."""
    return list(numbers) or [default] * count


def paddings(padding: Sequence[Padding], count: int) -> list[Padding]:
    """Return the padding of windows for each dimension, or zeros if there is none."""
    return list(padding) or [(0, 0)] * count


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

    def moves(self, operand: int, /) -> bool:
        """Whether windows move over an operand."""
        return operand in self._covered

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


# --- Sharding rules -------------------------------------------------------------------------------


def with_factor(
    rule: OpShardingRule,
    dims: Mapping[int, int],
    size: int,
    kind: FactorType,
) -> OpShardingRule:
    """Return a rule with a new last factor, which becomes the only factor of given dimensions.

    Example: `([i, k], [i, j])->([i, k])` with dimension 1 of tensors 0 to 2 mapped to a new factor
    is `([i, l], [i, l])->([i, l])`. Factors of these dimensions only are left unused.

    Args:
        rule: a rule.
        dims: the dimension of each tensor, by the tensor's position; results follow operands.
        size: the size of the factor.
        kind: the type of the factor.
    """
    factor = rule.num_factors
    mappings = [
        _mapped(mapping, dims[tensor], factor) if tensor in dims else mapping
        for tensor, mapping in enumerate(rule.mappings)
    ]
    count = len(rule.operand_mappings)
    new = replace(
        rule,
        factor_sizes=(*rule.factor_sizes, size),
        operand_mappings=tuple(mappings[:count]),
        result_mappings=tuple(mappings[count:]),
    )
    if kind is FactorType.PASS_THROUGH:
        return new
    field = f"{kind.value.replace('-', '_')}_factors"
    return replace(new, **{field: (*getattr(new, field), factor)})


def _mapped(mapping: TensorMapping, dim: int, factor: int) -> TensorMapping:
    dims = list(mapping.dim_mappings)
    dims[dim] = DimMapping((factor,))
    return TensorMapping(tuple(dims))
