# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers that are known when a program is compiled: those computed from constants, and bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mlir_sdy.host import ir
from mlir_sdy.uses import defining_operation
from pyshardy.irtools.constants import CONSTANTS
from pyshardy.irtools.stablehlo_views import (
    BroadcastView,
    CompareView,
    ConcatenateView,
    ConstantView,
    GatherView,
    IotaView,
)
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.partition.op_facts.reduction_bodies import only_selects

IntegerArray = npt.NDArray[np.int64]

MOST_KNOWN = 1024
"""The largest number of integers that `known_integers` computes by default."""


def known_integers(
    value: ir.Value,
    given: Mapping[ir.Value, IntegerArray] | None = None,
    most: int = MOST_KNOWN,
) -> IntegerArray | None:
    """Return the integers in a tensor computed from constants; None if they aren't known.

    1. A constant or an `iota` of at most `most` integers is known, and so is what is given.
    2. So are the results of integer arithmetic, comparisons and selections, `broadcast_in_dim`,
       `reshape`, `concatenate`, `convert` and `gather` from a vector on known integers of at least
       32 bits and booleans, as long as no number is beyond 32 bits.

    Args:
        value: the tensor.
        given: the integers in other tensors.
        most: the largest number of integers.

    Example: `concatenate(broadcast_in_dim(dense<1>), dense<[2]>)` gives `[1, 2]`, as JAX writes the
    indices of `x.at[1, 2:5].set(y)`.
    """
    return _Evaluation(given or {}, most).of(value)


def known_integer_at(value: ir.Value, dim: int, position: int) -> int | None:
    """Return the integer that all elements at a position of a dimension are; None if none is known.

    The elements of a `concatenate` and a `broadcast_in_dim` are known if those of an operand are,
    and those of a `clamp` if both bounds are equal.

    Example: in `clamp(0, %i, dense<[31, 0]>)`, with `%i` of shape [4, 2], all elements at position
    1 of dimension 1 are 0, as in JAX's indices of a `dynamic_update_slice` under `vmap`.
    """
    known = known_integers(value)
    if known is not None:
        found = np.unique(np.moveaxis(known, dim, 0)[position] if known.ndim else known)
        return int(found[0]) if found.size == 1 else None
    operation = defining_operation(value)
    if operation is None:
        return None
    match operation.name:
        case "stablehlo.concatenate" if ConcatenateView(operation).dimension == dim:
            for operand in operation.operands:
                if position < shape_of(operand.type)[dim]:
                    return known_integer_at(operand, dim, position)
                position -= shape_of(operand.type)[dim]
        case "stablehlo.broadcast_in_dim":
            (operand,), dims = operation.operands, BroadcastView(operation).broadcast_dimensions
            if dim in dims:
                before = dims.index(dim)
                is_repeated = shape_of(operand.type)[before] == 1
                return known_integer_at(operand, before, 0 if is_repeated else position)
            return None if dims else known_integer_at(operand, 0, 0)
        case "stablehlo.clamp":
            least, _, most = (known_integer_at(each, dim, position) for each in operation.operands)
            return least if least == most else None
        case _:
            pass
    return None


class _Evaluation:
    """The known integers of a program, each tensor evaluated once."""

    def __init__(self, given: Mapping[ir.Value, IntegerArray], most: int):
        self._known: dict[ir.Value, IntegerArray | None] = dict(given)
        self._most = most

    def of(self, value: ir.Value) -> IntegerArray | None:
        if value not in self._known:
            found = self._evaluated(value) if _is_integer(value.type, self._most) else None
            fits = found is not None and (not found.size or _fits(value.type, found))
            self._known[value] = found if fits else None
        return self._known[value]

    def _evaluated(self, value: ir.Value) -> IntegerArray | None:
        operation = defining_operation(value)
        if operation is None:
            return None
        if operation.name in CONSTANTS:
            literal = ConstantView(operation).value
            if not isinstance(literal, ir.DenseIntElementsAttr):
                return None
            if literal.is_splat:
                element: Any = literal.get_splat_value()
                return np.full(shape_of(value.type), element.value, np.int64)
            numbers: Any = literal
            return np.array(list(numbers), np.int64).reshape(shape_of(value.type))
        fold = _FOLDS.get(operation.name)
        operands: list[IntegerArray] = []
        for operand in operation.operands if fold else ():
            known = self.of(operand)
            if known is None:
                return None
            operands.append(known)
        return None if fold is None else fold(operation, operands)


def _is_integer(tensor: ir.Type, most: int) -> bool:
    if not isinstance(tensor, ir.RankedTensorType) or not tensor.has_static_shape:
        return False
    element = tensor.element_type
    is_integer = isinstance(element, ir.IntegerType) and (element.width >= 32 or element.width == 1)
    return is_integer and int(np.prod(tensor.shape)) <= most


def _fits(tensor: ir.Type, numbers: IntegerArray) -> bool:
    """Whether numbers are in the range of 32 bits, so that no operation has wrapped around."""
    element: Any = ir.RankedTensorType(tensor).element_type
    least = 0 if element.is_unsigned or element.width == 1 else -(2**31)
    return bool(numbers.min() >= least and numbers.max() < 2**31)


_Fold = Callable[[ir.Operation, list[IntegerArray]], "IntegerArray | None"]


def _on_numbers(function: Callable[..., Any]) -> _Fold:
    return lambda _, operands: np.asarray(function(*operands), np.int64)


def _divide(_: ir.Operation, operands: list[IntegerArray]) -> IntegerArray | None:
    """Divide, rounding toward zero as StableHLO does."""
    dividend, divisor = operands
    if not divisor.all():
        return None
    return np.sign(dividend) * np.sign(divisor) * (np.abs(dividend) // np.abs(divisor))


def _remainder(operation: ir.Operation, operands: list[IntegerArray]) -> IntegerArray | None:
    quotient = _divide(operation, operands)
    return None if quotient is None else operands[0] - quotient * operands[1]


def _compare(operation: ir.Operation, operands: list[IntegerArray]) -> IntegerArray | None:
    compare = {
        "EQ": np.equal,
        "NE": np.not_equal,
        "LT": np.less,
        "LE": np.less_equal,
        "GT": np.greater,
        "GE": np.greater_equal,
    }[CompareView(operation).comparison_direction]
    return compare(*operands).astype(np.int64)


def _iota(operation: ir.Operation, _: list[IntegerArray]) -> IntegerArray:
    shape = shape_of(operation.results[0].type)
    dim = IotaView(operation).iota_dimension
    along = np.arange(shape[dim], dtype=np.int64)
    return np.broadcast_to(along.reshape([-1, *[1] * (len(shape) - dim - 1)]), shape)


def _broadcast(operation: ir.Operation, operands: list[IntegerArray]) -> IntegerArray:
    result = shape_of(operation.results[0].type)
    shape = [1] * len(result)
    dims = BroadcastView(operation).broadcast_dimensions
    for dim, size in zip(dims, operands[0].shape, strict=True):
        shape[dim] = size
    return np.broadcast_to(operands[0].reshape(shape), result)


def _converted(operation: ir.Operation, operand: IntegerArray) -> IntegerArray:
    return (operand != 0).astype(np.int64) if _is_boolean(operation) else operand


def _is_boolean(operation: ir.Operation) -> bool:
    element: Any = ir.RankedTensorType(operation.results[0].type).element_type
    return element.width == 1


def _take(operation: ir.Operation, operands: list[IntegerArray]) -> IntegerArray | None:
    """Take elements of a vector, at indices that are moved to its ends if they are outside."""
    table, indices = operands
    roles = GatherView(operation).dimension_numbers
    is_take = (
        (table.ndim, list(roles.start_index_map), list(roles.collapsed_slice_dims)) == (1, [0], [0])
        and indices.ndim == roles.index_vector_dim + 1
        and table.size > 0
    )
    return table[np.clip(indices[..., 0], 0, table.size - 1)] if is_take else None


_FOLDS: dict[str, _Fold] = {
    "stablehlo.abs": _on_numbers(np.abs),
    "stablehlo.add": _on_numbers(np.add),
    "stablehlo.and": _on_numbers(np.bitwise_and),
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.clamp": lambda _, operands: np.clip(operands[1], operands[0], operands[2]),
    "stablehlo.compare": _compare,
    "stablehlo.concatenate": lambda operation, operands: np.concatenate(
        operands, ConcatenateView(operation).dimension
    ),
    "stablehlo.convert": lambda operation, operands: _converted(operation, operands[0]),
    "stablehlo.divide": _divide,
    "stablehlo.gather": _take,
    "stablehlo.iota": _iota,
    "stablehlo.maximum": _on_numbers(np.maximum),
    "stablehlo.minimum": _on_numbers(np.minimum),
    "stablehlo.multiply": _on_numbers(np.multiply),
    "stablehlo.negate": _on_numbers(np.negative),
    "stablehlo.not": lambda operation, operands: (
        1 - operands[0] if _is_boolean(operation) else ~operands[0]
    ),
    "stablehlo.or": _on_numbers(np.bitwise_or),
    "stablehlo.remainder": _remainder,
    "stablehlo.reshape": lambda operation, operands: operands[0].reshape(
        shape_of(operation.results[0].type)
    ),
    "stablehlo.select": _on_numbers(np.where),
    "stablehlo.sign": _on_numbers(np.sign),
    "stablehlo.subtract": _on_numbers(np.subtract),
}
"""The evaluation of operations on known operands."""


# --- Bounds --------------------------------------------------------------------------------------

_REARRANGING = frozenset(
    f"stablehlo.{name}"
    for name in ("broadcast_in_dim", "convert", "reshape", "reverse", "slice", "transpose")
)


def bounds_of_indices(value: ir.Value) -> tuple[int, int] | None:
    """Return the least and the largest integer that a tensor may have; None if they aren't known.

    1. The indices of `chlo.top_k`, and those of a maximum or minimum (a reduction of pairs, whose
       body selects and whose second operand is an `iota`), are positions of a dimension.
    2. Rearranged, converted, concatenated and selected elements have the bounds of the operands.
    """
    known = known_integers(value)
    if known is not None and known.size:
        return int(known.min()), int(known.max())
    operation = defining_operation(value)
    if operation is None:
        return None
    number = ir.OpResult(value).result_number
    match operation.name:
        case "chlo.top_k" if number == 1:
            return 0, shape_of(operation.operands[0].type)[-1] - 1
        case "stablehlo.iota":
            return 0, shape_of(value.type)[IotaView(operation).iota_dimension] - 1
        case "stablehlo.sort":
            return bounds_of_indices(operation.operands[number])
        case "stablehlo.reduce" if only_selects(operation.regions[0].blocks[0]):
            count = len(operation.results)
            return _union(operation.operands[number], operation.operands[number + count])
        case "stablehlo.select":
            return _union(*list(operation.operands)[1:])
        case "stablehlo.concatenate":
            return _union(*operation.operands)
        case name if name in _REARRANGING:
            return bounds_of_indices(operation.operands[0])
        case _:
            return None


def _union(*values: ir.Value) -> tuple[int, int] | None:
    each = [bounds_of_indices(value) for value in values]
    known = [bounds for bounds in each if bounds is not None]
    if len(known) < len(each):
        return None
    return min(low for low, _ in known), max(high for _, high in known)
