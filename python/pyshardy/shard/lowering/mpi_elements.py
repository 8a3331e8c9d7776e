# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversion of element types that MPI lacks.

| elements           | to move           | to reduce                                   |
|--------------------|-------------------|---------------------------------------------|
| f32, f64, i8 - i64 | unchanged         | unchanged                                   |
| ui8 - ui64         | the same bits     | the same bits; an error for max and min     |
| f16, bf16          | the same bits     | f32, rounded afterwards                     |
| i1                 | i8                | i8                                          |
| others             | an error          | an error                                    |
"""

from __future__ import annotations

from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from mlir_sdy.shard.values import ReductionKind
from pyshardy.irtools.tensor_types import element_type_of
from pyshardy.shard.lowering.builder import GridBuilder

_KNOWN = frozenset({"f32", "f64", "i8", "i16", "i32", "i64"})
_SHORT_FLOATS = frozenset({"f16", "bf16"})


def moved_type(element_type: ir.Type) -> ir.Type:
    """Return the element type for communication.

    Raises:
        PassError: there is none.
    """
    if str(element_type) in _KNOWN:
        return element_type
    if str(element_type) in _SHORT_FLOATS:
        return ir.IntegerType.get_signless(16)
    if isinstance(element_type, ir.IntegerType) and element_type.width in {1, 8, 16, 32, 64}:
        return ir.IntegerType.get_signless(max(element_type.width, 8))
    raise _refusal(f"MPI has no elements of type {element_type}")


def reduced_type(element_type: ir.Type, kind: ReductionKind) -> ir.Type:
    """Return the element type for reductions.

    Raises:
        PassError: there is none.
    """
    if str(element_type) in _SHORT_FLOATS:
        return ir.F32Type.get()
    is_ordering = kind in {ReductionKind.MAX, ReductionKind.MIN}
    if is_ordering and isinstance(element_type, ir.IntegerType) and element_type.is_unsigned:
        raise _refusal(f"MPI would compare elements of type {element_type} as signed numbers")
    return moved_type(element_type)


def in_elements(value: ir.Value, element_type: ir.Type, builder: GridBuilder) -> ir.Value:
    """Convert a tensor to another element type: by a bitcast for equal widths, else by value."""
    held = element_type_of(value.type)
    if held == element_type or _bits(held) != _bits(element_type):
        return builder.convert(value, element_type)
    return builder.bitcast_convert(value, element_type)


def _bits(element_type: ir.Type) -> int:
    return int(str(element_type).lstrip("bfui"))


def _refusal(reason: str) -> PassError:
    place = location_of(ir.Location.current)
    return PassError(error(f"cannot run on MPI: {reason}", place))
