# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Concatenations: each shard of the result gets its parts of the operands.

An operand that is a slice of another value along the same dimension is taken from that value, so
that no elements move twice when a tensor is rolled or gets a periodic border:

    %1 = stablehlo.slice %0 [1:8] : (tensor<8xf32>) -> tensor<7xf32>
    %2 = stablehlo.slice %0 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %3 = stablehlo.concatenate %1, %2, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>

Here each shard sends its first element to the previous one, and the first shard to the last.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from mlir_sdy.host import ir
from mlir_sdy.model import FactorType, OpShardingRule, ReductionOp
from mlir_sdy.values import get_sharding, look_through_barriers
from pyshardy.cost.op_work import moving_work
from pyshardy.irtools.constants import slice_passed_on
from pyshardy.irtools.stablehlo_views import ConcatenateView, SliceView
from pyshardy.irtools.tensor_types import shape_of, size_of_shard
from pyshardy.partition.halo.emit_exchange import emit_exchange
from pyshardy.partition.halo.windowed import any_fill, with_factor
from pyshardy.partition.local.arithmetic import retype_only
from pyshardy.partition.op_facts.record import Linearity, PartitionRecord
from pyshardy.partition.types.exchange_plan import (
    Body,
    ExchangeForm,
    ExchangePlan,
    RequiredRange,
    plan_exchange,
)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the result: its source, its start there, and its start in the result."""

    source: int
    begin: int
    length: int
    place: int


class ConcatenateForm(ExchangeForm):
    """The exchange of a concatenation along a sharded dimension."""

    def __init__(self, operation: ir.Operation, rule: OpShardingRule):
        self.operation = operation
        self._dim = ConcatenateView(operation).dimension
        self._size = shape_of(operation.results[0].type)[self._dim]
        self._sources: list[ir.Value] = []
        self._parts = self._find_parts()
        # The types of the sources may change before the exchange is built.
        self._source_sizes = [shape_of(source.type)[self._dim] for source in self._sources]
        everywhere = dict.fromkeys(range(len(rule.mappings)), self._dim)
        self.factors = frozenset({rule.num_factors})
        self.rule = with_factor(rule, everywhere, self._size, FactorType.PERMUTATION)

    @property
    def operands(self) -> Sequence[ir.Value]:
        """Return the distinct values that parts are taken from."""
        return self._sources

    def exchange_plans(self, _factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return one plan for all parts, as they may come from the same values."""
        shard_size = size_of_shard(self._size, num_shards)
        required = tuple(
            RequiredRange(
                tuple(t * shard_size - part.place + part.begin for t in range(num_shards)),
                (shard_size,) * num_shards,
                range(part.begin, part.begin + part.length),
                size_of_shard(self._source_sizes[part.source], num_shards),
                part.source,
            )
            for part in self._parts
        )
        return (plan_exchange(shard_size, required, num_shards),)

    @property
    def details(self) -> Hashable:
        """Return the parts, which may be those of slices before."""
        return *self._parts, *self._source_sizes

    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build the exchange, whose buffer is the result."""
        (factor,) = self.factors
        device_axis = body.device_axes[factor]
        (plan,) = self.exchange_plans(factor, device_axis.num_shards)
        sources = dict(enumerate(body.values))
        return [emit_exchange(plan, sources, self._dim, device_axis, any_fill(body, 0))]

    def _find_parts(self) -> list[_Part]:
        parts: list[_Part] = []
        place = 0
        for operand in self.operation.operands:
            length = shape_of(operand.type)[self._dim]
            source, begin = _origin(operand, self._dim)
            if source not in self._sources:
                self._sources.append(source)
            parts.append(_Part(self._sources.index(source), begin, length, place))
            place += length
        return parts


def _origin(operand: ir.Value, dim: int) -> tuple[ir.Value, int]:
    """Return the value that an operand is a part of, and the operand's start there.

    A slice is a part of its operand if it has no strides along the dimension, takes all of the
    other dimensions, and both are sharded alike. Reshards in between are skipped.
    """
    value = look_through_barriers(operand)
    producer = slice_passed_on(value)
    if producer is None:
        return value, 0
    source = look_through_barriers(producer.operands[0])
    shapes = zip(shape_of(source.type), shape_of(value.type), strict=True)
    takes_others = all(size == taken for at, (size, taken) in enumerate(shapes) if at != dim)
    shardings = get_sharding(source), get_sharding(value)
    axes = [() if sharding is None else sharding.dim_axes for sharding in shardings]
    view = SliceView(producer)
    if view.strides[dim] != 1 or not takes_others or axes[0] != axes[1]:
        return value, 0
    return source, view.start_indices[dim]


def _linearity(operation: ir.Operation, _: ReductionOp) -> Linearity:
    """Return all operands, whose elements move."""
    return Linearity(tuple(range(len(operation.operands))), together=True)


RECORDS = {
    "stablehlo.concatenate": PartitionRecord(
        linearity=_linearity,
        halo_form=ConcatenateForm,
        local_form=retype_only,
        work=moving_work,
    )
}
