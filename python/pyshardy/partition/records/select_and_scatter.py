# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradients of windows: each source element is added to one element of its window.

A shard of the result needs all windows that overlap it: their source elements, and the operand
elements that they cover. The additions of its windows to elements of other shards are sliced off;
these shards compute them themselves.

Windows that extend beyond the operand never select a position outside. Shards have elements at
these positions: -0.0, which the operand doesn't have once 0.0 has replaced it, as comparisons don't
tell the two apart. The selection keeps any other element instead of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import FactorType, OpShardingRule, ReductionOp
from pyshardy.cost.op_work import SizedOperation, counted_work
from pyshardy.irtools.stablehlo_views import CompareView, WindowsView
from pyshardy.irtools.stablehlo_views.fields import FieldValues
from pyshardy.irtools.tensor_types import element_type_of, shape_of, size_of_shard, with_shape
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.halo.windowed import Window, local_copy, paddings, with_factor
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import PartitionRecord
from pyshardy.partition.op_facts.reduction_bodies import combining_operations
from pyshardy.partition.partial.reductions import is_neutral
from pyshardy.partition.records.reduce_window import windows_of
from pyshardy.partition.types.device_axis import DeviceAxis, FillValue, PaddingContents
from pyshardy.partition.types.exchange_plan import (
    Body,
    ExchangeForm,
    ExchangePlan,
    RequiredRange,
    plan_exchange,
)
from pyshardy.partition.types.local_builder import LocalBuilder

_OPERAND, _SOURCE, _INITIAL = range(3)

_WITH_MINUS_ZERO = frozenset({"f64", "f32", "f16", "bf16"})


@dataclass(frozen=True, slots=True)
class WindowsInto:
    """The windows that overlap each shard of the dimension over which they move.

    Attributes:
        window: the movement of the windows.
        count: the number of windows.
        size: the size of the dimension.
        num_shards: the number of shards.
    """

    window: Window
    count: int
    size: int
    num_shards: int

    @property
    def shard_size(self) -> int:
        """Return the size of a shard of the dimension."""
        return size_of_shard(self.size, self.num_shards)

    @property
    def firsts(self) -> tuple[int, ...]:
        """Return for each shard the first window that ends in it or after it.

        Window w covers `size` elements from w * stride - low on. Windows that don't exist are
        included, unless shards need their own windows only.
        """
        if self.are_own:
            return tuple(
                shard * (self.count // self.num_shards) for shard in range(self.num_shards)
            )
        window = self.window
        ends = (shard * self.shard_size for shard in range(self.num_shards))
        return tuple(-(-(end + window.low - window.size + 1) // window.stride) for end in ends)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Return for each shard the number of windows that overlap it.

        Example: windows of 3 that move by 2 over 16 elements on 4 shards: shard 1, elements 4 to 7,
        is overlapped by those from 2, 4 and 6 on. `WindowsInto(Window(stride=2, size=3), 7, 16, 4)`
        has `firsts` (-1, 1, 3, 5) and `numbers` (3, 3, 3, 3).
        """
        if self.are_own:
            return (self.count // self.num_shards,) * self.num_shards
        low, stride = self.window.low, self.window.stride
        ends = ((shard + 1) * self.shard_size - 1 + low for shard in range(self.num_shards))
        lasts = (end // stride for end in ends)
        columns = zip(self.firsts, lasts, strict=True)
        return tuple(max(0, last - first + 1) for first, last in columns)

    @property
    def length(self) -> int:
        """Return the number of windows that each shard computes; the excess is sliced off."""
        return max(1, *self.numbers)

    @property
    def starts(self) -> tuple[int, ...]:
        """Return for each shard the first element that its windows cover."""
        return tuple(first * self.window.stride - self.window.low for first in self.firsts)

    @property
    def extent(self) -> int:
        """Return the number of elements that the windows of a shard cover."""
        return (self.length - 1) * self.window.stride + self.window.size

    @property
    def are_own(self) -> bool:
        """Whether each shard has all elements that the windows of its source elements cover.

        Example: windows of 2 that move by 2 over 16 elements on 4 shards.
        """
        shard_size = self.shard_size
        divides = self.count % self.num_shards == self.size % self.num_shards == 0
        return divides and all(
            shard * shard_size <= max(begin, 0) and min(end, self.size) <= (shard + 1) * shard_size
            for shard, (begin, end) in enumerate(self._own)
        )

    @property
    def extend_outside(self) -> bool:
        """Whether a window extends beyond the dimension."""
        begin, window = -self.window.low, self.window
        return begin < 0 or begin + (self.count - 1) * window.stride + window.size > self.size

    @property
    def _own(self) -> list[tuple[int, int]]:
        """Return for each shard the range that the windows of its source elements cover, if any."""
        number, window = self.count // self.num_shards, self.window
        length = (number - 1) * window.stride + window.size
        begins = (shard * number * window.stride - window.low for shard in range(self.num_shards))
        return [(begin, begin + length) for begin in begins]

    @property
    def are_aligned(self) -> bool:
        """Whether `are_own` holds, and windows are inside, at the same positions in all shards."""
        is_uniform = self.size == self.count * self.window.stride
        return self.are_own and not self.extend_outside and is_uniform

    def plan_of_operand(self) -> ExchangePlan:
        """Return the plan for the elements that the windows of each shard cover."""
        stride, size = self.window.stride, self.window.size
        lengths = tuple((number - 1) * stride + size if number else 0 for number in self.numbers)
        required = RequiredRange(self.starts, lengths, range(self.size), self.shard_size)
        return plan_exchange(self.extent, (required,), self.num_shards)

    def plan_of_source(self) -> ExchangePlan:
        """Return the plan for the source elements of the windows of each shard."""
        shard_size = size_of_shard(self.count, self.num_shards)
        required = RequiredRange(self.firsts, self.numbers, range(self.count), shard_size)
        return plan_exchange(self.length, (required,), self.num_shards)


class SelectAndScatterForm(ExchangeForm):
    """A `stablehlo.select_and_scatter`, which must add unless shards need their own windows only.

    Args:
        operation: the operation.
        rule: its rule.
        outside: whether windows may extend beyond the operand.
        own_only: whether shards must need their own windows only (`WindowsInto.are_own`).
    """

    def __init__(
        self,
        operation: ir.Operation,
        rule: OpShardingRule,
        *,
        outside: bool = False,
        own_only: bool = False,
    ):
        self.operation = operation
        self._outside = outside
        self._own_only = own_only
        self._sizes = tuple(
            shape_of(operation.operands[index].type) for index in (_OPERAND, _SOURCE)
        )
        self._windows = windows_of(operation)
        self._dims: dict[int, int] = {}
        for dim, window in enumerate(self._windows):
            if window != Window():
                self._dims[rule.num_factors] = dim
                tensors = dict.fromkeys((_OPERAND, _SOURCE, len(rule.operand_mappings)), dim)
                size = shape_of(operation.operands[_OPERAND].type)[dim]
                rule = with_factor(rule, tensors, size, FactorType.PERMUTATION)
        self.rule = rule
        self.factors = frozenset(self._dims)

    def exchange_plans(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the plans of the operand and of the source."""
        windows = self._windows_into(factor, num_shards)
        return windows.plan_of_operand(), windows.plan_of_source()

    def is_profitable(self, factor: int, num_shards: int) -> bool:
        """Whether the form is correct for this number of shards, and saves bytes."""
        windows = self._windows_into(factor, num_shards)
        if windows.extend_outside and not self._outside:
            return False
        return windows.are_own if self._own_only else super().is_profitable(factor, num_shards)

    def sends_nothing(self, factor: int, num_shards: int) -> bool:
        """Whether the form is correct for this number of shards, without communication."""
        return self.is_profitable(factor, num_shards) and super().sends_nothing(factor, num_shards)

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build the operation on all windows that overlap a shard."""
        operand, source, initial = body.values
        zero = FillValue(lambda: body.zero(body.values[_SOURCE]), PaddingContents.ZERO)
        unused = FillValue(lambda: body.zero(operand), PaddingContents.UNDEFINED)
        outside = unused
        if any(windows.extend_outside for _, windows, _ in self._sharded(body)):
            scalar = with_shape(operand.type, ())
            outside = FillValue(
                lambda: body.builder.identity(scalar, ReductionOp.SUM), PaddingContents.SCALAR
            )
            operand = _without_minus_zero(body.builder, operand)
        padding = paddings(WindowsView(self.operation).padding, len(self._windows))
        sharded = list[tuple[int, WindowsInto, DeviceAxis]]()
        for dim, windows, device_axis in self._sharded(body):
            if windows.are_aligned:
                padding[dim] = windows.window.low, 0
                continue
            sharded.append((dim, windows, device_axis))
            fill = outside if windows.extend_outside else unused
            operand = emit_exchange(windows.plan_of_operand(), {0: operand}, dim, device_axis, fill)
            source = emit_exchange(windows.plan_of_source(), {0: source}, dim, device_axis, zero)
            padding[dim] = 0, 0
        operands = operand, source, initial
        attributes: FieldValues = {WindowsView.padding: padding}
        local = local_copy(self.operation, body, operands, attributes, (operand.type,))
        if outside is not unused:
            _select_other_than_minus_zero(body.builder, local.regions[0].blocks[0])
        (result,) = local.results
        around = FillValue(lambda: initial, PaddingContents.SCALAR)
        for dim, windows, device_axis in sharded:
            places = [
                start - shard * windows.shard_size for shard, start in enumerate(windows.starts)
            ]
            result = device_axis.place(result, dim, around, places, windows.shard_size)
        return [result]

    def _sharded(self, body: Body) -> list[tuple[int, WindowsInto, DeviceAxis]]:
        return [
            (self._dims[factor], self._windows_into(factor, device_axis.num_shards), device_axis)
            for factor, device_axis in body.device_axes.items()
        ]

    def _windows_into(self, factor: int, num_shards: int) -> WindowsInto:
        dim = self._dims[factor]
        operand, source = (sizes[dim] for sizes in self._sizes)
        return WindowsInto(self._windows[dim], source, operand, num_shards)


def select_and_scatter_form(operation: ir.Operation, rule: OpShardingRule) -> SelectAndScatterForm:
    """Return the exchange of the windows that overlap a shard, unless shards need their own only.

    1. Shards may need other windows than their own if source elements are added up from zero:
       windows of other shards need zeros for source elements that don't exist.
    2. Windows may extend beyond the operand if they select by a comparison of floating-point
       numbers that doesn't tell -0.0 from 0.0.
    """
    select, scatter = (region.blocks[0] for region in operation.regions)
    adds = combining_operations(scatter) == ("stablehlo.add",)
    is_sum = adds and is_neutral(operation.operands[_INITIAL], "stablehlo.add")
    element = element_type_of(operation.operands[_OPERAND].type)
    outside = str(element) in _WITH_MINUS_ZERO and _compares_numbers(select)
    return SelectAndScatterForm(operation, rule, outside=outside, own_only=not is_sum)


def _compares_numbers(select: ir.Block) -> bool:
    """Whether a body compares its arguments, not by their bits, and does nothing else."""
    operations = [view.operation for view in select.operations]
    compare = operations[0]
    if len(operations) != 2 or compare.name != "stablehlo.compare":
        return False
    return set(compare.operands) == set(select.arguments) and (
        CompareView(compare).compare_type != "TOTALORDER"
    )


def _without_minus_zero(builder: LocalBuilder, value: ir.Value) -> ir.Value:
    """Build a tensor with 0.0 in place of -0.0."""
    zeros = builder.splat(value.type, 0)
    return builder.select(builder.compare("EQ", value, zeros), zeros, value)


def _select_other_than_minus_zero(builder: LocalBuilder, select: ir.Block) -> None:
    """Change a body so that it keeps any other number instead of -0.0.

    It becomes `is_minus_zero(second) or (select(first, second) and not is_minus_zero(first))`.
    """
    returned = select.operations[len(select.operations) - 1].operation
    with ir.InsertionPoint(returned):
        first, second = (_is_minus_zero(builder, argument) for argument in select.arguments)
        keeps = builder.binary("and", returned.operands[0], builder.unary("not", first))
        returned.operands[0] = builder.binary("or", second, keeps)


def _is_minus_zero(builder: LocalBuilder, scalar: ir.Value) -> ir.Value:
    """Build whether the bits of a floating-point number are those of -0.0."""
    width = ir.FloatType(element_type_of(scalar.type)).width
    bits = builder.bitcast_convert(scalar, ir.IntegerType.get_signless(width))
    return builder.compare("EQ", bits, builder.splat(bits.type, -(1 << (width - 1))))


def _num_operations(sized: SizedOperation) -> int:
    """Return 2 for each element of the operand."""
    return 2 * sized.operands[_OPERAND].elements


RECORDS = {
    "stablehlo.select_and_scatter": PartitionRecord(
        halo_form=select_and_scatter_form,
        local_form=retype_only,
        work=counted_work(_num_operations),
    )
}
