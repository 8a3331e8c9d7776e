# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one operation of a local program computes, and what it reads and writes.

| operation                    | operations                                                       |
|------------------------------|------------------------------------------------------------------|
| `dot_general`                | 2 for each element of the result and of the contracted dimensions |
| `convolution`                | 2 for each element of the result and of the kernel, per feature  |
| `reduce`, `reduce_window` .. | 1 for each element that is combined                              |
| other computing ones         | 1 for each element of the results                                |
| those that only move data    | none                                                             |

All of them read their operands and write their results, but for slices and updates, which touch
only what they take or put, and constants and reshapes, which touch nothing.
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
"""Operations without work of their own."""

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
    """What a device does for one operation.

    Attributes:
        operations: multiplications, additions and the like.
        nbytes: bytes that are read and written.
    """

    operations: float = 0.0
    nbytes: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(self.operations + other.operations, self.nbytes + other.nbytes)

    def times(self, count: float) -> Work:
        """That of as many such operations."""
        return Work(self.operations * count, self.nbytes * count)


def work_of(operation: ir.Operation) -> Work:
    """What a device does for an operation of a local program, once, its regions left out."""
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
    """The bytes of a value; none of what isn't a tensor of known size."""
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
    """Inputs come first, as many as there are results."""
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
