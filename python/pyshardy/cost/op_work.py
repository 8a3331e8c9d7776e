# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arithmetic operations and memory traffic of the operations of a local program.

The record of an operation has its work, composed of the functions here (see
`pyshardy.partition.op_facts.record`). Operations read their operands and write their results.
Exceptions are slices and updates, which access only the elements that they move, and constants and
reshapes, which access none. What compilers compute as a part of its users is neither written nor
read, and its operands are read by each of these (`pyshardy.partition.op_facts.fusion`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from mlir_sdy.host import identity, ir
from mlir_sdy.model import Shape
from pyshardy.cost.hardware import Hardware
from pyshardy.cost.measured import PRODUCT
from pyshardy.irtools.stablehlo_views import ProductView
from pyshardy.irtools.tensor_types import bytes_of, element_type_of, tensor_bytes


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a device for one operation.

    Attributes:
        operations: the number of arithmetic operations.
        nbytes: the bytes that are read and written.
        element: the elements that a product multiplies (see `multiplied_elements`); None for other
            operations.
        smallest: the size of the smallest dimension of a product: of the rows, the columns, or the
            summands of an element; 0 for other operations.
        is_fused: whether it is a part of the kernel of another operation.
        kind: the kind of a product, as in the measurements of hardware.
    """

    operations: float = 0.0
    nbytes: float = 0.0
    element: str | None = None
    smallest: float = 0.0
    is_fused: bool = False
    kind: str = PRODUCT

    def __add__(self, other: Work) -> Work:
        element, smallest = self.element or other.element, self.smallest or other.smallest
        operations, nbytes = self.operations + other.operations, self.nbytes + other.nbytes
        is_fused = self.is_fused and other.is_fused
        kind = self.kind if self.element else other.kind
        return Work(operations, nbytes, element, smallest, is_fused, kind)

    def times(self, count: float) -> Work:
        """Return the work of several such operations."""
        return replace(self, operations=self.operations * count, nbytes=self.nbytes * count)

    def seconds(self, hardware: Hardware) -> float:
        """Return the time on a device, with that to start a kernel.

        Operations without arithmetic start none: they move data in the kernels of others, as those
        that are fused do.
        """
        seconds = hardware.work_seconds(
            self.operations, self.nbytes, self.element, self.smallest, self.kind
        )
        starts_kernel = self.operations and not self.is_fused
        return seconds + hardware.seconds_per_kernel if starts_kernel else seconds


class TensorSize(NamedTuple):
    """The size of a tensor; zeros for other values and for dynamic shapes.

    Attributes:
        elements: the number of its elements.
        nbytes: its bytes; zero if it is never in memory.
        shape: its dimensions.
    """

    elements: int
    nbytes: int
    shape: Shape = ()

    def times(self, count: int) -> TensorSize:
        """Return the size of a tensor that is accessed several times, or not at all."""
        return self if count == 1 else self._replace(nbytes=self.nbytes * count)


@dataclass(frozen=True, slots=True)
class SizedOperation:
    """An operation with the sizes of its operands and results.

    The sizes may be those of shards, so that the shapes in types don't count.

    Attributes:
        operation: the operation.
        operands: the sizes of its operands.
        results: the sizes of its results.
    """

    operation: ir.Operation
    operands: Sequence[TensorSize]
    results: Sequence[TensorSize]

    @property
    def traffic(self) -> float:
        """The bytes of all operands and results."""
        return float(sum(size.nbytes for size in (*self.operands, *self.results)))

    @property
    def is_fused(self) -> bool:
        """Whether its results are never in memory."""
        return any(size.elements and not size.nbytes for size in self.results)


class TensorSizes:
    """The sizes of values, computed once for each type."""

    def __init__(self) -> None:
        self._by_type: dict[int, TensorSize] = {}

    def of(self, value: ir.Value) -> TensorSize:
        """Return the size of a value."""
        value_type = value.type
        key = identity(value_type)
        known = self._by_type.get(key)
        if known is None:
            known = self._by_type[key] = _size_of(value_type)
        return known

    def of_operation(self, operation: ir.Operation, accesses: Sequence[int]) -> SizedOperation:
        """Return an operation with the sizes of its operands and results.

        Args:
            operation: the operation.
            accesses: how often each operand is read, then how often each result is written.
        """
        values = (*operation.operands, *operation.results)
        sizes = [self.of(value).times(count) for value, count in zip(values, accesses, strict=True)]
        count = len(operation.operands)
        return SizedOperation(operation, sizes[:count], sizes[count:])


def _size_of(value_type: ir.Type) -> TensorSize:
    if not isinstance(value_type, ir.RankedTensorType):
        return TensorSize(0, 0)
    shape = tuple(value_type.shape)
    if not value_type.has_static_shape:
        return TensorSize(0, 0, shape)
    return TensorSize(math.prod(shape), tensor_bytes(value_type), shape)


WorkFunction = Callable[[SizedOperation], Work]
"""Returns the work of a device for one execution of an operation, without its regions."""


def no_work(_: SizedOperation) -> Work:
    """Return no work."""
    return Work()


def elementwise_work(sized: SizedOperation) -> Work:
    """Return an arithmetic operation for each element of the results, and all memory traffic."""
    return Work(float(sum(size.elements for size in sized.results)), sized.traffic)


def counted_work(num_operations: Callable[[SizedOperation], int]) -> WorkFunction:
    """Return the function for a given number of arithmetic operations, and all memory traffic."""
    return lambda sized: Work(float(num_operations(sized)), sized.traffic)


@dataclass(frozen=True, slots=True)
class ProductWork:
    """The function for a product of two operands.

    Attributes:
        num_operations: returns the number of arithmetic operations, if elements are real numbers.
        kind: returns the kind of the product.
    """

    num_operations: Callable[[SizedOperation], int]
    kind: Callable[[SizedOperation], str] = lambda _: PRODUCT

    def __call__(self, sized: SizedOperation) -> Work:
        """Return the work; a product of complex numbers takes four of real ones."""
        element = _multiplied_type(sized.operation)
        each = 4.0 if isinstance(element, ir.ComplexType) else 1.0
        name = _name_of(element, sized.operation)
        count = self.num_operations(sized)
        largest = max(size.elements for size in (*sized.operands[:2], *sized.results))
        smallest = count / (2.0 * largest) if largest else 0.0
        return Work(each * count, sized.traffic, name, smallest, kind=self.kind(sized))


def _multiplied_type(product: ir.Operation) -> ir.Type:
    """Return the element type of the first two operands; that with more bytes if they differ."""
    elements = [element_type_of(operand.type) for operand in list(product.operands)[:2]]
    return max(elements, key=bytes_of)


def multiplied_elements(product: ir.Operation) -> str:
    """Return the elements that a product multiplies, as in `Hardware.flops_by_element`.

    1. They are the elements of the operand whose elements have more bytes, such as `bf16`, and the
       parts of complex numbers.
    2. For `f32` with a precision above the default, this follows: `f32-high`, `f32-highest`. It is
       the highest of both operands. With the default, hardware may multiply fewer bits.
    """
    return _name_of(_multiplied_type(product), product)


def _name_of(element: ir.Type, product: ir.Operation) -> str:
    name = str(element.element_type if isinstance(element, ir.ComplexType) else element)
    if name != "f32":
        return name
    given = ProductView(product).precision_config
    return next((f"f32-{each.lower()}" for each in ("HIGHEST", "HIGH") if each in given), name)


def moving_work(sized: SizedOperation) -> Work:
    """Return the memory traffic of an operation that moves elements."""
    return Work(0.0, sized.traffic)


def taking_work(sized: SizedOperation) -> Work:
    """Return the memory traffic of an operation that reads only the elements of its results.

    One that takes all elements of its only operand does nothing.
    """
    if [size.nbytes for size in sized.operands] == [size.nbytes for size in sized.results]:
        return Work(0.0, 0.0)
    return Work(0.0, 2.0 * sum(size.nbytes for size in sized.results))
