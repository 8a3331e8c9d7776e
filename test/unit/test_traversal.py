# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Going through operations, with and without their names."""

import pytest

from mlir_sdy.assembly import parse
from mlir_sdy.dialect import Context
from mlir_sdy.traversal import named_operations_in, operations_in

TEXT = """
func.func @main(%a: tensor<4xf32>, %n: tensor<i32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.case"(%n) ({
    %1 = stablehlo.negate %a : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0]
      : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}"""

EVERYTHING = [
    "builtin.module",
    "func.func",
    "stablehlo.constant",
    "stablehlo.case",
    "stablehlo.negate",
    "stablehlo.return",
    "stablehlo.return",
    "stablehlo.reduce",
    "stablehlo.add",
    "stablehlo.return",
    "func.return",
]


@pytest.fixture
def module():
    return parse(TEXT, Context())


@pytest.mark.parametrize("inner_first", [False, True])
@pytest.mark.parametrize("leaving_out", [(), {"stablehlo.reduce"}, {"stablehlo.case", "func.func"}])
def test_both_go_through_the_same(module, inner_first, leaving_out):
    options = {"inner_first": inner_first, "leaving_out": leaving_out}
    plain = [view.operation for view in operations_in(module.operation, **options)]
    named = list(named_operations_in(module, **options))
    assert [operation for operation, _ in named] == plain
    assert [name for _, name in named] == [operation.name for operation in plain]
    if not leaving_out:
        names = [name for _, name in named]
        assert names == EVERYTHING if not inner_first else sorted(names) == sorted(EVERYTHING)


def test_inner_operations_come_first(module):
    names = [name for _, name in named_operations_in(module, inner_first=True)]
    assert names[-2:] == ["func.func", "builtin.module"]
    assert names.index("stablehlo.negate") < names.index("stablehlo.case")
