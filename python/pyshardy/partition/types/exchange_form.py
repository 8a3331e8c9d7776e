# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The exchange form of an operation: the exchange it needs, and its local computation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.partition.types.device_axis import DeviceAxis
from pyshardy.partition.types.exchange_plan import ExchangePlan
from pyshardy.partition.types.local_builder import LocalBuilder
from pyshardy.partition.types.padding_builder import PaddingBuilder


class ExchangeForm(ABC):
    """The exchange that one operation needs, and its local computation afterwards.

    Attributes:
        operation: the operation.
        rule: the rule of compatible shardings for the form. It may differ from the operation's own,
            which describes the computation without exchange.
        factors: the factors along which shards exchange data.
    """

    operation: ir.Operation
    rule: OpShardingRule
    factors: frozenset[int]

    @abstractmethod
    def exchange_plans(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the elements that shards take from themselves and others along a split factor.

        Empty if the form communicates in another way.
        """

    @property
    def details(self) -> Hashable:
        """Return all that `build` depends on beside the operation and the types of values."""
        return ()

    @abstractmethod
    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build the results of a device at the insertion point."""

    @property
    def operands(self) -> Sequence[ir.Value]:
        """Return the values from which the results are computed."""
        return list(self.operation.operands)

    def is_profitable(self, factor: int, num_shards: int) -> bool:
        """Whether shards receive no more elements along a factor than by a gather."""
        plans = self.exchange_plans(factor, num_shards)
        return sum(plan.received for plan in plans) <= sum(plan.gathered for plan in plans)

    def gathered(self, _factor: int, /) -> int:
        """Return the elements along a factor that a shard sends to all others, beside plans."""
        return 0

    def size_after(self, _factor: int, _num_shards: int, shard_size: int, /) -> int:
        """Return the size of a shard along a factor when those of later factors are exchanged.

        Args:
            _factor: the factor.
            _num_shards: the number of shards.
            shard_size: the size of a shard before its exchange.
        """
        return shard_size

    def sends_nothing(self, factor: int, num_shards: int) -> bool:
        """Whether no shard needs elements of another one along a factor."""
        plans = self.exchange_plans(factor, num_shards)
        return bool(plans) and not any(plan.received for plan in plans)


@dataclass(frozen=True, slots=True)
class Body:
    """The computation of one device.

    Attributes:
        values: its shard of each operand of the form.
        device_axes: the devices along each factor of the form that is sharded.
        builder: builds at the insertion point.
        result_types: the types of its results.
    """

    values: Sequence[ir.Value]
    device_axes: Mapping[int, DeviceAxis]
    builder: LocalBuilder
    result_types: Sequence[ir.Type]

    def zero(self, like: ir.Value) -> ir.Value:
        """Build a scalar zero of the element type of a tensor."""
        return PaddingBuilder(AttributeCache(like.context)).scalar(like, 0)
