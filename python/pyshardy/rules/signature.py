# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a rule sees of an operation: its name, its types, and its attributes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_sdy.host import ir


@dataclass(frozen=True, slots=True)
class TensorType:
    """A ranked tensor type: shape and element type. Dynamic sizes are negative."""

    shape: tuple[int, ...]
    element_type: str

    @classmethod
    def of(cls, value_type: ir.Type) -> TensorType | None:
        """The plain form of a type; None for tokens, tuples and all else without dimensions."""
        if not isinstance(value_type, ir.RankedTensorType):
            return None
        return cls(tuple(value_type.shape), str(value_type.element_type))

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
    """An operation as its rule sees it.

    Attributes:
        name: the operation's name, such as "stablehlo.add".
        operands: the type of each operand; None where it has no dimensions to speak of (tokens).
        results: the type of each result, likewise.
        operation: the operation itself. A rule may read the attributes that it declares with
            `sharding_rule(..., reads=...)`; one that looks at more must say `memoised=False`.
        conservative: whether to leave dimensions alone that windows and padding move over.
    """

    name: str
    operands: tuple[TensorType | None, ...]
    results: tuple[TensorType | None, ...]
    operation: ir.Operation
    conservative: bool = False

    @property
    def tensors(self) -> tuple[TensorType | None, ...]:
        """The types of all operands, then of all results."""
        return self.operands + self.results

    def operand_shape(self, index: int) -> tuple[int, ...]:
        """The shape of an operand; that of a scalar if it isn't a tensor."""
        return _shape(self.operands[index])

    def result_shape(self, index: int = 0) -> tuple[int, ...]:
        """The shape of a result; that of a scalar if it isn't a tensor."""
        return _shape(self.results[index])

    def attribute(self, name: str) -> ir.Attribute | None:
        """The attribute of that name, if the operation has it."""
        return self.operation.attributes.get(name)

    def integers(self, name: str) -> tuple[int, ...]:
        """The numbers in an integer array attribute; none if the operation lacks it."""
        attribute: Any = self.attribute(name)
        return () if attribute is None else tuple(attribute)


def _shape(tensor: TensorType | None) -> tuple[int, ...]:
    return () if tensor is None else tensor.shape
