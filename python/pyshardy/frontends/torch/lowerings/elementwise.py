# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elementwise operations that the importer lacks or fails on."""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.frontends.torch.lowerings.builder import LoweringBuilder, is_unsigned, lowering
from pyshardy.irtools.tensor_types import element_bytes, element_type_of, shape_of


@lowering("aten.signbit")
def signbit(build: LoweringBuilder, value: ir.Value) -> ir.Value:
    """Whether numbers are negative, or the negative zero."""
    if is_unsigned(value):
        return build.filled(build.result_types[0], 0)
    if isinstance(element_type_of(value.type), ir.IntegerType):
        return build.compare("LT", value, build.filled_like(value, 0))
    width = 8 * element_bytes(value.type)
    bits = build.bitcast_convert(value, ir.IntegerType.get_signless(width))
    return build.compare("LT", bits, build.filled_like(bits, 0))


def _register_binary(operation: str, name: str) -> None:
    """Register a lowering for an operation of two tensors or numbers of the type of its result."""

    @lowering(operation)
    def binary(  # pyright: ignore[reportUnusedFunction]
        build: LoweringBuilder, lhs: ir.Value | complex, rhs: ir.Value | complex
    ) -> ir.Value:
        result = build.result_types[0]
        operands = [
            build.convert(build.expanded(each, shape_of(result)), element_type_of(result))
            if isinstance(each, ir.Value)
            else build.filled(result, each)
            for each in (lhs, rhs)
        ]
        return build.binary(name, *operands)


_BINARY = {
    "aten.maximum": "maximum",
    "aten.minimum": "minimum",
    "aten.__lshift__": "shift_left",
    "aten.bitwise_left_shift": "shift_left",
    "aten.atan2": "atan2",
    "aten.fmod": "remainder",
}
for _operation, _name in _BINARY.items():
    _register_binary(_operation, _name)


@lowering("aten.bitwise_right_shift", "aten.__rshift__")
def right_shift(build: LoweringBuilder, lhs: ir.Value | int, rhs: ir.Value | int) -> ir.Value:
    """Shift bits to the right; the sign of signed numbers stays."""
    result = build.result_types[0]
    lhs, rhs = (
        build.expanded(each, shape_of(result))
        if isinstance(each, ir.Value)
        else build.filled(result, each)
        for each in (lhs, rhs)
    )
    kind = "logical" if is_unsigned(result) else "arithmetic"
    return build.binary(f"shift_right_{kind}", lhs, rhs)
