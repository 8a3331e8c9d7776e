# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of unsigned to signless integers.

Operations of linalg and arith determine the signedness themselves and require signless types.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.backends.jit.retype import set_element_types


def drop_signs(module: ir.Module) -> None:
    """Replace types such as `ui32` by `i32`, and drop the casts between them."""
    set_element_types(module, _signless)


def _signless(element: ir.Type) -> ir.Type | None:
    if isinstance(element, ir.IntegerType) and not element.is_signless:
        return ir.IntegerType.get_signless(element.width)
    return None
