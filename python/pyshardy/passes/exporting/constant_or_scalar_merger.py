# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`sdy-constant-or-scalar-merger`: merge equal constants, and equal broadcasts of scalars.

1. Two constants are equal if they have the same attributes, including value and sharding, and
   the same type. The name of the operation doesn't matter.
2. Two `stablehlo.broadcast_in_dim` are equal if they have the same scalar operand, the same
   attributes and the same type.
3. Only operations of one region are merged, since propagation shards each region by itself. The
   first must dominate the second, so it is in the same block or in the first one.

With constants `3.0` sharded by `"x"`, by `"y"` and by `"x"`, the third becomes the first.
"""

from __future__ import annotations

from collections.abc import Hashable

from mlir_sdy.host import ir
from mlir_sdy.uses import replace_by
from mlir_sdy.values import rank_of
from pyshardy.irtools.analyses import Changes
from pyshardy.irtools.walks import operations_named
from pyshardy.pipeline import register_pass

_BROADCAST = "stablehlo.broadcast_in_dim"
_CONSTANTS = frozenset(
    {"sdy.constant", "stablehlo.constant", "chlo.constant", "arith.constant", "complex.constant"}
)
_CANDIDATES = _CONSTANTS | {_BROADCAST}


@register_pass("sdy-constant-or-scalar-merger", anchor="func.func", release="0.10.2")
def constant_or_scalar_merger(function: ir.Operation | ir.OpView) -> Changes:
    """Merge equal constants and equal broadcasts of scalars.

    Reverts `sdy-constant-or-scalar-splitter` where propagation has given the copies the same
    sharding. Two operations of one region are merged if they have the same attributes, including
    the sharding, the same type, and

    - are constants, or
    - are `stablehlo.broadcast_in_dim` of the same scalar.

    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<8xf32>
    %1 = sdy.constant dense<2.0> : tensor<8xf32>
    %2 = stablehlo.add %0, %1 : tensor<8xf32>
    ```

    becomes

    ```mlir
    %0 = sdy.constant dense<2.0> : tensor<8xf32>
    %1 = stablehlo.add %0, %0 : tensor<8xf32>
    ```
    """
    kept: dict[Hashable, ir.Value] = {}
    for operation in operations_named(_CANDIDATES, function, ir.WalkOrder.POST_ORDER):
        identity = _identity(operation)
        if identity is None:
            continue
        block = operation.block
        first = kept.get((block, identity)) or kept.get((block.region.blocks[0], identity))
        if first is None:
            kept[block, identity] = operation.results[0]
        else:
            replace_by(operation, first)
    return Changes()


def _identity(operation: ir.Operation) -> Hashable:
    """Return a key that equal operations share; None for operations that are never merged."""
    own = (operation.results[0].type, *operation.attributes.items())
    if operation.name != _BROADCAST:
        return own
    scalar = operation.operands[0]
    return (scalar, *own) if rank_of(scalar.type) == 0 else None
