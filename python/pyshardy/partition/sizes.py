# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How large the elements of tensors are."""

from __future__ import annotations

from mlir_sdy.host import ir


def element_bytes(value: ir.Value) -> int:
    """The bytes of an element of a tensor, at least one; none of what isn't a tensor.

    Those of `tensor<4xbf16>` have two, those of `tensor<4xcomplex<f32>>` eight.
    """
    value_type = value.type
    if not isinstance(value_type, ir.RankedTensorType):
        return 0
    element = value_type.element_type
    parts = 1
    if isinstance(element, ir.ComplexType):
        element, parts = element.element_type, 2
    is_number = isinstance(element, ir.IntegerType | ir.FloatType)
    return parts * max(1, element.width // 8) if is_number else 1
