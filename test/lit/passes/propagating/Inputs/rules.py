# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules for the test beside this folder."""

import pyshardy as sdy


@sdy.sharding_rule("stablehlo.custom_call", target="my_product")
def product(_):
    """Of two matrices."""
    return sdy.rule("m k, k n -> m n", reduction="k")
