# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element-wise operations.

The aggressive strategy and the operation priorities treat these specially. Other operations may
have a pointwise rule without being element-wise: a collective, a reverse, a custom call.
"""

from __future__ import annotations

from pyshardy.rules.families.pointwise import POINTWISE_BEYOND_SHARDY, POINTWISE_OPERATIONS
from pyshardy.rules.families.reshape import BROADCASTING_OPERATIONS

_COLLECTIVES = (
    "stablehlo.all_reduce",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.collective_reduce",
    "stablehlo.cross-replica-sum",
)
_UNKNOWN_TO_SHARDY = (
    "chlo._asin_acos_kernel",
    "chlo.mulhi",
    "chlo.next_after",
    "chlo.polygamma",
    "chlo.zeta",
    "stablehlo.map",
)
_WITH_OTHER_RULES = (
    "sdy.propagation_barrier",
    "sdy.reshard",
    "stablehlo.clamp",
    "stablehlo.select",
    "stablehlo.uniform_dequantize",
    "stablehlo.uniform_quantize",
)

ELEMENTWISE_OPERATIONS = (
    frozenset((*POINTWISE_OPERATIONS, *POINTWISE_BEYOND_SHARDY, *BROADCASTING_OPERATIONS))
    .difference(_COLLECTIVES, _UNKNOWN_TO_SHARDY)
    .union(_WITH_OTHER_RULES)
)
"""Names of the element-wise operations: those that C++ Shardy calls so."""

ELEMENTWISE_IF_SHAPES_EQUAL = "stablehlo.bitcast_convert"
"""The operation that is element-wise if its operand and its result have the same shape."""
