# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies and contents of modules."""

from __future__ import annotations

from mlir_sdy.discardable import remove_discardable, set_discardable
from mlir_sdy.host import ir


def copy_of(module: ir.Module) -> ir.Module:
    """Copy `module` with its attributes and locations."""
    copy = ir.Module.create(module.operation.location)
    for name, attribute in module.operation.attributes.items():
        set_discardable(copy.operation, name, attribute)
    for operation in module.body.operations:
        copy.body.append(operation.operation.clone(ip=False))
    return copy


def move_contents(source: ir.Operation, target: ir.Operation) -> None:
    """Replace the attributes and the body of a module by those of another one.

    Args:
        source: the operation of the module whose body is moved; it is empty afterwards.
        target: the operation of the module whose body is replaced.
    """
    for name in list(target.attributes):
        remove_discardable(target, name)
    for name, attribute in source.attributes.items():
        set_discardable(target, name, attribute)
    body = target.regions[0].blocks[0]
    for operation in list(body.operations):
        operation.erase()
    for operation in list(source.regions[0].blocks[0].operations):
        body.append(operation)
