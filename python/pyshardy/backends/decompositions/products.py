# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Dot products of narrow floating-point numbers, accumulated in f32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir_sdy.host import ir
from pyshardy.backends.decompositions.registry import decomposition
from pyshardy.backends.decompositions.tensors import Tensor, create


@decomposition("dot_general")
def decompose_dot(operation: ir.Operation) -> list[Tensor] | None:
    """Compute a narrow product in f32 and round it at the end; wider products are unchanged."""
    operands = [Tensor(operand) for operand in operation.operands]
    result = Tensor(operation.result)
    if not (is_narrow(result) or any(map(is_narrow, operands))):
        return None
    attributes = dict(operation.attributes.items())
    return [added_up_wide("dot_general", operands, result.type, attributes)]


def is_narrow(tensor: Tensor) -> bool:
    """Whether the elements are floating-point numbers of fewer than 32 bits."""
    return isinstance(tensor.element, ir.FloatType) and tensor.element.width < 32


def added_up_wide(
    name: str,
    operands: Sequence[Tensor],
    result: ir.RankedTensorType,
    attributes: Mapping[str, ir.Attribute],
) -> Tensor:
    """Build an operation that accumulates products, in f32 if its operands are narrower."""
    wide = ir.F32Type.get()
    widened = [each.to(wide) if is_narrow(each) else each for each in operands]
    element = result.element_type
    is_wide = isinstance(element, ir.FloatType) and element.width >= 32
    summed = ir.RankedTensorType.get(result.shape, element if is_wide else widened[0].element)
    return create(name, widened, summed, attributes).to(element)
