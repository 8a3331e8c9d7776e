# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchange forms of operations, registered by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mlir_sdy.attributes import AttributeCache
from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from mlir_sdy.values import SHARDING
from pyshardy.partition.halo.device_axis import DeviceAxis
from pyshardy.partition.halo.exchange_plan import ExchangePlan
from pyshardy.partition.local import CONVERSIONS, LocalBuilder
from pyshardy.partition.padding.builder import PaddingBuilder


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
    def routes(self, factor: int, num_shards: int, /) -> Sequence[ExchangePlan]:
        """Return the elements that shards take from themselves and others along a split factor.

        Empty if the form communicates in another way.
        """

    @abstractmethod
    def build(self, body: Body) -> Sequence[ir.Value]:
        """Build the results of a device at the insertion point."""

    @property
    def operands(self) -> Sequence[ir.Value]:
        """Return the values from which the results are computed."""
        return list(self.operation.operands)

    def is_profitable(self, factor: int, num_shards: int) -> bool:
        """Whether shards receive no more elements along a factor than by a gather."""
        plans = self.routes(factor, num_shards)
        return sum(plan.received for plan in plans) <= sum(plan.gathered for plan in plans)

    def sends_nothing(self, factor: int, num_shards: int) -> bool:
        """Whether no shard needs elements of another one along a factor."""
        plans = self.routes(factor, num_shards)
        return bool(plans) and not any(plan.received for plan in plans)


@dataclass(frozen=True, slots=True)
class Body:
    """The computation of one device.

    Attributes:
        values: its shard of each operand of the form.
        lanes: the devices along each factor of the form that is sharded.
        builder: builds at the insertion point.
        result_types: the types of its results.
    """

    values: Sequence[ir.Value]
    lanes: Mapping[int, DeviceAxis]
    builder: LocalBuilder
    result_types: Sequence[ir.Type]

    def zero(self, like: ir.Value) -> ir.Value:
        """Build a scalar zero of the element type of a tensor."""
        return PaddingBuilder(AttributeCache(like.context)).scalar(like, 0)

    def local_copy(
        self,
        operation: ir.Operation,
        operands: Sequence[ir.Value],
        attributes: Mapping[str, ir.Attribute],
        result_types: Sequence[ir.Type] | None = None,
    ) -> ir.Operation:
        """Build the operation on other operands, with some attributes replaced.

        Sizes in other attributes are set by the local types.
        """
        copy = operation.clone(ip=ir.InsertionPoint.current).operation
        for index, operand in enumerate(operands):
            copy.operands[index] = operand
        for name, attribute in attributes.items():
            copy.attributes[name] = attribute
        if SHARDING in copy.attributes:
            del copy.attributes[SHARDING]
        for result, result_type in zip(
            copy.results, result_types or self.result_types, strict=True
        ):
            result.set_type(result_type)
        with ir.InsertionPoint(copy):
            CONVERSIONS[copy.name](copy, self.builder)
        return copy


PASSING_ON = frozenset({"sdy.propagation_barrier", "sdy.reshard"})
"""Operations that change at most the sharding of a value."""

FormFunction = Callable[[ir.Operation, OpShardingRule], "ExchangeForm | None"]

_FORMS: dict[str, FormFunction] = {}


def exchanges(name: str) -> Callable[[FormFunction], FormFunction]:
    """Register a function that returns the form of an operation of that name, if it has one."""

    def register(function: FormFunction) -> FormFunction:
        _FORMS[name] = function
        return function

    return register


def exchanging_operations() -> frozenset[str]:
    """Return the names of operations that may have a form."""
    return frozenset(_FORMS)


def form_of(operation: ir.Operation, rule: OpShardingRule) -> ExchangeForm | None:
    """Return the form of an operation with the given rule; None if it has none.

    1. Its name is registered.
    2. The rule isn't user-defined: such a rule may describe something else.
    3. All its tensors are ranked, have static shapes, and are not empty.
    4. Its regions capture no values.
    """
    find = _FORMS.get(operation.name)
    if find is None or rule.is_custom_rule:
        return None
    values = (*operation.operands, *operation.results)
    if not all(map(_is_static, values)) or _captures(operation):
        return None
    return find(operation, rule)


def _is_static(value: ir.Value) -> bool:
    """Whether a value is a tensor with a static shape and at least one element."""
    value_type = value.type
    return isinstance(value_type, ir.RankedTensorType) and all(
        size > 0 for size in value_type.shape
    )


def _captures(operation: ir.Operation) -> bool:
    """Whether regions of an operation use values from outside, as far as can be seen."""
    for region in operation.regions:
        for block in region.blocks:
            known: list[ir.Value] = list(block.arguments)
            for view in block.operations:
                if len(view.regions) or any(operand not in known for operand in view.operands):
                    return True
                known.extend(view.results)
    return False
