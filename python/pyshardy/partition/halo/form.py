# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How an operation is computed on shards that exchange data: its form, found by its name."""

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
    """What one operation has to exchange, and how it is computed afterwards.

    Attributes:
        operation: the operation.
        rule: the rule by which its tensors have to agree. It may differ from the operation's own,
            which says what is computed without exchange.
        factors: the factors along which shards exchange data.
    """

    operation: ir.Operation
    rule: OpShardingRule
    factors: frozenset[int]

    @abstractmethod
    def routes(self, factor: int, pieces: int, /) -> Sequence[ExchangePlan]:
        """Return the elements that shards take from themselves and others along a split factor.

        It is empty where communication isn't by routes.
        """

    @abstractmethod
    def build(self, body: Body) -> Sequence[ir.Value]:
        """Compute the results of a device at the current place."""

    @property
    def operands(self) -> Sequence[ir.Value]:
        """What the results are computed from."""
        return list(self.operation.operands)

    def is_profitable(self, factor: int, pieces: int) -> bool:
        """Whether along a factor no more is received than if all that is sent were gathered."""
        routes = self.routes(factor, pieces)
        return sum(route.received for route in routes) <= sum(route.gathered for route in routes)

    def sends_nothing(self, factor: int, pieces: int) -> bool:
        """Whether no shard needs anything of another one along a factor."""
        routes = self.routes(factor, pieces)
        return bool(routes) and not any(route.received for route in routes)


@dataclass(frozen=True, slots=True)
class Body:
    """The computation of one device.

    Attributes:
        values: what it holds of each operand of the form.
        lanes: the devices along each factor of the form that is sharded.
        builder: builds at the current place.
        result_types: the types of what it computes.
    """

    values: Sequence[ir.Value]
    lanes: Mapping[int, DeviceAxis]
    builder: LocalBuilder
    result_types: Sequence[ir.Type]

    def zero(self, like: ir.Value) -> ir.Value:
        """A scalar zero of the element type of a tensor."""
        return PaddingBuilder(AttributeCache(like.context)).scalar(like, 0)

    def local_copy(
        self,
        operation: ir.Operation,
        operands: Sequence[ir.Value],
        attributes: Mapping[str, ir.Attribute],
        result_types: Sequence[ir.Type] | None = None,
    ) -> ir.Operation:
        """The operation on other operands, with some attributes replaced.

        Sizes in other attributes follow from the local types.
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
"""Operations that change how a value is sharded at most."""

FormFunction = Callable[[ir.Operation, OpShardingRule], "ExchangeForm | None"]

_FORMS: dict[str, FormFunction] = {}


def exchanges(name: str) -> Callable[[FormFunction], FormFunction]:
    """Register a function that finds the form of an operation of that name, if it has one."""

    def register(function: FormFunction) -> FormFunction:
        _FORMS[name] = function
        return function

    return register


def exchanging_operations() -> frozenset[str]:
    """The names of operations that may have a form."""
    return frozenset(_FORMS)


def form_of(operation: ir.Operation, rule: OpShardingRule) -> ExchangeForm | None:
    """The form of an operation with the given rule; None if it has none.

    1. Its name is registered.
    2. The rule isn't one that a user gave: it may be about something else.
    3. All its tensors are ranked, and have static shapes and elements.
    4. No value around it is used in its regions.
    """
    find = _FORMS.get(operation.name)
    if find is None or rule.is_custom_rule:
        return None
    values = (*operation.operands, *operation.results)
    if not all(map(_is_static, values)) or _captures(operation):
        return None
    return find(operation, rule)


def _is_static(value: ir.Value) -> bool:
    """Whether a value is a tensor whose shape is known, with at least one element."""
    value_type = value.type
    return isinstance(value_type, ir.RankedTensorType) and all(
        size > 0 for size in value_type.shape
    )


def _captures(operation: ir.Operation) -> bool:
    """Whether regions of an operation use values from around it, as far as that can be seen."""
    for region in operation.regions:
        for block in region.blocks:
            known: list[ir.Value] = list(block.arguments)
            for view in block.operations:
                if len(view.regions) or any(operand not in known for operand in view.operands):
                    return True
                known.extend(view.results)
    return False
