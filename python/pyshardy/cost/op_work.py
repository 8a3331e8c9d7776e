# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The arithmetic operations and memory traffic of the operations of a local program.

| operation                    | arithmetic operations                                            |
|------------------------------|------------------------------------------------------------------|
| `dot_general`                | 2 for each element of the result and of the contracted dimensions |
| `convolution`                | 2 for each element of the result and of the kernel, per feature  |
| `reduce`, `reduce_window` .. | 1 for each element that is combined                              |
| other arithmetic             | 1 for each element of the results                                |
| data movement                | none                                                             |

Operations read their operands and write their results. Exceptions are slices and updates, which
access only the elements that they move, and constants and reshapes, which access none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mlir_sdy.host import ir, stablehlo
from pyshardy.irtools.element_types import element_bytes

_FREE = frozenset(
    {
        "stablehlo.bitcast_convert",
        "stablehlo.constant",
        "stablehlo.get_tuple_element",
        "stablehlo.optimization_barrier",
        "stablehlo.partition_id",
        "stablehlo.replica_id",
        "stablehlo.reshape",
        "stablehlo.return",
        "stablehlo.tuple",
        "func.return",
        "func.call",
        "func.func",
    }
)
"""Operations without work."""

_MOVING = frozenset(
    f"stablehlo.{name}"
    for name in """
        broadcast broadcast_in_dim concatenate gather iota pad reverse slice transpose
    """.split()  # noqa: SIM905
)
_TAKING = frozenset({"stablehlo.dynamic_slice", "stablehlo.slice", "stablehlo.gather"})
_CONTROL = frozenset({"stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.composite"})


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


def work_of(operation: ir.Operation) -> Work:
    """Return the work of a device for one execution of an operation, without its regions."""
    name = operation.name
    if name in _FREE or name in _CONTROL:
        return Work()
    results = sum(map(nbytes_of, operation.results))
    if name in _TAKING:
        return Work(0.0, 2.0 * results)
    if name == "stablehlo.dynamic_update_slice":
        return Work(0.0, 2.0 * nbytes_of(operation.operands[1]))
    nbytes = float(sum(map(nbytes_of, operation.operands)) + results)
    if name in _MOVING:
        return Work(0.0, nbytes)
    count = _COUNTS.get(name)
    elements = sum(map(_elements, operation.results)) if count is None else count(operation)
    return Work(float(elements), nbytes)


def nbytes_of(value: ir.Value) -> int:
    """Return the bytes of a value; 0 if it isn't a tensor of static shape."""
    return _elements(value) * element_bytes(value)


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _elements(value: ir.Value) -> int:
    value_type = value.type
    if not isinstance(value_type, ir.RankedTensorType) or not value_type.has_static_shape:
        return 0
    return math.prod(value_type.shape)


def _of_dot_general(operation: ir.Operation) -> int:
    numbers: Any = stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    shape = _shape(operation.operands[0])
    dims: list[int] = list(numbers.lhs_contracting_dimensions)
    return 2 * math.prod(shape[dim] for dim in dims) * _elements(operation.results[0])


def _of_convolution(operation: ir.Operation) -> int:
    numbers: Any = stablehlo.ConvDimensionNumbers(operation.attributes["dimension_numbers"])
    kernel = _shape(operation.operands[1])
    features_dim: int = numbers.kernel_output_feature_dimension
    return 2 * _elements(operation.results[0]) * (math.prod(kernel) // max(kernel[features_dim], 1))


def _of_reduction(operation: ir.Operation) -> int:
    """Return the work of a reduction, whose first operands are its inputs, one for each result."""
    return sum(map(_elements, list(operation.operands)[: len(operation.results)]))


def _of_windows(operation: ir.Operation) -> int:
    window = math.prod(operation.attributes["window_dimensions"])
    return window * sum(map(_elements, operation.results))


def _of_sort(operation: ir.Operation) -> int:
    shape = _shape(operation.operands[0])
    dim: int = operation.attributes["dimension"].value
    length = max(shape[dim], 2) if shape else 2
    return int(sum(map(_elements, operation.operands)) * math.log2(length))


_COUNTS: dict[str, Callable[[ir.Operation], int]] = {
    "stablehlo.convolution": _of_convolution,
    "stablehlo.dot_general": _of_dot_general,
    "stablehlo.reduce": _of_reduction,
    "stablehlo.reduce_window": _of_windows,
    "stablehlo.scatter": lambda operation: _elements(operation.operands[-1]),
    "stablehlo.select_and_scatter": lambda operation: 2 * _elements(operation.operands[0]),
    "stablehlo.sort": _of_sort,
}
