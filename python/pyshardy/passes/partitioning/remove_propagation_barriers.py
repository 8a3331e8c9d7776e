# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The pass `sdy-remove-propagation-barriers`: remove barriers after propagation.

A barrier and its operand may be sharded differently, but are one value to devices:

    %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8xf32>

becomes `%0`.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.plain_operations import remove_barriers
from pyshardy.pipeline import register_pass


@register_pass("sdy-remove-propagation-barriers", anchor="func.func", release="pyshardy")
def remove_propagation_barriers(function: ir.OpView) -> Changes:
    """Remove propagation barriers.

    Replaces each `sdy.propagation_barrier` by its operand. Barriers only affect propagation.
    """
    remove_barriers(function)
    return Changes()
