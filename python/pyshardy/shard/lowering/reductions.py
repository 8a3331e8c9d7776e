# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of reductions in StableHLO."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.shard.reading import reduction_kind
from mlir_sdy.shard.values import ReductionKind
from pyshardy.shard.errors import cannot_lower

_OPERATIONS = {
    ReductionKind.SUM: "stablehlo.add",
    ReductionKind.AVERAGE: "stablehlo.add",  # and a division afterwards
    ReductionKind.PRODUCT: "stablehlo.multiply",
    ReductionKind.MAX: "stablehlo.maximum",
    ReductionKind.MIN: "stablehlo.minimum",
    ReductionKind.BITWISE_AND: "stablehlo.and",
    ReductionKind.BITWISE_OR: "stablehlo.or",
    ReductionKind.BITWISE_XOR: "stablehlo.xor",
}
KINDS = {name: kind for kind, name in _OPERATIONS.items() if kind is not ReductionKind.AVERAGE}
"""The reduction kind of each StableHLO operation."""

_BITWISE = frozenset(
    {ReductionKind.BITWISE_AND, ReductionKind.BITWISE_OR, ReductionKind.BITWISE_XOR}
)


def reducing_operation(operation: ir.Operation, element_type: ir.Type) -> str:
    """Return the StableHLO operation that combines two elements.

    1. `generic` has no defined operation.
    2. Bitwise kinds require integers, and an average requires floating-point or complex numbers.
    3. For booleans, StableHLO's sum and maximum are `or`, whereas MLIR's arithmetic is modulo 2
       with -1 as true. Only bitwise kinds agree.
    4. Complex numbers have no order.

    Raises:
        PassError: there is none.
    """
    kind = reduction_kind(operation)
    is_integer = isinstance(element_type, ir.IntegerType)
    if kind is ReductionKind.GENERIC:
        reason = "a 'generic' reduction does not define how it combines elements"
        raise cannot_lower(operation, reason)
    if kind in _BITWISE and not is_integer:
        raise cannot_lower(operation, f"'{kind.keyword}' needs integers, not {element_type}")
    if (
        isinstance(element_type, ir.IntegerType)
        and element_type.width == 1
        and kind not in _BITWISE
    ):
        hint = "use 'bitwise_and', 'bitwise_or' or 'bitwise_xor'"
        reason = f"'{kind.keyword}' of booleans differs between MLIR and StableHLO; {hint}"
        raise cannot_lower(operation, reason)
    if kind is ReductionKind.AVERAGE and is_integer:
        reason = f"an average of {element_type} would be rounded; convert it to floating point"
        raise cannot_lower(operation, reason)
    has_no_order = isinstance(element_type, ir.ComplexType)
    if kind in {ReductionKind.MAX, ReductionKind.MIN} and has_no_order:
        raise cannot_lower(
            operation, f"'{kind.keyword}' requires ordered elements, not {element_type}"
        )
    return _OPERATIONS[kind]
