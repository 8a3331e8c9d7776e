# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The factors whose axes must divide them, since the operation can't be padded along them.

`sdy-pad-for-divisibility` gathers dimensions that it can't pad, and all that share a factor with
them. Axes that divide the factor are cheaper: in the gradient of a convolution of two groups, on a
mesh `<["x"=8]>`, the six features of the operand and of the result have the factors `{i=2, j=3}`.
Along `x` they would be padded and gathered; along `"x":(1)2` each device has a group.
"""

from __future__ import annotations

from mlir_sdy.host import ir
from mlir_sdy.model import Mesh, OpShardingRule, dividing_axes
from pyshardy.partition.op_facts.record import record_of
from pyshardy.partition.padding.replicated import unpaddable_factors
from pyshardy.partition.types.exchange_plan import ExchangeForm
from pyshardy.partition.types.factor_axes import FactorAxes


def even_factors(
    operation: ir.Operation, rule: OpShardingRule, form: ExchangeForm | None
) -> frozenset[int]:
    """Return the factors whose shards must be even.

    There are none in reshapes, whose shardings are chosen by elements, and in operations that are
    valid on padded tensors.

    Args:
        operation: the operation.
        rule: the rule by which its compatible shardings are chosen.
        form: its form with an exchange, along whose factors shards may be uneven.
    """
    if operation.name == "stablehlo.reshape" or record_of(operation.name).keeps_padding is not None:
        return frozenset()
    even = unpaddable_factors(operation, rule)
    return even if form is None else even - form.factors


def with_even_factors(
    axes: FactorAxes, even: frozenset[int], rule: OpShardingRule, mesh: Mesh
) -> FactorAxes:
    """Return the axes of each factor; of factors in `even` only what divides them."""
    return tuple(
        dividing_axes(each, size, mesh) if factor in even else each
        for factor, (each, size) in enumerate(zip(axes, rule.factor_sizes, strict=True))
    )
