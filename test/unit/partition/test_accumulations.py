# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The number of addends that loops add to a sum."""

import pytest

import pyshardy as sdy
from pyshardy.irtools.walks import operations_named
from pyshardy.partition.partial.linear_operations import accumulation, trips_of_accumulation

TEXT = """
func.func @main(%a: tensor<4x4xf32>, %n: tensor<i32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %s = %a, %last = %a)
      : tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32> cond {
    %c = stablehlo.compare LT, %i, OUTER : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %zero, %t = %s) : tensor<i32>, tensor<4x4xf32> cond {
      %c = stablehlo.compare LT, %j, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %g = stablehlo.tanh %a : tensor<4x4xf32>
      %2 = stablehlo.transpose %g, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = stablehlo.negate %2 : tensor<4x4xf32>
      %4 = ADDITION : tensor<4x4xf32>
      %k = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %k, %4 : tensor<i32>, tensor<4x4xf32>
    }
    %5 = stablehlo.add %i, %one : tensor<i32>
    %6 = LAST : tensor<4x4xf32>
    stablehlo.return %5, %6, %1#1 : tensor<i32>, tensor<4x4xf32>, tensor<4x4xf32>
  }
  return %0#1, %0#2 : tensor<4x4xf32>, tensor<4x4xf32>
}
"""


def parts(outer="%three", addition="stablehlo.add %t, %3", last="stablehlo.negate %1#1"):
    text = TEXT.replace("OUTER", outer).replace("ADDITION", addition).replace("LAST", last)
    module = sdy.parse(text, sdy.Context())
    loops = operations_named({"stablehlo.while"}, module)
    (made,) = operations_named({"stablehlo.tanh"}, module)
    return module, loops, made.results[0]


@pytest.mark.parametrize(
    ("addition", "trips"),
    [
        ("stablehlo.add %t, %3", 4),
        ("stablehlo.add %3, %t", 4),
        ("stablehlo.subtract %t, %3", 4),
        ("stablehlo.subtract %3, %t", 1),
        ("stablehlo.multiply %t, %3", 1),
        ("stablehlo.add %3, %3", 1),
        ("stablehlo.add %t, %a", 1),
    ],
)
def test_one_loop(addition, trips):
    _module, loops, made = parts(addition=addition)
    assert trips_of_accumulation(made) == trips
    adds_something = addition.startswith(("stablehlo.add %t", "stablehlo.subtract %t"))
    found = accumulation(loops[1], 1)
    assert (found is not None) == (adds_something or addition == "stablehlo.add %3, %t")


@pytest.mark.parametrize(("outer", "trips"), [("%three", 12), ("%n", 8)])
def test_nested_loops(outer, trips):
    text = TEXT.replace("OUTER", outer).replace("ADDITION", "stablehlo.add %t, %3")
    text = text.replace("%t = %s", "%t = %b")
    text = text.replace("LAST", "stablehlo.add %s, %1#1").replace(
        "stablehlo.return %5, %6, %1#1", "stablehlo.return %5, %6, %last"
    )
    text = text.replace("  %0:3", "  %b = stablehlo.constant dense<0.0> : tensor<4x4xf32>\n  %0:3")
    module = sdy.parse(text, sdy.Context())
    (made,) = operations_named({"stablehlo.tanh"}, module)
    assert trips_of_accumulation(made.results[0]) == trips
