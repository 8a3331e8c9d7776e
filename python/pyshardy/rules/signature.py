# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inputs of rules: names, types and attributes of operations."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from mlir_sdy.host import ir
from mlir_sdy.traversal import global_type
from pyshardy.irtools.stablehlo_views.fields import attribute_named

_Attribute = TypeVar("_Attribute")


class RuleError(ValueError):
    """A rule is ill-formed, or does not fit the operation it was given for."""


@dataclass(frozen=True, slots=True)
class TensorType:
    """A ranked tensor type: shape and element type. Dynamic sizes are negative."""

    shape: tuple[int, ...]
    element_type: str

    @classmethod
    def of(cls, value_type: ir.Type) -> TensorType | None:
        """Convert a type; None for tokens, tuples and other types without dimensions."""
        tensor = global_type(value_type)
        if not isinstance(tensor, ir.RankedTensorType):
            return None
        return cls(tuple(tensor.shape), str(tensor.element_type))

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        """Whether all sizes are known."""
        return all(size >= 0 for size in self.shape)


@dataclass(frozen=True, slots=True)
class OperationSignature:
    """The input of an operation's rule.

    Attributes:
        name: the operation's name, such as "stablehlo.add".
        operands: the type of each operand; None for types without dimensions (tokens).
        results: the type of each result, likewise.
        operation: the operation itself. Operations of equal types and attributes share rules, so
            a rule that reads more must declare it: see `sharding_rule`.
        conservative: whether to block dimensions of windows and padding.
        observed: the result of the registration's `observes` function.
        reads: the attributes that the registration lists; None means all.
    """

    name: str
    operands: tuple[TensorType | None, ...]
    results: tuple[TensorType | None, ...]
    operation: ir.Operation
    conservative: bool = False
    observed: Hashable = None
    reads: tuple[str, ...] | None = None

    @property
    def tensors(self) -> tuple[TensorType | None, ...]:
        """The types of all operands, then of all results."""
        return self.operands + self.results

    def operand_shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of an operand; the empty shape if it isn't a tensor."""
        return self._shape(self.operands, index, "operand")

    def result_shape(self, index: int = 0) -> tuple[int, ...]:
        """Return the shape of a result; the empty shape if it isn't a tensor."""
        return self._shape(self.results, index, "result")

    def attribute(self, name: str) -> ir.Attribute | None:
        """Return an attribute by its name, or None.

        Raises:
            RuleError: the registration of the rule has a list `reads` without it.
        """
        if self.reads is not None and name not in self.reads:
            raise RuleError(
                f"the rule of '{self.name}' reads the attribute '{name}': "
                f'list it in its registration, reads=("{name}", ...)'
            )
        return attribute_named(self.operation, name)

    def integers(self, name: str) -> tuple[int, ...]:
        """Return the numbers in an integer array attribute; none if the operation lacks it."""
        attribute: Any = self.attribute(name)
        return () if attribute is None else tuple(attribute)

    def integer(self, name: str, default: int | None = None) -> int:
        """Return the number in an integer attribute.

        Args:
            name: the name of the attribute.
            default: the value if the operation lacks the attribute.

        Raises:
            RuleError: the operation lacks it, and there is no default.
        """
        if default is not None and self.attribute(name) is None:
            return default
        attribute: Any = self._required(name)
        return attribute.value

    def flag(self, name: str) -> bool:
        """Whether a Boolean attribute is true; it is false if the operation lacks it."""
        attribute: Any = self.attribute(name)
        return attribute is not None and attribute.value

    def text(self, name: str) -> str:
        """Return a string attribute without its quotes, and any other attribute as printed.

        Raises:
            RuleError: the operation lacks it.
        """
        attribute = self._required(name)
        return attribute.value if isinstance(attribute, ir.StringAttr) else str(attribute)

    def dimension_numbers(
        self, kind: Callable[[ir.Attribute], _Attribute], name: str = "dimension_numbers"
    ) -> _Attribute:
        """Convert an attribute of dimension numbers to a class of `mlir_sdy.host.stablehlo`.

        Args:
            kind: the class, such as `stablehlo.ConvDimensionNumbers`.
            name: the name of the attribute.

        Raises:
            RuleError: the operation lacks it.
        """
        return kind(self._required(name))

    def _required(self, name: str) -> ir.Attribute:
        attribute = self.attribute(name)
        if attribute is None:
            given = ", ".join(f"'{known}'" for known in self.operation.attributes) or "none"
            raise RuleError(f"'{self.name}' has no attribute '{name}'; its attributes: {given}")
        return attribute

    def _shape(
        self, tensors: tuple[TensorType | None, ...], index: int, what: str
    ) -> tuple[int, ...]:
        if index >= len(tensors):
            raise RuleError(f"'{self.name}' has no {what} {index}: it has {len(tensors)} {what}s")
        tensor = tensors[index]
        return () if tensor is None else tensor.shape


class OperationParts(NamedTuple):
    """An operation with its name, operands and results read once.

    Calls into the bindings dominate the run time of look-ups.

    Attributes:
        operation: the operation.
        name: its name.
        operands: its operands.
        results: its results.
    """

    operation: ir.Operation
    name: str
    operands: Sequence[ir.Value]
    results: Sequence[ir.Value]

    @classmethod
    def of(cls, operation: ir.Operation, name: str) -> OperationParts:
        """Read an operation of a known name."""
        return cls(operation, name, list(operation.operands), list(operation.results))

    @property
    def values(self) -> tuple[ir.Value, ...]:
        """The operands, then the results."""
        return (*self.operands, *self.results)
