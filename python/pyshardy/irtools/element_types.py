# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of tensor elements."""

from __future__ import annotations

from mlir_sdy.host import ir


def element_bytes(value: ir.Value) -> int:
    """Return the bytes of an element of a tensor, at least one; 0 for other types.

    They are 2 for `tensor<4xbf16>`, and 8 for `tensor<4xcomplex<f32>>`.
    """
    value_type = value.type
    is_tensor = isinstance(value_type, ir.RankedTensorType)
    return bytes_of(value_type.element_type) if is_tensor else 0


def bytes_of(element: ir.Type) -> int:
    """Return the bytes of an element type, at least one."""
    if isinstance(element, ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    is_number = isinstance(element, ir.IntegerType | ir.FloatType)
    return -(-element.width // 8) if is_number else 1
