# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A pass and a sharding rule of your own: what the tests in this folder test."""

import pyshardy as sdy
from mlir_sdy.diagnostics import PassError, error
from mlir_sdy.host import ir, location_of
from pyshardy.irtools.constants import defining_operation
from pyshardy.irtools.walks import operations_named


@sdy.register_pass("drop-double-negations", anchor="func.func")
def drop_double_negations(function: ir.Operation, *, strict: bool = False) -> None:
    """Replace the negation of a negated value by the value.

    Options:
        strict: fail at a negation that is left.
    """
    for negation in list(operations_named({"stablehlo.negate"}, function)):
        inner = defining_operation(negation.operands[0])
        if inner is not None and inner.name == "stablehlo.negate":
            negation.results[0].replace_all_uses_with(inner.operands[0])
            negation.erase()
        elif strict:
            message = "'stablehlo.negate' op is left: write a difference"
            raise PassError(error(message, location_of(negation.location)))


@sdy.sharding_rule("stablehlo.custom_call", target="my_product")
def product_rule(_):
    """Return the rule of a matrix product."""
    return sdy.rule("m k, k n -> m n", reduction="k")
