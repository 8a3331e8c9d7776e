# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arithmetic operations and memory traffic of the operations of a local program.

The record of an operation has its work, composed of the functions here (see
`pyshardy.partition.op_facts.record`). Operations read their operands and write their results.
Exceptions are slices and updates, which access only the elements that they move, and constants and
reshapes, which access none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from mlir_sdy.host import ir
from pyshardy.irtools.tensor_types import element_bytes


@dataclass(frozen=True, slots=True)
class Work:
    """The work of a device for one operation.

    Attributes:
        operations: the number of arithmetic operations.
        nbytes: the bytes that are read and written.
    """

    operations: float = 0.0
    nbytes: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.nbytes + other.nbytes)

    def times(self, count: float) -> Work:
        """Return the work of several such operations."""
        return Work(self.operations * count, self.nbytes * count)


WorkFunction = Callable[[ir.Operation], Work]
"""Returns the work of a device for one execution of an operation, without its regions."""


def no_work(_: ir.Operation) -> Work:
    """Return no work."""
    return Work()


def elementwise_work(operation: ir.Operation) -> Work:
    """Return one arithmetic operation for each element of the results, and all memory traffic."""
    elements = sum(map(num_elements, operation.results))
    return Work(float(elements), _traffic(operation))


def counted_work(num_operations: Callable[[ir.Operation], int]) -> WorkFunction:
    """Return the function for a given number of arithmetic operations, and all memory traffic."""
    return lambda operation: Work(float(num_operations(operation)), _traffic(operation))


def moving_work(operation: ir.Operation) -> Work:
    """Return the memory traffic of an operation that moves elements."""
    return Work(0.0, _traffic(operation))


def taking_work(operation: ir.Operation) -> Work:
    """Return the memory traffic of an operation that reads only the elements of its results."""
    return Work(0.0, 2.0 * sum(map(nbytes_of, operation.results)))


def nbytes_of(value: ir.Value) -> int:
    """Return the bytes of a value; 0 if it isn't a tensor of static shape."""
    return num_elements(value) * element_bytes(value.type)


def num_elements(value: ir.Value) -> int:
    """Return the number of elements of a value; 0 if it isn't a tensor of static shape."""
    value_type = value.type
    if not isinstance(value_type, ir.RankedTensorType) or not value_type.has_static_shape:
        return 0
    return math.prod(value_type.shape)


def _traffic(operation: ir.Operation) -> float:
    """Return the bytes of all operands and results."""
    return float(sum(map(nbytes_of, [*operation.operands, *operation.results])))
