# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operations that define values, the uses of values, and their replacement."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TypeVar

from mlir_sdy.host import ir
from mlir_sdy.traversal import operations_in

_Class = TypeVar("_Class", bound=ir.OpView)


def defining_operation(value: ir.Value) -> ir.Operation | None:
    """Return the operation that a value is a result of; None for arguments of blocks."""
    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def producer(value: ir.Value, name: str) -> ir.Operation | None:
    """Return the operation that defines `value` if its name is `name`, or None."""
    operation = defining_operation(value)
    return operation if operation is not None and operation.name == name else None


def producer_of_class(value: ir.Value, op_class: type[_Class]) -> _Class | None:
    """Return the operation that defines `value` as an object of its class; None for another one."""
    owner = value.owner
    return owner if isinstance(owner, op_class) else None


def is_used(value: ir.Value) -> bool:
    """Whether `value` has uses."""
    return next(iter(value.uses), None) is not None


def has_one_use(value: ir.Value) -> bool:
    """Whether `value` has exactly one use."""
    return len(tuple(islice(value.uses, 2))) == 1


def operands_inside(operation: ir.Operation) -> Iterator[ir.Value]:
    """Yield the operands of an operation, and of those in its regions."""
    for inner in operations_in(operation):
        yield from inner.operation.operands


def values_used(operation: ir.Operation) -> dict[ir.Value, None]:
    """Return the operands of an operation, and the outer values that its regions use, in order."""
    used: dict[ir.Value, None] = dict.fromkeys(operation.operands)
    if not len(operation.regions):
        return used
    inside: set[ir.Value] = set()
    for view in operations_in(operation):
        used |= dict.fromkeys(each for each in view.operation.operands if each not in inside)
        inside.update(view.operation.results)
        for region in view.operation.regions:
            for block in region.blocks:
                inside.update(block.arguments)
    return used


def place_behind(value: ir.Value) -> ir.InsertionPoint:
    """Return the first insertion point at which a value can be used."""
    if isinstance(value, ir.BlockArgument):
        return ir.InsertionPoint.at_block_begin(value.owner)
    return ir.InsertionPoint.after(value.owner.operation)


def replace_by(operation: ir.Operation | ir.OpView, *values: ir.Value) -> None:
    """Replace the results of an operation by as many values, and erase the operation."""
    for result, value in zip(operation.results, values, strict=True):
        result.replace_all_uses_with(value)
    operation.erase()
