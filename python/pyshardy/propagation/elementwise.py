# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The element-wise operations.

The aggressive strategy and the operation priorities treat these specially. Other operations may
have a pointwise rule without being element-wise: a collective, a reverse, a custom call.
"""

from __future__ import annotations

ELEMENTWISE_OPERATIONS = frozenset(
    {
        "sdy.propagation_barrier",
        "sdy.reshard",
        "sdy.sharding_constraint",
        *(
            f"stablehlo.{name}"
            for name in """
                abs add and atan2 cbrt ceil clamp compare complex convert cosine
                count_leading_zeros divide exponential exponential_minus_one floor imag is_finite
                log log_plus_one logistic maximum minimum multiply negate not or popcnt power real
                reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select
                shift_left shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan
                tanh uniform_dequantize uniform_quantize xor
            """.split()  # noqa: SIM905 (a list would be taller than the screen)
        ),
        # C++ Shardy calls these element-wise, too, but has no rules by which they would propagate.
        *(
            f"chlo.{name}"
            for name in """
                acos acosh asin asinh atan atanh bessel_i1e broadcast_add broadcast_and
                broadcast_atan2 broadcast_compare broadcast_complex broadcast_divide
                broadcast_maximum broadcast_minimum broadcast_multiply broadcast_next_after
                broadcast_or broadcast_polygamma broadcast_power broadcast_remainder
                broadcast_select broadcast_shift_left broadcast_shift_right_arithmetic
                broadcast_shift_right_logical broadcast_subtract broadcast_xor broadcast_zeta conj
                constant_like cosh digamma erf erf_inv erfc is_inf is_neg_inf is_pos_inf lgamma
                sinh square tan
            """.split()  # noqa: SIM905
        ),
    }
)
"""Names of the element-wise operations."""

ELEMENTWISE_IF_SHAPES_EQUAL = "stablehlo.bitcast_convert"
"""The operation that is element-wise if its operand and its result have the same shape."""
