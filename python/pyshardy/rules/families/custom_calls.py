# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom calls that belong to no other family."""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import OpShardingRule
from pyshardy.rules.builder import NEED_REPLICATION, RuleBuilder, pointwise
from pyshardy.rules.registry import CUSTOM_CALL, sharding_rule
from pyshardy.rules.signature import OperationSignature


def _is_random_state(operation: ir.Operation) -> bool:
    """Whether some `stablehlo.rng_bit_generator` uses the result."""
    return any(
        use.owner.operation.name == "stablehlo.rng_bit_generator"
        for result in operation.results
        for use in result.uses
    )


@sharding_rule(CUSTOM_CALL, target="X64Combine", reads=(), observes=_is_random_state, if_fits=True)
def x64_combine_rule(op: OperationSignature) -> OpShardingRule | None:
    """Combine 64-bit numbers from their halves; the state of a random generator is replicated.

    Example:
        stablehlo.custom_call @X64Combine(%a, %b)
            : (tensor<4x6xui32>, tensor<4x6xui32>) -> tensor<4x6xui64>
        // ([i, j], [i, j])->([i, j]) {i=4, j=6}
    """
    if not op.observed:
        return pointwise(op)
    builder = RuleBuilder(op)
    for dim, size in enumerate(op.result_shape()):
        builder.point_factor(dim, size, NEED_REPLICATION, blocked=True)
    return builder.build()
