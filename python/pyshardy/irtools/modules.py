# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies of modules."""

from __future__ import annotations

from mlir_sdy.discardable import set_discardable
from mlir_sdy.host import ir


def copy_of(module: ir.Module) -> ir.Module:
    """Copy `module` with its attributes and locations."""
    copy = ir.Module.create(module.operation.location)
    for name, attribute in module.operation.attributes.items():
        set_discardable(copy.operation, name, attribute)
    for operation in module.body.operations:
        copy.body.append(operation.operation.clone(ip=False))
    return copy
