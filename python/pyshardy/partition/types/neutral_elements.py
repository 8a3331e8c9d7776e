# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neutral elements of reductions.

| reduction  | neutral element                                                              |
|------------|------------------------------------------------------------------------------|
| `add`      | 0; of floating-point numbers -0.0, since 0.0 would make 0.0 of a sum of -0.0 |
| `multiply` | 1                                                                            |
| `maximum`  | minus infinity, or the least number of the type                              |
| `minimum`  | infinity, or the greatest number of the type                                 |
| `and`      | all bits                                                                     |
| `or`, `xor`| no bits                                                                      |
"""

from __future__ import annotations

from mlir_sdy.host import ir

_LEAST_FLOATS = {
    "f64": 0xFFF0000000000000,
    "f32": 0xFF800000,
    "f16": 0xFC00,
    "bf16": 0xFF80,
    "f8E3M4": 0xF0,
    "f8E4M3": 0xF8,
    "f8E5M2": 0xFC,
    # Types without infinities.
    "f8E4M3B11FNUZ": 0xFF,
    "f8E4M3FN": 0xFE,
    "f8E4M3FNUZ": 0xFF,
    "f8E5M2FNUZ": 0xFF,
}
"""The bits of the least number of a type; the greatest one has the opposite sign."""


def neutral_elements(reduction: str, tensor: ir.RankedTensorType) -> ir.DenseElementsAttr | None:
    """Return a constant of neutral elements; None if the type has none for the reduction.

    Args:
        reduction: the operation that combines two elements, such as `stablehlo.add`.
        tensor: the type of the constant.

    Example: `neutral_elements("stablehlo.maximum", tensor<2xui8>)` is `dense<0> : tensor<2xui8>`.
    """
    literal = _literal(reduction.removeprefix("stablehlo."), tensor.element_type)
    if literal is None:
        return None
    return ir.DenseElementsAttr(ir.Attribute.parse(f"dense<{literal}> : {tensor}", tensor.context))


def neutral_element(reduction: str, element_type: ir.Type) -> ir.DenseElementsAttr | None:
    """Return a scalar constant; see `neutral_elements`."""
    nowhere = ir.Location.unknown(element_type.context)
    return neutral_elements(reduction, ir.RankedTensorType.get([], element_type, loc=nowhere))


def has_zero(value_type: ir.Type) -> bool:
    """Whether an element type, or that of a tensor, has a zero, so that partial sums add up.

    MLIR reads the zero of a type without one as its least power of two. The zero of a quantized
    type is another number than 0, if it has one, and its partial sums are clipped and rounded.
    """
    is_tensor = isinstance(value_type, ir.RankedTensorType)
    element = value_type.element_type if is_tensor else value_type
    return not (isinstance(element, ir.Float8E8M0FNUType) or str(element).startswith("!quant."))


def _literal(reduction: str, element: ir.Type) -> str | None:
    if isinstance(element, ir.IntegerType):
        return _integer(reduction, element)
    if isinstance(element, ir.FloatType):
        return _float(reduction, element)
    if isinstance(element, ir.ComplexType):
        return {"add": "(-0.0, -0.0)", "multiply": "(1.0, 0.0)"}.get(reduction)
    return None


def _integer(reduction: str, element: ir.IntegerType) -> str | None:
    width = element.width
    if width == 1:
        trues = {"add": False, "multiply": True, "maximum": False, "minimum": True}
        trues |= {"and": True, "or": False, "xor": False}
        return str(trues[reduction]).lower() if reduction in trues else None
    is_unsigned = element.is_unsigned
    least = 0 if is_unsigned else -(2 ** (width - 1))
    greatest = 2**width - 1 if is_unsigned else 2 ** (width - 1) - 1
    numbers = {"add": 0, "multiply": 1, "maximum": least, "minimum": greatest}
    numbers |= {"and": greatest if is_unsigned else -1, "or": 0, "xor": 0}
    return str(numbers[reduction]) if reduction in numbers else None


def _float(reduction: str, element: ir.FloatType) -> str | None:
    match reduction:
        case "add":
            if not has_zero(element):
                return None
            # Types of this name have no negative zero: its bits represent NaN.
            return "0.0" if str(element).endswith("FNUZ") else "-0.0"
        case "multiply":
            return "1.0"
        case "maximum" | "minimum" if (bits := _LEAST_FLOATS.get(str(element))) is not None:
            if reduction == "minimum":
                bits &= (1 << (element.width - 1)) - 1
            return f"0x{bits:0{element.width // 4}X}"
        case _:
            return None
