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

from collections.abc import Collection

from mlir_sdy.diagnostics import UsageError, error
from mlir_sdy.discardable import get_discardable, text_of
from mlir_sdy.host import ir, location_of
from mlir_sdy.traversal import operations_in
from pyshardy.irtools.stablehlo_builder import StablehloBuilder, i64_attribute
from pyshardy.irtools.stablehlo_views import (
    CustomCallView,
    DimensionSizeView,
)
from pyshardy.sizes.manual_computations import MANUAL
from pyshardy.sizes.reduce_windows import DYNAMIC_REDUCE_WINDOW
from pyshardy.sizes.signature import DynamicSignature, entry_of
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
    if operation.name == MANUAL and (results or operands):
        message = f"'{operation.name}' op of dynamic sizes can't be in a program with 'buckets'"
        raise CapacityError(error(message, location_of(operation.location)))
    if results and (is_source or operation.name == "stablehlo.set_dimension_size"):
        message = f"the sizes of results of '{operation.name}' op aren't known for smaller inputs: "
        message += "it can't be in a program with 'buckets'"
        raise CapacityError(error(message, location_of(operation.location)))


def _first_size(operation: ir.Operation) -> int | None:
    if _is_call_of(operation, DYNAMIC_REDUCE_WINDOW):
        return len(operation.operands) - 5
    shapes = get_discardable(operation, "indices_of_shape_operands")
    if operation.name == _CUSTOM_CALL and isinstance(shapes, ir.DenseIntElementsAttr):
        return min([*shapes], default=None)
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
