# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constants: `sdy.constant`, which MLIR does not merge, splats, and operations behind operands."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

from mlir_sdy.host import ir
from mlir_sdy.uses import defining_operation, replace_by
from pyshardy.irtools.stablehlo_views import ConstantView
from pyshardy.irtools.tensor_types import shape_of
from pyshardy.irtools.walks import operations_named, tell_inserted


def use_sdy_constants(root: ir.Module | ir.Operation | ir.OpView) -> bool:
    """Replace each `stablehlo.constant` by an `sdy.constant`.

    MLIR would merge equal `stablehlo.constant` operations of different shardings.

    Returns:
        Whether there was one.
    """
    constants = operations_named({"stablehlo.constant"}, root)
    for constant in constants:
        converted = ir.Operation.create(
            "sdy.constant",
            results=[constant.results[0].type],
            attributes=dict(constant.attributes.items()),
            loc=constant.location,
            ip=ir.InsertionPoint(constant),
        )
        replace_by(constant, converted.results[0])
    if constants:
        tell_inserted(root, "sdy.constant")
    return bool(constants)


def large_constants(function: ir.Operation) -> Iterator[ir.Operation]:
    """Yield the constants of many elements in a function that have no other attributes."""
    for constant in operations_named({"stablehlo.constant"}, function):
        many = math.prod(shape_of(constant.results[0].type)) >= _MANY
        if many and len(constant.attributes) == 1 and not is_one_value(constant):
            yield constant


def share_large_constants(function: ir.Operation) -> None:
    """Merge equal constants of many elements in a function: its text has their elements once."""
    first: dict[ir.Attribute, ir.Operation] = {}
    for constant in large_constants(function):
        kept = first.setdefault(ConstantView(constant).value, constant)
        if kept != constant:
            block = function.regions[0].blocks[0]
            if kept != block.operations[0].operation:
                kept.move_before(block.operations[0].operation)
            replace_by(constant, kept.results[0])


CONSTANTS = frozenset({"sdy.constant", "stablehlo.constant"})
"""The names of the constants of both dialects."""

_MANY = 1024
"""The number of elements from which equal constants are merged."""


def splat_of(value: ir.Value) -> ir.Attribute | None:
    """Return the element of a `stablehlo.constant` whose elements are equal, else None.

    A complex number is an array of its two parts.
    """
    if isinstance(value, ir.BlockArgument) or value.owner.operation.name != "stablehlo.constant":
        return None
    literal = ConstantView(value.owner.operation).value
    is_splat = isinstance(literal, ir.DenseElementsAttr) and literal.is_splat
    return literal.get_splat_value() if is_splat else None


def uniform_element(value: ir.Value, behind: Collection[str] = ()) -> ir.Attribute | None:
    """Return the element of a constant of either dialect whose elements are equal, else None.

    Args:
        value: the constant, or what some operations compute from it.
        behind: the names of these operations, such as broadcasts.
    """
    producer = defining_operation(value)
    while producer is not None and producer.name in behind:
        producer = defining_operation(producer.operands[0])
    if producer is None or producer.name not in CONSTANTS or not is_one_value(producer):
        return None
    return ConstantView(producer).value.get_splat_value()


def filled(tensor: ir.Type, element: ir.Attribute) -> ir.DenseElementsAttr:
    """Return the elements of a constant that is filled with an element, as in `splat_of`."""
    if not isinstance(element, ir.ArrayAttr):
        return ir.DenseElementsAttr.get_splat(tensor, element)
    # The bindings build no splat of complex numbers.
    parts = ", ".join(str(part).partition(" ")[0] for part in parts_of(element))
    return ir.DenseElementsAttr(ir.Attribute.parse(f"dense<({parts})> : {tensor}", tensor.context))


def parts_of(element: ir.Attribute) -> tuple[ir.Attribute, ...]:
    """Return the parts of a complex number in a constant, or another element itself."""
    return tuple(element) if isinstance(element, ir.ArrayAttr) else (element,)


def is_zero_element(element: ir.Attribute) -> bool:
    """Whether an element of a constant is a number that is zero, of either sign."""
    return all(
        isinstance(part, ir.FloatAttr | ir.IntegerAttr) and part.value == 0
        for part in parts_of(element)
    )


# --- Operations that define operands -------------------------------------------------------------


def is_one_value(constant: ir.Operation) -> bool:
    """Whether a constant is a splat."""
    literal = ConstantView(constant).value
    return isinstance(literal, ir.DenseElementsAttr) and literal.is_splat


def constant_integers(value: ir.Value) -> tuple[int, ...] | None:
    """Return the numbers in an integer constant; None for other values."""
    operation = defining_operation(value)
    if operation is None or not ConstantView.value.is_in(operation):
        return None
    literal = ConstantView(operation).value
    if not isinstance(literal, ir.DenseIntElementsAttr):
        return None
    numbers: Any = literal
    try:
        return tuple(numbers)
    except TypeError:  # elements such as i4
        return None


def behind_slice(value: ir.Value) -> tuple[ir.Value, bool]:
    """Return the operand of a slice, or the value itself, and whether it is a slice."""
    operation = defining_operation(value)
    if operation is not None and operation.name == "stablehlo.slice":
        return operation.operands[0], True
    return value, False


PASSING_ON = frozenset({"sdy.propagation_barrier", "sdy.reshard"})
"""Operations that change at most the sharding of a value."""


def slice_passed_on(value: ir.Value) -> ir.Operation | None:
    """Return the slice that computes a value, maybe in another sharding; None if none does."""
    producer = defining_operation(value)
    while producer is not None and producer.name in PASSING_ON:
        producer = defining_operation(producer.operands[0])
    return producer if producer is not None and producer.name == "stablehlo.slice" else None
