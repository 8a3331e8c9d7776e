# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unsigned integers as plain ones.

The operations of linalg and arith say themselves whether they take numbers as signed; the types
must not.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.jit.retype import set_element_types


def drop_signs(module: ir.Module) -> None:
    """Make `i32` of `ui32`, in all types of values, and drop casts between."""
    set_element_types(module, _signless)


def _signless(element: ir.Type) -> ir.Type | None:
    if isinstance(element, ir.IntegerType) and not element.is_signless:
        return ir.IntegerType.get_signless(element.width)
    return None
