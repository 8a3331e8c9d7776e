# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types and values of tuples and their parts: the elements of nested tuples that are no tuples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlir_sdy.host import ir

TUPLE, ELEMENT = "stablehlo.tuple", "stablehlo.get_tuple_element"

Path = tuple[int, ...]
"""Position of a part: the index in the outermost tuple, in the next one, and so on."""


def paths_of(value_type: ir.Type) -> list[Path]:
    """Return the paths of the parts of a type; one empty path if it is not a tuple.

    Example: the paths of `tuple<i1, tuple<i2, i4>>` are (0,), (1, 0) and (1, 1).
    """
    if not isinstance(value_type, ir.TupleType):
        return [()]
    return [
        (index, *path)
        for index in range(value_type.num_types)
        for path in paths_of(value_type.get_type(index))
    ]


def part_types(value_types: Sequence[ir.Type]) -> list[ir.Type]:
    """Return the types of the parts of values of some types, in order."""
    types: list[ir.Type] = []
    for value_type in value_types:
        if isinstance(value_type, ir.TupleType):
            elements = [value_type.get_type(index) for index in range(value_type.num_types)]
            types += part_types(elements)
        else:
            types.append(value_type)
    return types


def holds_tuples(value_types: Sequence[ir.Type]) -> bool:
    """Whether any of some types is a tuple."""
    return any(isinstance(value_type, ir.TupleType) for value_type in value_types)


def parts_of(values: Sequence[ir.Value]) -> list[ir.Value]:
    """Return the parts of some values, in order, extracted at the current insertion point."""
    parts: list[ir.Value] = []
    for value in values:
        if isinstance(value.type, ir.TupleType):
            elements = [_element(value, index) for index in range(value.type.num_types)]
            parts += parts_of(elements)
        else:
            parts.append(value)
    return parts


def put_together(value_type: ir.Type, parts: Iterator[ir.Value]) -> ir.Value:
    """Build a value of a type from the next parts, at the current insertion point."""
    if not isinstance(value_type, ir.TupleType):
        return next(parts)
    types = [value_type.get_type(index) for index in range(value_type.num_types)]
    elements = [put_together(each, parts) for each in types]
    return ir.Operation.create(TUPLE, results=[value_type], operands=elements).results[0]


def _element(value: ir.Value, index: int) -> ir.Value:
    where = {"index": ir.IntegerAttr.get(ir.IntegerType.get_signless(32), index)}
    element_type = ir.TupleType(value.type).get_type(index)
    element = ir.Operation.create(
        ELEMENT, results=[element_type], operands=[value], attributes=where
    )
    return element.results[0]
