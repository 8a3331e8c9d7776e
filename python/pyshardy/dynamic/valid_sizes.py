# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes of a program that is refined at capacities: which are types, and which are numbers.

A program for a capacity has the types of the largest sizes, but computes with those of its inputs.
So the operands of operations that determine types are computed twice before refinement:

    %0 = stablehlo.dynamic_iota %sizes, dim = 0

becomes, with a copy `%of_types` of `%sizes` and all that it is computed from,

    %0 = stablehlo.dynamic_iota %of_types, dim = 0
    stablehlo.custom_call @sdy.valid_sizes(%0, %sizes)

`%of_types` is computed from capacities, which refinement folds. All other sizes are computed from

    stablehlo.custom_call @sdy.valid_symbol() {sdy.name = "b"} : () -> tensor<i32>
    stablehlo.custom_call @sdy.valid_dimension(%x) {sdy.dimension = 0} : (...) -> tensor<i32>

which stand for the sizes of the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.discardable import get_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.constants import constant_integers
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, i64_attribute
from pyshardy.irtools.stablehlo_views import (
    ConcatenateView,
    CustomCallView,
    DimensionSizeView,
    SliceView,
)
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.sizes.reduce_windows import DYNAMIC_REDUCE_WINDOW
from pyshardy.sizes.signature import DynamicSignature, entry_of
from pyshardy.sizes.size import Size
from pyshardy.sizes.static_program import ASSERTION, is_dynamic_tensor

VALID_SIZES, VALID_SYMBOL = "sdy.valid_sizes", "sdy.valid_symbol"
VALID_DIMENSION = "sdy.valid_dimension"

_NAME, _DIMENSION = "sdy.name", "sdy.dimension"

_CUSTOM_CALL, _DIMENSION_SIZE = "stablehlo.custom_call", "stablehlo.get_dimension_size"

_FIRST_SIZE = {
    "stablehlo.dynamic_broadcast_in_dim": 1,
    "stablehlo.dynamic_conv": 2,
    "stablehlo.dynamic_gather": 2,
    "stablehlo.dynamic_iota": 0,
    "stablehlo.dynamic_pad": 2,
    "stablehlo.dynamic_reshape": 1,
    "stablehlo.real_dynamic_slice": 1,
}
"""The first operand that determines the type of the result, as do those behind it."""

_STATIC = {
    name: "stablehlo.convolution"
    if name == "stablehlo.dynamic_conv"
    else f"stablehlo.{name.rpartition('dynamic_')[2]}"
    for name in _FIRST_SIZE
}
_WINDOWS = "stablehlo.reduce_window"


def separate_sizes(
    module: ir.Module, symbols: Collection[str], signature: DynamicSignature
) -> None:
    """Compute sizes in types apart from sizes as numbers, in place.

    Args:
        module: the dynamic program, without calls.
        symbols: the symbols whose capacities are in types.
        signature: its arguments.

    Raises:
        CapacityError: the sizes of a result aren't known.
    """
    entry = entry_of(module)
    block = entry.regions[0].blocks[0]
    of_types: dict[ir.Value, ir.Value] = {}
    builder = StablehloBuilder()
    with entry.context, entry.location:
        with ir.InsertionPoint.at_block_begin(block):
            for index, name in signature.constants.items():
                argument = block.arguments[index]
                if name not in symbols:
                    continue
                attributes = {_NAME: ir.StringAttr.get(name)}
                call = builder.custom_call(VALID_SYMBOL, (), (argument.type,), attributes)
                argument.replace_all_uses_with(call.results[0])
                of_types[call.results[0]] = argument
        operations = [each.operation for each in operations_in(entry)]
        for operation in operations:
            first = _first_size(operation)
            if first is None:
                _check_source(operation)
                continue
            sizes = list(operation.operands)[first:]
            for index, size in enumerate(sizes, first):
                operation.operands[index] = _copy(size, of_types)
            with operation.location, ir.InsertionPoint.after(operation):
                builder.custom_call(
                    VALID_SIZES,
                    (operation.results[0], *sizes),
                    (),
                    {
                        "has_side_effect": ir.BoolAttr.get(True),
                        _NAME: ir.StringAttr.get(_STATIC.get(operation.name, _WINDOWS)),
                    },
                )
        for operation in operations:
            if operation.name == _DIMENSION_SIZE:
                attributes = {_DIMENSION: i64_attribute(DimensionSizeView(operation).dimension)}
                with operation.location, ir.InsertionPoint(operation):
                    call = builder.custom_call(
                        VALID_DIMENSION, operation.operands, [operation.results[0].type], attributes
                    )
                operation.results[0].replace_all_uses_with(call.results[0])
                operation.erase()
            elif _is_call_of(operation, ASSERTION):
                operation.erase()  # it is about the sizes of inputs


def name_of(call: ir.Operation) -> str:
    """Return the symbol of a call, or the operation that refinement makes."""
    return text_of(call, _NAME) or ""


def dimension_of(call: ir.Operation) -> int:
    """Return the dimension of a call."""
    dimension = get_discardable(call, _DIMENSION)
    return 0 if dimension is None else dimension.value


def _check_source(operation: ir.Operation) -> None:
    """Check that a result of dynamic size has its sizes from operands.

    Raises:
        CapacityError: it has them from elsewhere.
    """
    results, operands = (
        [each for each in values if is_dynamic_tensor(each)]
        for values in (operation.results, operation.operands)
    )
    is_source = not operands and not len(operation.regions)
    if results and (is_source or operation.name == "stablehlo.set_dimension_size"):
        message = f"the sizes of results of '{operation.name}' op aren't known for smaller inputs: "
        message += "it can't be in a program with 'buckets'"
        raise CapacityError(error(message, location_of(operation.location)))


def _first_size(operation: ir.Operation) -> int | None:
    if _is_call_of(operation, DYNAMIC_REDUCE_WINDOW):
        return len(operation.operands) - 5
    return _FIRST_SIZE.get(operation.name)


def _is_call_of(operation: ir.Operation, target: str) -> bool:
    is_call = operation.name == _CUSTOM_CALL
    return is_call and CustomCallView(operation).call_target_name == target


def _copy(value: ir.Value, copies: dict[ir.Value, ir.Value]) -> ir.Value:
    """Return a copy of a size and of the operations that it is computed from."""
    known = copies.get(value)
    if known is not None or isinstance(value, ir.BlockArgument):
        return known or value
    operation = value.owner.operation
    if not operation.operands:
        return value
    copy = operation.clone(ip=ir.InsertionPoint(operation)).operation
    if operation.name != _DIMENSION_SIZE:
        for index, operand in enumerate(operation.operands):
            copy.operands[index] = _copy(operand, copies)
    copies.update(zip(operation.results, copy.results, strict=True))
    return copies[value]


class CapacityError(UsageError):
    """An operation can't be computed for sizes below a capacity."""


class SizeReader:
    """Reads the sizes that scalars and vectors of a refined program have, as expressions.

    A scalar that has no expression, such as the greater of two, is a symbol of its own.

    Args:
        dimension: returns the size of a dimension of a tensor.

    Attributes:
        scalars: the scalars that are symbols, by their names.
    """

    def __init__(self, dimension: Callable[[ir.Value, int], Size]):
        self._dimension = dimension
        self._known: dict[ir.Value, Sequence[Size] | None] = {}
        self.scalars: dict[str, ir.Value] = {}

    def read(self, value: ir.Value) -> Sequence[Size] | None:
        """Return the elements of a vector, or of a scalar; None if they aren't known."""
        if value not in self._known:
            found = self._read(value)
            if found is None and not shape_of(value.type):
                name = f"#{len(self.scalars)}"  # which is no name of a symbol
                self.scalars[name] = value
                found = [Size.symbol(name)]
            self._known[value] = found
        return self._known[value]

    def _read(self, value: ir.Value) -> Sequence[Size] | None:
        numbers = constant_integers(value)
        if numbers is not None:
            return list(map(Size.of, numbers))
        if isinstance(value, ir.BlockArgument):
            return None
        operation = value.owner.operation
        if _is_call_of(operation, VALID_SYMBOL):
            return [Size.symbol(name_of(operation))]
        if _is_call_of(operation, VALID_DIMENSION):
            return [self._dimension(operation.operands[0], dimension_of(operation))]
        if operation.name not in _READ:
            return None
        operands = [self.read(each) for each in operation.operands]
        known = [each for each in operands if each is not None]
        return _READ[operation.name](operation, known) if len(known) == len(operands) else None


_Sizes = list[Sequence[Size]]


def _same(operation: ir.Operation, operands: _Sizes) -> Sequence[Size] | None:
    count = sum(1 for _ in operands[0])
    shape = shape_of(operation.results[0].type)
    return operands[0] if count == (shape[0] if len(shape) == 1 else 1) or len(shape) > 1 else None


def _joined(operation: ir.Operation, operands: _Sizes) -> Sequence[Size] | None:
    is_in_order = ConcatenateView(operation).dimension == 0
    return [size for each in operands for size in each] if is_in_order else None


def _cut(operation: ir.Operation, operands: _Sizes) -> Sequence[Size] | None:
    view = SliceView(operation)
    if len(view.start_indices) != 1:
        return None
    return operands[0][view.start_indices[0] : view.limit_indices[0] : view.strides[0]]


def _each(
    function: Callable[[Size, Size], Size | None],
) -> Callable[[ir.Operation, _Sizes], Sequence[Size] | None]:
    def combined(_: ir.Operation, operands: _Sizes) -> Sequence[Size] | None:
        found = [function(*each) for each in zip(*operands, strict=True)]
        known = [each for each in found if each is not None]
        return known if len(known) == len(found) else None

    return combined


def _quotient(size: Size, divisor: Size) -> Size | None:
    return size.floordiv(divisor.constant) if divisor.constant else None


def _rest(size: Size, divisor: Size) -> Size | None:
    return size.mod(divisor.constant) if divisor.constant else None


_READ: dict[str, Callable[[ir.Operation, _Sizes], Sequence[Size] | None]] = {
    "stablehlo.add": _each(Size.__add__),
    "stablehlo.broadcast_in_dim": _same,
    "stablehlo.concatenate": _joined,
    "stablehlo.convert": _same,
    "stablehlo.divide": _each(_quotient),
    "stablehlo.multiply": _each(Size.__mul__),
    "stablehlo.remainder": _each(_rest),
    "stablehlo.reshape": _same,
    "stablehlo.slice": _cut,
    "stablehlo.subtract": _each(Size.__sub__),
}
