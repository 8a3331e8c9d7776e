# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the bodies of reductions combine values by."""

from mlir_sdy.host import ir
from pyshardy.partition.op_facts.reduction_bodies import is_idempotent


def test_idempotent(context):
    number = ir.Type.parse("i8", context)
    assert is_idempotent("stablehlo.maximum", number)
    assert is_idempotent("stablehlo.and", number)
    assert not is_idempotent("stablehlo.add", number)
    assert not is_idempotent("stablehlo.multiply", number)


def test_truth_values_are_idempotent_but_for_xor(context):
    boolean = ir.Type.parse("i1", context)
    assert is_idempotent("stablehlo.add", boolean)
    assert is_idempotent("stablehlo.multiply", boolean)
    assert not is_idempotent("stablehlo.xor", boolean)
