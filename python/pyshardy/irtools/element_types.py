# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How large the elements of tensors are."""

from __future__ import annotations

from mlir_sdy.host import ir


def element_bytes(value: ir.Value) -> int:
    """The bytes of an element of a tensor, at least one; none of what isn't a tensor.

    Those of `tensor<4xbf16>` have two, those of `tensor<4xcomplex<f32>>` eight.
    """
    value_type = value.type
    is_tensor = isinstance(value_type, ir.RankedTensorType)
    return bytes_of(value_type.element_type) if is_tensor else 0


def bytes_of(element: ir.Type) -> int:
    """The bytes of an element type, at least one."""
    if isinstance(element, ir.ComplexType):
        return 2 * bytes_of(element.element_type)
    is_number = isinstance(element, ir.IntegerType | ir.FloatType)
    return -(-element.width // 8) if is_number else 1
