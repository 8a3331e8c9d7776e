# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes that scalars and vectors of integers have, as expressions."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from mlir_sdy.host import ir
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.stablehlo_views import BroadcastView, CompareView, ConcatenateView, SliceView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.sizes.size import Size
from pyshardy.sizes.symbols import SizeSymbol

DIMENSION_SIZE = "stablehlo.get_dimension_size"

Bounds: TypeAlias = "Callable[[Size], tuple[int | None, int | None]]"
"""Returns the least and the largest value of a size, by which comparisons are decided."""


class SizeReader:
    """Reads the sizes that scalars and vectors have, as expressions.

    A scalar that has no expression, such as the greater of two, is a symbol of its own.

    Args:
        source: returns the sizes of a value that is computed from nothing else, such as the size of
            a dimension; None for other values.
        symbols: the symbols of arguments.

    Attributes:
        scalars: the scalars that are symbols, by their names.
    """

    def __init__(
        self, source: Callable[[ir.Value], Sequence[Size] | None], symbols: Mapping[str, SizeSymbol]
    ):
        self._source, self._symbols = source, dict(symbols)
        names = (f"d{number}" for number in itertools.count(1))
        self._names = (name for name in names if name not in symbols)
        self._known: dict[ir.Value, Sequence[Size] | None] = {}
        self.scalars: dict[str, ir.Value] = {}

    def fresh(self, value: ir.Value, low: float = 0, high: float = math.inf) -> Size:
        """Return a symbol for a size without an expression, which arises at a value.

        Args:
            value: the value.
            low: the least value of the size; that of a scalar argument isn't known.
            high: the largest one.
        """
        name = next(self._names)
        self.scalars[name] = value
        if low > -math.inf:
            largest = None if high == math.inf else int(high)
            self._symbols[name] = SizeSymbol(name, int(low), largest)
        return Size.symbol(name)

    def bounds(self, size: Size) -> tuple[int | None, int | None]:
        """Return limits of a size; None where none is known."""
        return size.bounds(self._symbols)

    def read(self, value: ir.Value) -> Sequence[Size] | None:
        """Return the elements of a vector, or of a scalar; None if they aren't known."""
        if value not in self._known:
            shape = shape_of(value.type)
            is_small = holds_sizes(value.type) and 0 <= math.prod(shape) <= _MOST_ELEMENTS
            found = self._read(value) if is_small else None
            if found is None and not shape:
                found = [None]
            if found is not None:
                found = [each or self.fresh(value, *self._limits(value)) for each in found]
            self._known[value] = found
        return self._known[value]

    def _limits(self, value: ir.Value) -> tuple[float, float]:
        """Return limits of a scalar without an expression."""
        operation = value.owner
        if isinstance(operation, ir.Block) or operation.name not in _BETWEEN:
            return -math.inf, math.inf
        limits: list[tuple[float, float]] = []
        for operand in operation.operands:
            sizes = self.read(operand) or ()
            low, high = self.bounds(sizes[0]) if len(sizes) == 1 else (None, None)
            limits.append((-math.inf if low is None else low, math.inf if high is None else high))
        lows, highs = zip(*limits, strict=True)
        match operation.name:
            case "stablehlo.clamp":
                return min(max(lows[:2]), lows[2]), min(max(highs[:2]), highs[2])
            case "stablehlo.maximum":
                return max(lows), max(highs)
            case "stablehlo.minimum":
                return min(lows), min(highs)
            case _:
                return min(lows[1:]), max(highs[1:])

    def _read(self, value: ir.Value) -> Sequence[Size | None] | None:
        numbers = constant_integers(value)
        if numbers is not None:
            return list(map(Size.of, numbers))
        found = self._source(value)
        if found is not None or isinstance(value, ir.BlockArgument):
            return found
        operation = value.owner.operation
        if operation.name not in _READ:
            return None
        operands = [self.read(each) for each in operation.operands]
        known = [each for each in operands if each is not None]
        if len(known) < len(operands):
            return None
        return _READ[operation.name](operation, known, self.bounds)


def holds_sizes(tensor: ir.Type) -> bool:
    """Whether a type has integers that are as large as sizes, or predicates.

    Unsigned integers, such as those of random numbers, wrap around.
    """
    element = tensor.element_type if isinstance(tensor, ir.RankedTensorType) else None
    if isinstance(element, ir.IntegerType):
        return element.width in (1, 32, 64) and not element.is_unsigned
    return isinstance(element, ir.IndexType)


_BETWEEN = frozenset(f"stablehlo.{name}" for name in ("clamp", "maximum", "minimum", "select"))
"""Operations whose results have limits by those of their operands."""

_MOST_ELEMENTS = 64
"""The elements of a vector that are sizes."""

_Sizes = list[Sequence[Size]]
_Function = Callable[[ir.Operation, _Sizes, Bounds], Sequence[Size | None] | None]


def _same(operation: ir.Operation, operands: _Sizes, _: Bounds) -> Sequence[Size] | None:
    """Return the elements in their order, unless a broadcast repeats or transposes them."""
    if len(operands[0]) != math.prod(shape_of(operation.results[0].type)):
        return None
    if operation.name == "stablehlo.broadcast_in_dim":
        dims = list(BroadcastView(operation).broadcast_dimensions)
        return operands[0] if dims == sorted(dims) else None
    return operands[0]


def _passed(operation: ir.Operation, operands: _Sizes, _: Bounds) -> Sequence[Size] | None:
    """Return a size that is constrained, as explicit axes of JAX do."""
    return None if shape_of(operation.results[0].type) else operands[0]


def _joined(operation: ir.Operation, operands: _Sizes, _: Bounds) -> Sequence[Size] | None:
    is_in_order = ConcatenateView(operation).dimension == 0
    return [size for each in operands for size in each] if is_in_order else None


def _cut(operation: ir.Operation, operands: _Sizes, _: Bounds) -> Sequence[Size] | None:
    view = SliceView(operation)
    if len(view.start_indices) != 1:
        return None
    return operands[0][view.start_indices[0] : view.limit_indices[0] : view.strides[0]]


def _each(operation: ir.Operation, operands: _Sizes, bounds: Bounds) -> Sequence[Size | None]:
    """Return the elements of an elementwise operation; scalars are operands of all elements."""
    count, decide = math.prod(shape_of(operation.results[0].type)), _DECIDED.get(operation.name)
    spread = ([*each] * (count if len(each) == 1 else 1) for each in operands)
    if decide is not None:
        return [decide(*each, bounds) for each in zip(*spread, strict=True)]
    return [_SIMPLE[operation.name](*each) for each in zip(*spread, strict=True)]


def _compared(operation: ir.Operation, operands: _Sizes, bounds: Bounds) -> Sequence[Size] | None:
    """Return 1 for a comparison that always holds, and 0 for one that never does."""
    if len(operands[0]) != 1:
        return None
    (one,), (other,) = operands
    less, greater = _is_less(one, other, bounds), _is_less(other, one, bounds)
    differs = True if less or greater else None if None in (less, greater) else False
    direction = CompareView(operation).comparison_direction
    value = {"LT": less, "GE": less, "GT": greater, "LE": greater}.get(direction, differs)
    is_negated = direction in {"GE", "LE", "EQ"}
    return None if value is None else [Size.of(int(value != is_negated))]


# --- Elements -------------------------------------------------------------------------------------


def _is_less(one: Size, other: Size, bounds: Bounds) -> bool | None:
    """Whether the first size is always less than the second, or never; None if unknown."""
    low, high = bounds(one - other)
    if high is not None and high < 0:
        return True
    return False if low is not None and low >= 0 else None


def _ordered(one: Size, other: Size, bounds: Bounds) -> tuple[Size | None, Size | None]:
    """Return the lesser and the greater of two sizes; None if that isn't known."""
    if _is_less(other, one, bounds) is False:
        return one, other
    return (other, one) if _is_less(one, other, bounds) is False else (None, None)


def _least(one: Size, other: Size, bounds: Bounds) -> Size | None:
    return _ordered(one, other, bounds)[0]


def _greatest(one: Size, other: Size, bounds: Bounds) -> Size | None:
    return _ordered(one, other, bounds)[1]


def _sign(size: Size, bounds: Bounds) -> Size | None:
    if _is_less(Size.of(0), size, bounds):
        return Size.of(1)
    return Size.of(-1) if _is_less(size, Size.of(0), bounds) else size if size == 0 else None


def _clamped(low: Size, size: Size, high: Size, bounds: Bounds) -> Size | None:
    above = high if low == high else _ordered(size, low, bounds)[1]
    return None if above is None else _ordered(above, high, bounds)[0]


def _quotient(size: Size, divisor: Size, bounds: Bounds) -> Size | None:
    """Return a quotient, which is rounded to zero."""
    known, by = size.constant, divisor.constant
    if known is not None and by:
        return Size.of((1 if (known < 0) == (by < 0) else -1) * (abs(known) // abs(by)))
    return size // by if by and by > 0 and _is_less(size, Size.of(0), bounds) is False else None


def _rest(size: Size, divisor: Size, bounds: Bounds) -> Size | None:
    quotient = _quotient(size, divisor, bounds)
    if quotient is None or divisor.constant is None:
        return None
    return size % divisor if size.constant is None else size - quotient * divisor


def _both(one: Size, other: Size) -> Size | None:
    """Return the bits that two numbers have, or two predicates."""
    if one.constant is not None and other.constant is not None:
        return Size.of(one.constant & other.constant)
    return Size.of(0) if 0 in (one, other) else None


def _selected(predicate: Size, one: Size, other: Size) -> Size | None:
    if one == other:
        return one
    return None if predicate.constant is None else one if predicate.constant else other


_SIMPLE: dict[str, Callable[..., Size | None]] = {
    "stablehlo.add": operator.add,
    "stablehlo.and": _both,
    "stablehlo.multiply": operator.mul,
    "stablehlo.select": _selected,
    "stablehlo.subtract": operator.sub,
}
"""Elementwise operations that need no limits of sizes."""

_DECIDED: dict[str, Callable[..., Size | None]] = {
    "stablehlo.clamp": _clamped,
    "stablehlo.divide": _quotient,
    "stablehlo.maximum": _greatest,
    "stablehlo.minimum": _least,
    "stablehlo.remainder": _rest,
    "stablehlo.sign": _sign,
}

_READ: dict[str, _Function] = {
    "sdy.sharding_constraint": _passed,
    "stablehlo.broadcast_in_dim": _same,
    "stablehlo.compare": _compared,
    "stablehlo.concatenate": _joined,
    "stablehlo.convert": _same,
    "stablehlo.reshape": _same,
    "stablehlo.slice": _cut,
    **dict.fromkeys((*_SIMPLE, *_DECIDED), _each),
}

READ = frozenset(_READ) | {DIMENSION_SIZE}
"""The operations that compute sizes."""
