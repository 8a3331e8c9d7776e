# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls, and the functions that they call."""

from mlir_sdy.assembly import parse
from pyshardy.irtools.functions import functions_of, replace_by_body
from pyshardy.irtools.walks import operations_named

TEXT = """
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1:2 = func.call @f(%0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %2 = stablehlo.add %1#0, %1#1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0, %a : tensor<4xf32>, tensor<4xf32>
}
"""


def test_a_copy_that_was_inlined_uses_no_values_of_the_program(context):
    """It is freed when Python drops it, and the values may have been erased until then."""
    module = parse(TEXT, context)
    (call,) = operations_named({"func.call"}, module)
    _, callee = functions_of(module)
    copy = callee.clone(ip=False).operation
    replace_by_body(call, copy.regions[0].blocks[0])
    (negated,) = operations_named({"stablehlo.negate"}, module)
    (tanh,) = list(functions_of(module)[0].regions[0].blocks[0].operations)[1:2]
    users = [[use.owner.operation.name for use in each.result.uses] for each in (negated, tanh)]
    assert users == [["stablehlo.add", "stablehlo.tanh"], ["stablehlo.add"]]
    assert len(copy.regions[0].blocks[0].operations) == 0
