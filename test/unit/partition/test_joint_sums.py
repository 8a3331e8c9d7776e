# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The addends of sums of products."""

import pytest

import pyshardy as sdy
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.op_facts.joint_sums import added_to, is_added

TEXT = """
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %x = stablehlo.tanh %a : tensor<4x4xf32>
  %y = stablehlo.sine %a : tensor<4x4xf32>
  %z = stablehlo.cosine %a : tensor<4x4xf32>
  SUM
  %last = stablehlo.exponential %sum : tensor<4x4xf32>
  return %last : tensor<4x4xf32>
}
"""
PRODUCTS = ("stablehlo.tanh", "stablehlo.sine", "stablehlo.cosine")


def others(lines):
    named = [f"%{line}" if "->" in line else f"%{line} : tensor<4x4xf32>" for line in lines]
    module = sdy.parse(TEXT.replace("SUM", "\n".join(named)), sdy.Context())
    (made,) = operations_named({"stablehlo.tanh"}, module)
    found = added_to(made.results[0], lambda each: each.name in PRODUCTS)
    assert is_added(made.results[0]) == any("%x" in line or "%1" in line for line in lines)
    return [each.name.removeprefix("stablehlo.") for each in found]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["0 = stablehlo.add %x, %y", "sum = stablehlo.subtract %z, %0"], ["sine", "cosine"]),
        (["0 = stablehlo.add %y, %z", "sum = stablehlo.add %0, %x"], ["sine", "cosine"]),
        (["0 = stablehlo.add %y, %x", "sum = stablehlo.add %0, %a"], ["sine"]),
        (["0 = stablehlo.add %y, %a", "sum = stablehlo.add %0, %x"], []),
        (["0 = stablehlo.abs %y", "sum = stablehlo.add %x, %0"], []),
        (["0 = stablehlo.add %y, %y", "sum = stablehlo.add %x, %0"], []),
        (
            [
                "1 = stablehlo.negate %x",
                "2 = stablehlo.transpose %y, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>",
                "sum = stablehlo.add %1, %2",
            ],
            ["sine"],
        ),
    ],
)
def test_addends(lines, expected):
    assert others(lines) == expected
